"""The `.survey` file: comes back the same, and a stranger's can do no more than be refused."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import elsewhere as ew
from elsewhere.survey.file import load_survey, save_survey, survey_hash
from elsewhere.survey.survey import Survey
from made_surveys import six_places, survey_of

SIX: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("presence", "0.2", {"grid": 3}),
    ("presence", "0.1", {"boxes": 12}),
    ("presence", "0.1", {"h3": 7, "hours": 6, "until_next": True}),
    ("kinds", "0.1", {"hours": 2}),
    ("moves", "0.1", {"grid": 2}),
    ("visits", "0.1", {}),
    ("trips", "0.1", {"edges_km": [1, 2.5]}),
    ("places", "0.1", {}),
    ("day", "0.1", {"candidates": 16, "shards": 2, "k": 3}),
)
HEAVY = ("scipy", "polars", "shapely", "h3", "opening_hours", "pydantic")


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Survey:
    return survey_of(six_places(tmp_path_factory.mktemp("world")), *SIX, purpose="Where is the city?", days=3)


def test_a_survey_comes_back_the_same(tmp_path: Path, survey: Survey) -> None:
    save_survey(survey, tmp_path / "a.survey")
    again = load_survey(tmp_path / "a.survey")
    assert survey_hash(again) == survey_hash(survey)
    assert again.terms == survey.terms
    assert again.world == survey.world
    assert again.names == survey.names == (
        "presence-1", "presence-2", "presence-3", "kinds", "moves", "visits", "trips", "places", "day",
    )  # fmt: skip
    for one, other in zip(survey.questions, again.questions, strict=True):
        assert one.record == other.record
        assert one.channel.odds == other.channel.odds
        assert one.things.columns() == other.things.columns()
        assert list(one.things.columns()) == list(other.things.columns())
    save_survey(again, tmp_path / "b.survey")
    assert (tmp_path / "a.survey").read_bytes() == (tmp_path / "b.survey").read_bytes()


def test_every_word_of_a_survey_is_in_its_hash(survey: Survey) -> None:
    others = [
        survey_of(survey.world, *SIX, purpose="Where is the city", days=3),
        survey_of(survey.world, *SIX, purpose="Where is the city?", days=2),
        survey_of(survey.world, *SIX, purpose="Where is the city?", days=3, least=99),
        survey_of(survey.world, *SIX, purpose="Where is the city?", days=3, epsilon="4"),
        survey_of(
            survey.world, ("presence", "0.2", {"grid": 2}), *SIX[1:], purpose="Where is the city?", days=3
        ),
    ]
    assert len({survey_hash(one) for one in [survey, *others]}) == 6


def test_damaged_and_foreign_files_are_refused(tmp_path: Path, survey: Survey) -> None:
    save_survey(survey, tmp_path / "a.survey")
    raw = (tmp_path / "a.survey").read_bytes()
    line, body = raw.split(b"\n", 1)
    old = json.dumps({**json.loads(line), "version": 7}).encode()
    for bad, words in (
        (raw[:-10], "truncated"),
        (b"PK" + raw, "not a .survey file"),
        (old + b"\n" + body, "survey format 7"),
        (b"", "not a .survey file"),
    ):
        (tmp_path / "bad.survey").write_bytes(bad)
        with pytest.raises(ew.InputError, match=words):
            load_survey(tmp_path / "bad.survey")
    survey.world.save(tmp_path / "w.world")
    with pytest.raises(ew.InputError, match=r"not a \.survey file"):
        load_survey(tmp_path / "w.world")
    with pytest.raises(ew.InputError, match="cannot be read"):
        load_survey(tmp_path / "none.survey")


def _rewritten(raw: bytes, name: str, data: bytes) -> bytes:
    """The same file with one entry changed and checksums that fit."""
    import hashlib  # noqa: PLC0415 - of this attack alone

    line, body = raw.split(b"\n", 1)
    buffer = BytesIO()
    with zipfile.ZipFile(BytesIO(body)) as old, zipfile.ZipFile(buffer, "w") as new:
        for entry in old.namelist():
            new.writestr(entry, data if entry == name else old.read(entry))
    head = {**json.loads(line), "sha256": hashlib.sha256(buffer.getvalue()).hexdigest()}
    return json.dumps(head).encode() + b"\n" + buffer.getvalue()


@pytest.mark.parametrize(
    "change", ["points nowhere", "fewer places", "other types", "other epsilon", "k of 0"]
)
def test_a_strangers_file_can_only_be_refused(tmp_path: Path, survey: Survey, change: str) -> None:
    save_survey(survey, tmp_path / "a.survey")
    raw = (tmp_path / "a.survey").read_bytes()
    members = survey.questions[0].public.arrays["members"]
    arrays = {
        "points nowhere": members + 900,
        "fewer places": members[:, :-1],
        "other types": members.astype(np.float64),
    }
    with zipfile.ZipFile(BytesIO(raw.split(b"\n", 1)[1])) as archive:
        facts = archive.read("survey.json").decode()
    if change in arrays:
        packed = BytesIO()
        np.lib.format.write_array(packed, np.ascontiguousarray(arrays[change]), allow_pickle=False)
        bad = _rewritten(raw, "0.members.npy", packed.getvalue())
    elif change == "other epsilon":
        bad = _rewritten(raw, "survey.json", facts.replace('"epsilon":"5"', '"epsilon":"500"').encode())
    else:
        bad = _rewritten(raw, "survey.json", facts.replace('"k":3', '"k":0').encode())
    (tmp_path / "bad.survey").write_bytes(bad)
    with pytest.raises(ew.InputError, match=r"bad\.survey"):
        load_survey(tmp_path / "bad.survey")


def test_a_device_answers_without_what_makes_surveys(tmp_path: Path, survey: Survey) -> None:
    save_survey(survey, tmp_path / "a.survey")
    program = (
        f"import sys\nfor name in {sorted(HEAVY)}: sys.modules[name] = None\n"
        "import datetime as dt, elsewhere as ew\nfrom elsewhere.device.answer import answer_days\n"
        "survey = ew.load_survey('a.survey')\nledger = ew.Ledger('my.ledger', cap=20)\n"
        "day = dt.date(2025, 9, 17)\n"
        "found = answer_days(ledger, survey, {day: ew.Trajectory([('p0', 60), ('p4', 72)])})[day]\n"
        "print(len(found.report.to_bytes()), ledger.spent)\n"
    )
    done = subprocess.run(  # noqa: S603 - our own interpreter and program
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.stderr == ""
    assert done.stdout.split() == ["63", "5"]
