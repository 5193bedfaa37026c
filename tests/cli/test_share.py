"""`elsewhere share` and `perturb` of one's own days: one ledger, no day refused, nothing private about."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from pathlib import Path

import pytest
from rich.console import Console

from commands import Command
from elsewhere.cli import console
from elsewhere.device.ledger_file import owner_of
from elsewhere.errors import InputError
from elsewhere.pages.sides import sides_data
from elsewhere.trajectories import Trajectory
from elsewhere.world.world import World
from worlds import build, place

DAYS = ("2024-03-07", "2024-03-08", "2024-03-10")


class Own:
    """A person's file of three days with a gap, a world around it, and commands on them."""

    def __init__(self, folder: Path, command: Command) -> None:
        self.folder, self._command = folder, command
        rows = [
            place("cafe", 52.52, 13.405, hours="24/7"),
            place("shop", 52.53, 13.405, "shoes", hours="24/7"),
            place("bar", 52.525, 13.405, "bar", hours="24/7"),
        ]
        self.world = folder / "city.world"
        build(folder / "city", rows, {"kappa": 1, "timezone": "Europe/Berlin"}).save(self.world)
        self.file = folder / "mine.csv"
        self.write(dict.fromkeys(DAYS, (52.52, 13.405)))

    def write(self, days: dict[str, tuple[float, float]]) -> None:
        rows = [
            f"{lat},{lng},{day}T10:{minute:02d}:00"
            for day, (lat, lng) in days.items()
            for minute in range(20)
        ]
        self.file.write_text("\n".join(["lat,lng,datetime", *rows]) + "\n")

    def share(self, *more: object) -> tuple[int, str, str]:
        options = ["-w", self.world, "-e", "5", "--set", "candidates=64", "--set", "shards=2"]
        return self._command("share", self.file, *options, *more)

    def shared(self, *more: object) -> dict[str, object]:
        code, out, err = self.share(*more, "--json")
        assert (code, err) == (0, "")
        found: dict[str, object] = json.loads(out)
        return found

    def data_set(self, name: str = "own", *more: object) -> Path:
        made = self._command(
            "dataset", "personal", "--raw", self.file, "-w", self.world, "-o", self.folder / name, *more
        )
        assert made[0] == 0, made[2]
        return self.folder / name / "trajectories.PRIVATE.csv"

    def perturb(self, file: Path, output: str, *more: object) -> tuple[int, str, str]:
        options = ["-w", self.world, "-e", "5", "--set", "candidates=64", "--set", "shards=2"]
        return self._command("perturb", file, *options, "-o", self.folder / output, *more)


