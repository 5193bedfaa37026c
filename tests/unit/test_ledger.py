"""The ledger: charge, sample, persist, hand out; never two reports for one day, never past the cap."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import elsewhere as ew
from elsewhere.device.ledger_file import owner_of
from elsewhere.experiments.tilted import tilted_ngram
from elsewhere.methods.sharing import Sharing
from elsewhere.randomness import SeededRandomness
from worlds import build, place

DAY = ew.Trajectory([("p0", 60), ("p1", 70), ("p2", 80)])


@pytest.fixture
def method(tmp_path: Path) -> Sharing:
    rows = [
        place(f"p{i}", 50 + i * 0.01, 10, ["cafe", "boots"][i % 2], hours="08:00-20:00") for i in range(6)
    ]
    return ew.method("ngram", build(tmp_path / "world", rows, {"kappa": 1}), epsilon=5)


def test_the_same_day_gives_the_same_report_and_costs_once(tmp_path: Path, method: Sharing) -> None:
    ledger = ew.Ledger(tmp_path / "my.ledger", cap=12)
    first = ledger.share("2025-09-17", DAY, method)
    assert all(ledger.share("2025-09-17", DAY, method) == first for _ in range(5))
    assert ew.Ledger(tmp_path / "my.ledger").share("2025-09-17", DAY, method) == first
    assert ledger.spent == 5
    ledger.share("2025-09-18", DAY, method)
    assert ledger.spent == 10


def test_past_the_cap_is_refused_before_anything_is_drawn(
    tmp_path: Path, method: Sharing, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = ew.Ledger(tmp_path / "my.ledger", cap=9)
    ledger.share("2025-09-17", DAY, method)
    monkeypatch.setattr(method, "share", lambda *_: pytest.fail("drawn although refused"))
    with pytest.raises(ew.BudgetError, match="cap of 9") as caught:
        ledger.share("2025-09-18", DAY, method)
    assert [caught.value.spent, caught.value.asked, caught.value.cap] == [
        Fraction(5),
        Fraction(5),
        Fraction(9),
    ]
    assert ledger.spent == 5


def test_another_reading_of_a_day_is_another_sharing(tmp_path: Path, method: Sharing) -> None:
    """One day, one report; and days that were charged before there were readings are found as they were."""
    ledger = ew.Ledger(tmp_path / "my.ledger", cap=12)
    few: dict[str, Any] = {"candidates": 16, "shards": 1, "k": 2}
    plain = ew.method("codebook", method.world, epsilon=5, **few)
    first = ledger.share("2025-09-17", DAY, plain)
    guess = ew.method("codebook", method.world, epsilon=5, reading="guess", **few)
    with pytest.raises(ew.InputError, match="charged for another sharing"):
        ledger.share("2025-09-17", DAY, guess)
    ledger.share("2025-09-18", DAY, guess)
    assert ledger.spent == 10
    with sqlite3.connect(tmp_path / "my.ledger") as database:
        names = [json.loads(name) for (name,) in database.execute("SELECT method FROM shares ORDER BY day")]
    assert [name.get("reading") for name in names] == [None, "guess"]
    assert ledger.share("2025-09-17", DAY, plain) == first


class _Killed(BaseException):
    """Stands for the power going off."""


@pytest.mark.parametrize("step", ["before charge", "after charge", "after sample", "after persist"])
def test_killed_between_any_two_steps_there_is_one_report(
    tmp_path: Path, method: Sharing, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """T8."""
    path = tmp_path / "my.ledger"
    ledger = ew.Ledger(path, cap=100)
    handed_out = []
    charge, persist, share = ledger._charge, ledger._persist, method.share
    with monkeypatch.context() as patch:

        def dying_charge(*args: object) -> object:
            if step == "before charge":
                raise _Killed
            report = charge(*args)  # type: ignore[arg-type]  # passed on as they came
            if step == "after charge":
                raise _Killed
            return report

        def dying_share(*args: object) -> object:
            result = share(*args)  # type: ignore[arg-type]  # as above
            if step == "after sample":
                raise _Killed
            return result

        def dying_persist(*args: object) -> object:
            report = persist(*args)  # type: ignore[arg-type]  # as above
            if step == "after persist":
                raise _Killed
            return report

        patch.setattr(ledger, "_charge", dying_charge)
        patch.setattr(ledger, "_persist", dying_persist)
        patch.setattr(method, "share", dying_share)
        with pytest.raises(_Killed):
            handed_out.append(ledger.share("2025-09-17", DAY, method))
    again = ew.Ledger(path)
    kept = [entry.state for entry in again.entries()]
    assert kept == {"before charge": [], "after persist": ["shared"]}.get(step, ["only charged"])
    reports = {again.share("2025-09-17", DAY, method) for _ in range(3)} | set(handed_out)
    assert len(reports) == 1
    assert again.spent == 5


_DYING = """
import os, signal, sys
import elsewhere as ew
world, ledger, step = ew.World.load(sys.argv[1]), ew.Ledger(sys.argv[2]), sys.argv[3]
method = ew.method("ngram", world, epsilon=5)
for owner, name in ((ledger, "_charge"), (method, "share"), (ledger, "_persist")):
    def dying(*given, real=getattr(owner, name), name=name):
        if step == f"before {name}":
            os.kill(os.getpid(), signal.SIGKILL)
        made = real(*given)
        if step == f"after {name}":
            os.kill(os.getpid(), signal.SIGKILL)
        return made
    setattr(owner, name, dying)
