"""`survey export`, `backup` and `estimate --store`, as an agency types them."""

from __future__ import annotations

import json
import socket
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from commands import Command
from elsewhere.collector.serve import token_of
from elsewhere.collector.store import Store, existing_store
from elsewhere.errors import InputError
from elsewhere.survey.file import save_survey
from elsewhere.survey.survey import Survey
from made_reports import some_reports


@pytest.fixture
def folder(tmp_path: Path, survey: Survey, monkeypatch: pytest.MonkeyPatch) -> Path:
    save_survey(survey, tmp_path / "s.survey")
    monkeypatch.chdir(tmp_path)
    store = Store("reports.db", survey)
    store.add(some_reports(survey, 400))
    store.close()
    return tmp_path


def test_a_store_is_exported_copied_and_estimated(elsewhere: Command, folder: Path) -> None:
    code, out, err = elsewhere("survey", "export", "s.survey", "-o", "r.parquet", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["reports"] == pl.read_parquet("r.parquet").height == 400
    assert elsewhere("survey", "backup", "s.survey", "-o", "copy.db")[0] == 0
    code, out, err = elsewhere("survey", "estimate", "s.survey", "--store", "copy.db", "-o", "a", "--json")
    assert code == 0
    assert json.loads(out)["reports"] == 400
    assert elsewhere("survey", "estimate", "s.survey", "r.parquet", "-o", "b")[0] == 0
    for name in ("presence.csv", "visits.csv", "summary.json"):
        assert (folder / "a" / name).read_bytes() == (folder / "b" / name).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("estimate", "s.survey", "-o", "a"), "either a file of reports or --store"),
        (("estimate", "s.survey", "r.parquet", "--store", "reports.db", "-o", "a"), "either a file"),
        (("estimate", "s.survey", "--store", "none.db", "-o", "a"), "no such store"),
        (("serve", "s.survey", "--proxy", "caddy"), "must be an address or a network"),
        (("serve", "s.survey", "--proxy", "*"), "must be an address or a network"),
        (("export", "s.survey", "--store", "none.db", "-o", "r.parquet"), "no such store"),
        (("export", "s.survey", "-o", "r.csv"), "parquet"),
        (("backup", "s.survey", "-o", "reports.db"), "is there already"),
        (("serve", "s.survey", "--store", "none/r.db"), "there is no folder none"),
        (("serve", "none.survey"), "none.survey"),
        (
            ("serve", "s.survey", "--host", "8.8.8.8", "--store", "none.db"),
            "--host: cannot listen at 8.8.8.8",
        ),
        (
            ("serve", "s.survey", "--store", "mysql://me:hush@a/b"),
            "--store: found mysql://…, must be a file, or",
        ),
        (
            ("export", "s.survey", "--store", "mysql://a/b", "-o", "r.parquet"),
            "must be a file, or postgresql:",
        ),
    ],
)
def test_bad_input_is_one_clear_message(
    elsewhere: Command, folder: Path, arguments: tuple[str, ...], words: str
) -> None:
    code, _, err = elsewhere("survey", *arguments)
    assert code == 2
    assert words in err
    assert "hush" not in err
    assert not (folder / "none.db").exists()
    assert not (folder / "s.token").exists()


def test_a_port_that_is_taken_is_one_clear_message_and_leaves_nothing_behind(
    elsewhere: Command, folder: Path
) -> None:
    before = sorted(path.name for path in folder.iterdir())
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, out, err = elsewhere("survey", "serve", "s.survey", "--port", port, "--store", "new.db")
    assert (code, out) == (2, "")
    assert "--port: cannot listen at" in err
    assert sorted(path.name for path in folder.iterdir()) == before


def test_reading_an_empty_database_makes_no_store(
    elsewhere: Command, tmp_path: Path, survey: Survey, where: str
) -> None:
    """Else the first survey that looked into it would own it."""
    save_survey(survey, tmp_path / "s.survey")
    export = ("survey", "export", tmp_path / "s.survey", "--store", where, "-o", tmp_path / "r.parquet")
    code, _, err = elsewhere(*export)
    assert (code, "no such store" in err) == (2, True)
    assert not (tmp_path / "r.parquet").exists()
    other = replace(survey, terms=replace(survey.terms, purpose="another"))
    Store(where, other).close()
    with pytest.raises(InputError, match="is the store of survey"):
        existing_store(where, survey)


def test_reports_of_a_store_are_not_counted_again_from_a_file(elsewhere: Command, folder: Path) -> None:
    assert elsewhere("survey", "export", "s.survey", "-o", "r.parquet")[0] == 0
    estimate = ("survey", "estimate", "s.survey", "--store", "reports.db", "--also", "s.survey=r.parquet")
    code, _, err = elsewhere(*estimate, "-o", "a")
    assert (code, "is given twice" in err) == (2, True)
    assert not (folder / "a").exists()


def test_what_is_kept_is_for_its_owner_alone(elsewhere: Command, folder: Path) -> None:
    assert elsewhere("survey", "export", "s.survey", "-o", "r.parquet")[0] == 0
    assert elsewhere("survey", "backup", "s.survey", "-o", "copy.db")[0] == 0
    for name in ("reports.db", "copy.db", "r.parquet"):
        assert (folder / name).stat().st_mode & 0o777 == 0o600


def test_the_token_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "s.token"
    token = token_of(path)
    assert len(token) == 32
    assert token_of(path) == token
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o644)
    with pytest.raises(InputError, match="chmod 600"):
        token_of(path)
    (tmp_path / "short").write_text("secret")
    with pytest.raises(InputError, match="16 letters"):
        token_of(tmp_path / "short")