@pytest.fixture
def own(tmp_path: Path, elsewhere: Command) -> Own:
    return Own(tmp_path, elsewhere)


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def test_the_ledger_is_the_users_whatever_folder_they_are_in(
    own: Own, elsewhere: Command, own_data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = []
    for name in ("here", "there"):
        (own.folder / name).mkdir()
        monkeypatch.chdir(own.folder / name)
        shared.append(own.shared("--day", DAYS[0]))
        assert list((own.folder / name).iterdir()) == []
    assert shared[0] == shared[1]
    ledger = own_data_folder / "elsewhere.ledger"
    assert shared[0]["ledger"] == {"file": str(ledger), "spent": "5", "cap": "100"}
    assert ledger.stat().st_mode & 0o777 == 0o600
    assert own_data_folder.stat().st_mode & 0o777 == 0o700
    code, out, _ = elsewhere("ledger", "show")
    assert code == 0
    assert "Spent 5 of 100" in out
    assert f"Your ledger: {ledger}" in out
    code, out, _ = own.share("--day", DAYS[0], "--ledger", own.folder / "other.ledger")
    assert "A ledger of its own, not yours" in out
    assert "adds up" in out


def test_no_ledger_is_made_by_looking_for_one(elsewhere: Command, own_data_folder: Path) -> None:
    code, _, err = elsewhere("ledger", "show")
    assert (code, "no such ledger" in err) == (2, True)
    assert not own_data_folder.exists()


def test_a_ledger_that_only_knows_its_owner_has_shared_nothing_yet(own: Own, elsewhere: Command) -> None:
    own.data_set()
    code, _, err = elsewhere("ledger", "show")
    assert (code, "nothing was shared yet" in err) == (2, True)


def test_help_says_what_a_cap_means_and_a_bad_one_is_named(
    own: Own, elsewhere: Command, own_data_folder: Path
) -> None:
    _, out, _ = elsewhere("share", "--help")
    assert "20 is four days at ε = 5, 100 is twenty" in " ".join(out.split())
    for cap in ("0", "-5", "much"):
        code, _, err = own.share("--day", DAYS[0], "--cap", cap)
        assert code == 2
        assert f"cap: found '{cap}', must be a number above 0: the sum of ε of all days" in err
    assert not own_data_folder.exists()


def test_a_report_is_filed_under_an_id_that_means_nothing(own: Own) -> None:
    for name in ("a.csv", "b.csv"):
        own.share("--day", DAYS[0], "-o", own.folder / name)
    own.share("--day", DAYS[1], "-o", own.folder / "c.csv")
    first, second, third = (
        {(row["uid"], row["tid"]) for row in _rows(own.folder / f"{n}.csv")} for n in "abc"
    )
    assert first == second
    assert len(first) == len(third) == 1
    ((uid, tid),) = first
    assert re.fullmatch("[0-9a-f]{32}", uid)
    assert uid == tid
    assert first.isdisjoint(third)
    facts = json.loads((own.folder / "a.csv.meta.json").read_text())
    assert (facts["randomness"], facts["most_days_of_a_person"], facts["epsilon_of_a_person_at_most"]) == (
        "system", 1, "5",
    )  # fmt: skip


def test_a_day_without_a_visit_is_shared_like_any_other(own: Own) -> None:
    """Between, before and after what the file holds; only days to come are refused."""
    assert own.shared("--day", "2024-03-09")["shared"]
    for day in ("2024-03-06", "2024-03-11"):
        code, _, err = own.share("--day", day)
        assert (code, f"says nothing about {day}: it is shared as a day without any visit" in err) == (
            0,
            True,
        )
    code, _, err = own.share("--day", "2999-01-01")
    assert (code, "must not be later than today" in err) == (2, True)


def test_one_odd_day_far_away_is_shared_and_another_city_needs_anyway(own: Own) -> None:
    own.write({**dict.fromkeys(DAYS[:2], (52.52, 13.405)), DAYS[2]: (49.2, -123.1)})
    assert own.shared("--day", DAYS[2])["shared"]
    own.write(dict.fromkeys((*DAYS, "2024-03-11"), (49.2, -123.1)))
    code, out, err = own.share("--day", DAYS[0])
    assert (code, out) == (2, "")
    assert "farther than 50 km from every place of this world" in err
    assert own.shared("--day", DAYS[0], "--anyway")["shared"]


def test_without_a_day_the_days_are_listed(
    own: Own, monkeypatch: pytest.MonkeyPatch, own_data_folder: Path
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    code, out, err = own.share()
    assert (code, "give one of the days" in err) == (2, True)
    assert [line.split() for line in out.splitlines()[1:4]] == [[day, "1"] for day in DAYS]
    code, out, _ = own.share("--json")
    assert code == 2
    assert json.loads(out)["days"] == dict.fromkeys(DAYS, 1)
    assert not own_data_folder.exists()


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_at_a_terminal_a_day_can_be_chosen(own: Own, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", _Terminal("yesterday\n9\n2\n"))
    code, out, _ = own.share()
    assert code == 0
    assert out.count("Which day") == 3
    assert out.count("neither a row nor a day") == 2
    assert "Spent 5 of 100" in out
    assert own.shared("--day", DAYS[1])["ledger"]


def test_what_takes_long_is_told_at_a_terminal(own: Own, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(console, "_err", Console(file=screen, force_terminal=True, width=100))
    assert own.share("--day", DAYS[0])[0] == 0
    for words in ("Reading your file", "Getting ready (the first time, loops are compiled)"):
        assert words in screen.getvalue()


@pytest.mark.parametrize("option", ["-o", "--page"])
def test_what_cannot_be_written_is_refused_before_anything_is_charged(
    own: Own, own_data_folder: Path, option: str
) -> None:
    target = (
        own.file / f"shared{'.csv' if option == '-o' else '.html'}"
    )  # below a file, so root cannot either
    code, _, err = own.share("--day", DAYS[0], option, target)
    assert (code, f"cannot be written: {own.file} is not a folder" in err) == (2, True)
    assert not own_data_folder.exists()


def test_own_days_are_not_charged_for_an_output_that_cannot_be_written(own: Own) -> None:
    days = own.data_set()
    code, _, err = own.perturb(days, "mine.csv/a.csv")
    assert (code, "is not a folder" in err) == (2, True)
    assert "Spent 15 of 15" in own.perturb(days, "a.csv", "--cap", "15")[1]


def test_a_day_that_was_charged_and_not_written_is_not_lost(
    own: Own, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise InputError("s.csv", "cannot be written: No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("elsewhere.device.shared_file.write_days", full)
        code, _, err = own.share("--day", DAYS[0], "-o", own.folder / "s.csv")
    assert code == 2
    assert "No space left on device: the day is charged; asking again" in err
    code, out, _ = own.share("--day", DAYS[0], "-o", own.folder / "new" / "t.csv")
    assert (code, "nothing more is spent. Spent 5 of 100" in out) == (0, True)


def test_a_page_for_oneself_is_private_and_says_so(own: Own) -> None:
    page = own.folder / "mine.html"
    code, out, _ = own.share("--day", DAYS[0], "--page", page)
    assert code == 0
    html = page.read_text()
    assert re.search("<title>PRIVATE: 2024-03-07", html)
    assert "your day" in html
    assert "cafe" in html  # where the person really was
    assert page.stat().st_mode & 0o777 == 0o600
    assert "What to expect" in out
    assert re.search(r"one of the \d+ made-up days nearest to yours, of 64; a day that ignores you", out)
    code, _, err = own.share("--day", DAYS[0], "--page", page)
    assert (code, "is there already" in err) == (2, True)
    code, _, _ = own.share("--day", "2024-03-09", "--page", own.folder / "none.html")
    assert code == 0
    assert "no visit" in (own.folder / "none.html").read_text()


def test_the_maps_of_ones_day_have_both_days_and_the_city(own: Own) -> None:
    world = World.load(own.world)
    day, shared = Trajectory([("cafe", 60), ("shop", 80)]), Trajectory([("cafe", 60)])
    data = sides_data(world, ("Your day", "Shared"), ([day], [shared]), [("your day", 0)])
    west, south, east, north = data["box"]
    assert (west < east) or (south < north)
    mine, other = data["people"][0]["days"]
    assert [stop[2] for stop in mine] == [10.0, pytest.approx(13.33)]
    assert len(other) == 1
    assert [len(hour) for hour in data["sides"][1]].count(2) == 1  # one place, one visit


def test_an_epsilon_beyond_sense_is_warned_of(own: Own) -> None:
    for epsilon, warned in (("20", False), ("21", True)):
        options = ["--epsilon", epsilon, "--day", DAYS[0], "--ledger", own.folder / f"{epsilon}.ledger"]
        code, _, err = own.share(*options)
        assert (code, "protects next to nothing" in err) == (0, warned)
        code, _, err = own.perturb(
            own.data_set(f"d{epsilon}", "--ledger", options[-1]), f"{epsilon}.csv", *options[:2], *options[4:]
        )
        assert (code, "protects next to nothing" in err) == (0, warned)


def test_own_days_are_charged_and_handed_out_once(own: Own, own_data_folder: Path) -> None:
    alone = own.shared("--day", DAYS[0])
    days = own.data_set()
    code, out, err = own.perturb(days, "a.csv")
    assert (code, err) == (0, "")
    assert "Spent 15 of 100" in out
    rows = _rows(own.folder / "a.csv")
    assert {row["uid"] for row in rows if row["datetime"] < DAYS[1]} == {alone["id"]}
    assert len({row["uid"] for row in rows}) == 3
    assert not any("me" in row["uid"] or "me" in row["tid"] for row in rows)
    owner = owner_of(own_data_folder / "elsewhere.ledger")
    left = [path for path in own.folder.glob("a.csv*") if owner in path.read_text()]
    assert left == []
    facts = json.loads((own.folder / "a.csv.meta.json").read_text())
    assert (facts["trajectories"], facts["most_days_of_a_person"]) == (3, 3)
    assert facts["epsilon_of_a_person_at_most"] == "15"
    code, out, _ = own.perturb(days, "b.csv")
    assert "Spent 15 of 100" in out
    assert (own.folder / "b.csv").read_bytes() == (own.folder / "a.csv").read_bytes()


def test_a_day_past_the_cap_refuses_all_before_the_first_draw(
    own: Own, monkeypatch: pytest.MonkeyPatch
) -> None:
    days = own.data_set()
    with monkeypatch.context() as patch:
        patch.setattr("elsewhere.methods.sharing.Sharing.share", lambda *_: pytest.fail("drawn"))
        code, _, err = own.perturb(days, "a.csv", "--cap", "14")
    assert (code, "15 more passes the cap of 14" in err) == (2, True)
    assert not (own.folder / "a.csv").exists()
    code, out, _ = own.perturb(days, "a.csv", "--cap", "15")  # no cap was settled by what was refused
    assert (code, "Spent 15 of 15" in out) == (0, True)


def test_days_of_other_devices_are_refused(own: Own, own_data_folder: Path) -> None:
    theirs = own.data_set("theirs", "--ledger", own.folder / "their.ledger")
    code, _, err = own.perturb(theirs, "a.csv")
    assert (code, "days of another device: perturb them there" in err) == (2, True)
    assert not own_data_folder.exists()
    mine = own.data_set("mine")
    code, _, err = own.perturb(theirs, "a.csv")
    assert (code, "days of another device: perturb them there" in err) == (2, True)
    both = own.folder / "both.csv"
    both.write_text(mine.read_text() + "".join(theirs.read_text().splitlines(keepends=True)[1:]))
    code, _, err = own.perturb(both, "a.csv")
    assert (code, "days of several devices" in err) == (2, True)
    both.write_text(mine.read_text() + f"u1,t1,{DAYS[0]}T10:00:00,,,cafe\n")
    code, _, err = own.perturb(both, "a.csv")
    assert (code, "mixes days of somebody's own device" in err) == (2, True)
    code, _, err = own.perturb(mine, "a.csv", "--seed", 7)
    assert (code, "--seed: is not for your own days" in err) == (2, True)
    assert not (own.folder / "a.csv").exists()
    assert own.perturb(theirs, "a.csv", "--ledger", own.folder / "their.ledger")[0] == 0