print(ledger.share("2025-09-17", ew.Trajectory([("p0", 60), ("p1", 70), ("p2", 80)]), method))
"""


@pytest.mark.audit
def test_killed_for_real_between_any_two_steps(tmp_path: Path, method: Sharing) -> None:
    """T8 with a real SIGKILL: whatever was printed before is what comes back."""
    world = tmp_path / "w.world"
    method.world.save(world)
    for number, step in enumerate(
        [f"{when} {name}" for name in ("_charge", "share", "_persist") for when in ("before", "after")]
    ):
        path = tmp_path / f"{number}.ledger"
        ew.Ledger(path, cap=100)
        printed: list[str] = []
        for moment in (step, step, "never", "never"):
            done = subprocess.run(  # noqa: S603 - our own interpreter and program
                [sys.executable, "-c", _DYING, world, path, moment],
                capture_output=True,
                text=True,
                check=False,
            )
            printed += [done.stdout] if done.stdout else []
            assert bool(done.stdout) == (done.returncode == 0)
        assert len(printed) >= 2
        assert len(set(printed)) == 1
        assert ew.Ledger(path).spent == 5


def test_two_ledgers_on_one_file_hand_out_one_report(
    tmp_path: Path, method: Sharing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process shares the same day between our charge and our persist: its report counts."""
    path = tmp_path / "my.ledger"
    ours, theirs = ew.Ledger(path, cap=100), ew.Ledger(path)
    share = method.share
    reports = []

    def interrupted(*args: object) -> object:
        monkeypatch.setattr(method, "share", share)
        reports.append(theirs.share("2025-09-17", DAY, method))
        return share(*args)  # type: ignore[arg-type]  # passed on as they came

    monkeypatch.setattr(method, "share", interrupted)
    reports.append(ours.share("2025-09-17", DAY, method))
    assert reports[0] == reports[1]
    assert ours.spent == 5


def test_sums_are_exact(tmp_path: Path, method: Sharing) -> None:
    ledger = ew.Ledger(tmp_path / "my.ledger", cap=1)
    tenth = ew.method("ngram", method.world, epsilon="0.1")
    for number in range(10):
        ledger.share(f"2025-09-{number + 10}", DAY, tenth)
    assert ledger.spent == Fraction(1)
    with pytest.raises(ew.BudgetError):
        ledger.share("2025-10-01", DAY, tenth)


def test_a_ledger_needs_its_cap_once(tmp_path: Path) -> None:
    with pytest.raises(ew.InputError, match="needs a cap"):
        ew.Ledger(tmp_path / "new.ledger")
    ew.Ledger(tmp_path / "new.ledger", cap=3)
    assert ew.Ledger(tmp_path / "new.ledger").cap == 3
    with pytest.raises(ew.InputError, match="cannot be changed"):
        ew.Ledger(tmp_path / "new.ledger", cap=4)


def test_other_files_are_no_ledgers(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("not a database, but long enough to be taken for one" * 50)
    with pytest.raises(ew.InputError, match="not a ledger"):
        ew.Ledger(tmp_path / "text")
    database = sqlite3.connect(tmp_path / "other.db")
    database.execute("CREATE TABLE t (x)")
    database.commit()
    database.close()
    with pytest.raises(ew.InputError, match="not a ledger"):
        ew.Ledger(tmp_path / "other.db")


def test_a_charge_pays_only_for_what_was_charged(
    tmp_path: Path, method: Sharing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A day charged for a little must not hand out a report that costs a lot."""
    ledger = ew.Ledger(tmp_path / "my.ledger", cap=10)
    with monkeypatch.context() as patch:
        patch.setattr(method, "share", lambda *_: (_ for _ in ()).throw(_Killed))
        with pytest.raises(_Killed):
            ledger.share("2025-09-17", DAY, method)
    for other in (
        ew.method("ngram", method.world, epsilon=50),
        ew.method("ngram", method.world, epsilon=5, n=3),
    ):
        with pytest.raises(ew.InputError, match="another sharing"):
            ledger.share("2025-09-17", DAY, other)
    assert len(ledger.share("2025-09-17", DAY, method)) == 3
    assert ledger.spent == 5


def test_a_refusal_names_the_levels_that_differ(tmp_path: Path, method: Sharing) -> None:
    ledger = ew.Ledger(tmp_path / "my.ledger", cap=100)
    few: dict[str, Any] = {"candidates": 16, "shards": 1, "k": 2}
    ledger.share("2025-09-17", DAY, ew.method("codebook", method.world, epsilon=5, **few))
    listed = ew.method("codebook", method.world, epsilon=5, levels={"p0": "1/2"}, **few)
    with pytest.raises(ew.InputError, match=r"charged .*, --levels none, not ε = 1/2 for 1 places .*ask for"):
        ledger.share("2025-09-17", DAY, listed)
    with pytest.raises(ew.InputError, match=r"\(codebook, ε = 5, world [0-9a-f]{12}\): ask for that"):
        ledger.share("2025-09-17", DAY, method)  # another method: all of its settings differ


def test_what_cannot_be_shared_is_not_charged(tmp_path: Path, method: Sharing) -> None:
    ledger = ew.Ledger(tmp_path / "my.ledger", cap=1000)
    with pytest.raises(ew.InputError, match="takes too long"):
        ledger.share("2025-09-17", DAY, ew.method("ngram", method.world, epsilon=500))
    with pytest.raises(ew.InputError, match="ε-LDP"):
        ledger.share("2025-09-17", DAY, tilted_ngram(method.world, epsilon=5))
    assert ledger.spent == 0


@pytest.mark.parametrize("day", ["garbage", "2025-9-17", "20250917", "", "2025-09-17T10:00:00"])
def test_a_day_has_one_name(tmp_path: Path, method: Sharing, day: str) -> None:
    ledger = ew.Ledger(tmp_path / "my.ledger", cap=100)
    with pytest.raises(ew.InputError, match="must be a date"):
        ledger.share(day, DAY, method)
    assert ledger.spent == 0


@pytest.mark.parametrize("cap", [0, -1, float("nan"), "much"])
def test_a_bad_cap_leaves_no_file(tmp_path: Path, cap: float | str) -> None:
    with pytest.raises(ew.InputError, match="cap"):
        ew.Ledger(tmp_path / "my.ledger", cap=cap)
    assert not (tmp_path / "my.ledger").exists()


def test_a_day_that_was_shared_is_not_shared_otherwise(tmp_path: Path, method: Sharing) -> None:
    """Who asks at another ε is told, rather than handed what cost more or less than they think."""
    ledger = ew.Ledger(tmp_path / "my.ledger", cap=100)
    ledger.share("2025-09-17", DAY, method)
    with pytest.raises(ew.InputError, match="another sharing"):
        ledger.share("2025-09-17", DAY, ew.method("ngram", method.world, epsilon=1))
    assert (tmp_path / "my.ledger").stat().st_mode & 0o077 == 0


def test_a_day_that_is_charged_counts_against_the_cap_although_its_report_was_lost(
    tmp_path: Path, method: Sharing, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = ew.Ledger(tmp_path / "my.ledger", cap=9)
    with monkeypatch.context() as patch:
        patch.setattr(method, "share", lambda *_: (_ for _ in ()).throw(_Killed))
        with pytest.raises(_Killed):
            ledger.share("2025-09-17", DAY, method)
    again = ew.Ledger(tmp_path / "my.ledger")
    assert [entry.state for entry in again.entries()] == ["only charged"]
    with pytest.raises(ew.BudgetError, match="ε 5 is spent, 5 more passes the cap of 9"):
        again.share("2025-09-18", DAY, method)
    assert len(again.share("2025-09-17", DAY, method)) == 3  # it is paid for
    assert again.spent == 5


def test_many_days_are_charged_all_or_none_before_the_first_is_drawn(
    tmp_path: Path, method: Sharing, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = ew.Ledger(tmp_path / "my.ledger", cap=15)
    days = {f"2025-09-{day}": DAY for day in (17, 18, 19, 20)}
    with monkeypatch.context() as patch:
        patch.setattr(method, "share", lambda *_: pytest.fail("drawn although refused"))
        with pytest.raises(ew.BudgetError, match="20 more passes the cap of 15"):
            ledger.reports(days, method)
    assert ledger.entries() == []
    del days["2025-09-20"]
    first = ledger.reports(days, method)
    assert ledger.spent == 15
    again = ew.Ledger(tmp_path / "my.ledger").reports(days, method)
    assert [report.shared for report in again.values()] == [report.shared for report in first.values()]
    assert [report.is_again for report in [*first.values(), *again.values()]] == [False] * 3 + [True] * 3
    assert ledger.spent == 15


def test_every_report_has_an_id_of_its_own_that_stays(tmp_path: Path, method: Sharing) -> None:
    ledger = ew.Ledger(tmp_path / "my.ledger", cap=100)
    days = {f"2025-09-{day}": DAY for day in range(10, 20)}
    ids = {day: report.report_id for day, report in ledger.reports(days, method).items()}
    assert len(set(ids.values())) == 10
    assert all(re.fullmatch("[0-9a-f]{32}", one) for one in ids.values())
    assert {day: report.report_id for day, report in ledger.reports(days, method).items()} == ids
    assert ledger.owner not in ids.values()


def test_a_ledger_has_a_random_owner_and_old_ones_get_one(tmp_path: Path, method: Sharing) -> None:
    owners = [ew.Ledger(tmp_path / f"{number}.ledger", cap=9).owner for number in (1, 2)]
    assert owners[0] != owners[1]
    assert ew.Ledger(tmp_path / "1.ledger").owner == owners[0]
    assert owner_of(tmp_path / "1.ledger") == owners[0]
    shared = ew.Ledger(tmp_path / "1.ledger").share("2025-09-17", DAY, method)
    database = sqlite3.connect(tmp_path / "1.ledger")  # as version 0.1 wrote it
    database.execute("DROP TABLE owner")
    old = json.dumps([list(visit) for visit in shared]).encode()
    database.execute("UPDATE shares SET report = ?", (old,))
    database.commit()
    database.close()
    ledger = ew.Ledger(tmp_path / "1.ledger")
    assert ledger.owner not in owners
    first, second = (ledger.reports({"2025-09-17": DAY}, method)["2025-09-17"] for _ in range(2))
    assert (first.shared, first.randomness, first.is_again) == (shared, "system", True)
    assert first.report_id == second.report_id
    assert ledger.spent == 5


def test_an_owner_is_known_before_a_cap_is_chosen(tmp_path: Path) -> None:
    owner = owner_of(tmp_path / "my.ledger")
    assert (tmp_path / "my.ledger").stat().st_mode & 0o077 == 0
    with pytest.raises(ew.InputError, match="without a cap"):
        ew.Ledger(tmp_path / "my.ledger")
    assert ew.Ledger(tmp_path / "my.ledger", cap=7).owner == owner


def test_what_the_disk_refuses_is_one_message(tmp_path: Path, method: Sharing) -> None:
    with pytest.raises(ew.InputError, match="there is no folder"):
        ew.Ledger(tmp_path / "nowhere/my.ledger", cap=7)
    ledger = ew.Ledger(tmp_path / "my.ledger", cap=7)
    other = sqlite3.connect(tmp_path / "my.ledger", isolation_level=None)
    (tmp_path / "my.ledger").unlink()
    (tmp_path / "my.ledger").mkdir()
    with pytest.raises(ew.InputError, match="cannot be used: unable to open"):
        ledger.share("2025-09-17", DAY, method)
    other.close()


def test_randomness_that_is_not_the_systems_is_written_down_with_the_report(
    tmp_path: Path, method: Sharing, monkeypatch: pytest.MonkeyPatch
) -> None:
    share = method.share
    monkeypatch.setattr(method, "share", lambda day: share(day, randomness=SeededRandomness(7)))
    ledger = ew.Ledger(tmp_path / "my.ledger", cap=7)
    for _ in range(2):
        assert ledger.reports({"2025-09-17": DAY}, method)["2025-09-17"].randomness == "seeded (7)"
