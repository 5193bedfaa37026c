"""An ε for each person, levels for places, a constant ε' for each draw: on the command line."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path

import pytest

import elsewhere as ew
from commands import Command
from elsewhere.device.job_counts import irregularities
from elsewhere.device.own_epsilon import OwnEpsilon
from elsewhere.device.smooth import SHIFTED, smoothed
from elsewhere.methods.sharing import Sharing
from worlds import build, place

_CHOSEN = ("1/2", "2", "8")
_SMALL = ("--set", "candidates=64", "--set", "shards=2")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A world, and thirty people who chose three different ε."""
    kinds = ["cafe", "boots", "wine-bar"]
    rows = [
        place(f"p{i}", 50 + i % 4 * 0.01, 10 + i // 4 * 0.01, kinds[i % 3], hours="24/7") for i in range(12)
    ]
    build(tmp_path / "tables", rows, {"kappa": 2}).save(tmp_path / "w.world")
    lines = [
        f"u{u},2024-03-07T{8 + k:02d}:00:00,p{(u + k) % 12},{_CHOSEN[u % 3]}\n"
        for u in range(30)
        for k in range(1 + u % 3)
    ]
    (tmp_path / "days.csv").write_text("uid,datetime,place_id,epsilon\n" + "".join(lines))
    return tmp_path


@pytest.mark.parametrize("suffix", [".csv", ".geojson"])
def test_everybody_is_shared_with_the_epsilon_they_chose(
    elsewhere: Command, folder: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    used: list[str] = []
    honest = OwnEpsilon.of

    def watched(self: OwnEpsilon, epsilon: Fraction) -> Sharing:
        used.append(str(epsilon))
        return honest(self, epsilon)

    monkeypatch.setattr(OwnEpsilon, "of", watched)
    out = folder / f"out{suffix}"
    code, shown, err = elsewhere(
        "perturb", folder / "days.csv", "-w", folder / "w.world", "-e", "own", "-o", out, "--json", *_SMALL
    )
    assert code == 0, err
    told = json.loads(shown)
    assert told["epsilons"] == "1/2, 2, 8"
    assert "epsilon" not in told
    assert told["epsilon_of_a_person_at_most"] == "8"
    assert set(used) == set(_CHOSEN)
    if suffix == ".csv":
        with out.open() as file:
            rows = list(csv.DictReader(file))
    else:
        rows = [feature["properties"] for feature in json.loads(out.read_text())["features"]]
    assert {(row["uid"], row["epsilon"]) for row in rows} == {(f"u{u}", _CHOSEN[u % 3]) for u in range(30)}


def test_evaluate_tells_what_each_epsilon_gives(elsewhere: Command, folder: Path) -> None:
    world, days, out = folder / "w.world", folder / "days.csv", folder / "out.csv"
    assert elsewhere("perturb", days, "-w", world, "-e", "own", "-o", out, *_SMALL)[0] == 0
    code, shown, _ = elsewhere("evaluate", days, out, "-w", world, "--json", "--no-nulls")
    assert code == 0
    by_epsilon = json.loads(shown)["by_epsilon"]
    assert list(by_epsilon) == list(_CHOSEN)
    assert [some["shared"]["days"] for some in by_epsilon.values()] == [10, 10, 10]
    _, words, _ = elsewhere("evaluate", days, out, "-w", world, "--no-nulls")
    assert "ε = 1/2, 10 days: d " in words


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (
            "u0,2024-03-07T10:00:00,p1,3",
            "row 3, column epsilon: differs within one person's day, must be as in row 2",
        ),
        ("zz,2024-03-07T10:00:00,p1,", "row 2, column epsilon: must be a number above 0"),
        ("zz,2024-03-07T10:00:00,p1,-4", "row 2, column epsilon: must be a number above 0"),
        ("zz,2024-03-07T10:00:00,p1,much", "row 2, column epsilon: must be a number above 0"),
        (
            "zz,2024-03-07T10:00:00,p1,2\nzz,2024-03-07T11:00:00,p1,x",
            "row 3, column epsilon: must be a number above 0",
        ),
    ],
)
def test_an_epsilon_that_cannot_be_read_is_refused(
    elsewhere: Command, folder: Path, line: str, problem: str
) -> None:
    path = folder / "days.csv"
    first, *rest = path.read_text().splitlines()
    path.write_text("\n".join([first, *([rest[0], line] if line.startswith("u0") else [line]), *rest[1:]]))
    code, _, err = elsewhere("perturb", path, "-w", folder / "w.world", "-e", "own", "-o", folder / "o.csv")
    assert code == 2
    assert problem in err
    said = err.replace(str(path), "")  # whose own name may hold anything
    assert not any(quoted in said for quoted in ("much", "-4", "u0", "zz"))
    assert not (folder / "o.csv").exists()


def test_all_faults_of_the_column_epsilon_are_told_at_once(elsewhere: Command, folder: Path) -> None:
    """By row, as of any other column; blank rows count."""
    rows = ["uid,datetime,place_id,epsilon", "", "a,2024-03-07T08:00:00,p1,no", "b,2024-03-07T08:00:00,p1,1"]
    rows += ["b,2024-03-07T09:00:00,p2,1", "b,2024-03-07T10:00:00,p3,2", "c,2024-03-07T08:00:00,p1,0"]
    (folder / "odd.csv").write_text("\n".join(rows) + "\n")
    options = ("-w", folder / "w.world", "-e", "own", "-o", folder / "o.csv")
    code, _, err = elsewhere("perturb", folder / "odd.csv", *options)
    assert code == 2
    assert "3 faults" in err
    for said in ("row 3, column epsilon: must be", "row 6, column epsilon: differs", "row 7, column epsilon"):
        assert said in err


def test_a_constant_epsilon_for_each_draw(elsewhere: Command, folder: Path) -> None:
    """The paper: an alternative "would be to assign a constant ε' value for each perturbation"."""
    options = ("-w", folder / "w.world", "-m", "ngram", "--epsilon-per-draw", "1/2", "--json")
    code, shown, err = elsewhere("perturb", folder / "days.csv", *options, "-o", folder / "out.csv")
    assert code == 0, err
    told = json.loads(shown)
    assert told["epsilon_per_draw"] == "1/2"
    assert told["epsilon_of_a_person_at_most"] == "2"  # three visits and n = 2 make four draws
    five = ("-m", "ngram", "--epsilon-per-draw", "1/2", "--visits", "4", "--json")
    code, shown, _ = elsewhere("audit", folder / "w.world", *five)
    assert json.loads(shown)["epsilon_claimed"] == "5/2"
    for wrong in (["-e", "1", "--epsilon-per-draw", "1", "-m", "ngram"], [], ["--epsilon-per-draw", "1"]):
        code, _, err = elsewhere("audit", folder / "w.world", *wrong)
        assert code == 2
        assert "epsilon" in err


def test_levels_from_a_suggestion_to_a_shared_file(elsewhere: Command, folder: Path) -> None:
    world, levels = folder / "w.world", folder / "levels.csv"
    code, shown, _ = elsewhere("world", "levels", world, "-e", "1/2", "-o", levels)
    assert code == 0  # nothing here looks sensitive, so the table is for people to fill in
    assert "0 categories" in shown
    levels.write_text("category_id,place_id,epsilon\nshoes,,1/2\n,p0,0\n")
    options = ("-w", world, "-e", "5", "--levels", levels, "--json", *_SMALL)
    code, shown, err = elsewhere("perturb", folder / "days.csv", *options, "-o", folder / "out.csv")
    assert code == 0, err
    assert json.loads(shown)["levels"].startswith("ε = 0 for 1 places, ε = 1/2 for 4 places (list ")
    code, shown, _ = elsewhere("audit", world, "-e", "5", "--levels", levels, *_SMALL)
    assert "ε = 1/2 for 4 places" in " ".join(shown.split())
    levels.write_text("place_id,epsilon\nnobody,1\n")
    code, _, err = elsewhere("audit", world, "-e", "5", "--levels", levels)
    assert code == 2
    assert "row 2, column place_id" in err
    assert ew.World.load(world).place_index["p0"] == 0


def test_steps_that_cannot_be_travelled_are_smoothed_if_wished(elsewhere: Command, folder: Path) -> None:
    """The paper: "If there are infeasible aspects in a trajectory, smoothing operations can be performed"."""
    world = ew.World.load(folder / "w.world")
    lines = ["u1,2024-03-07T08:00:00,p0", "u1,2024-03-07T08:10:00,p11", "u2,2024-03-07T08:00:00,p0"]
    (folder / "days.csv").write_text("uid,datetime,place_id\n" + "\n".join(lines) + "\n")
    options = ("-w", folder / "w.world", "-e", "5", "--json", *_SMALL)
    code, shown, err = elsewhere("perturb", folder / "days.csv", *options, "-o", folder / "a.csv", "--smooth")
    assert code == 0, err
    counts = json.loads(shown)["private_counts_for_this_device_only"]
    assert counts[SHIFTED] == 1
    assert not counts.get("steps too far for their time")
    _, shown, _ = elsewhere("perturb", folder / "days.csv", *options, "-o", folder / "b.csv")
    counts = json.loads(shown)["private_counts_for_this_device_only"]
    assert counts["steps too far for their time"] == 1
    strict = (*options, "-o", folder / "c.csv", "--strict")
    code, _, err = elsewhere("perturb", folder / "days.csv", *strict)
    assert (code, "trajectory 1: steps too far for their time (1)" in err) == (2, True)
    assert elsewhere("perturb", folder / "days.csv", *strict, "--smooth")[0] == 0  # what is shared fits
    for day in (ew.Trajectory([("p0", 3), ("p0", 50)]), ew.Trajectory([("who", 0), ("p1", 1)])):
        assert smoothed(day, world) == day
    shifted = smoothed(ew.Trajectory([("p0", 48), ("p11", 49)]), world)
    assert [visit.place_id for visit in shifted] == ["p0", "p11"]
    assert not list(irregularities(shifted, world))


def test_a_file_that_says_no_epsilon_is_told_so_once(elsewhere: Command, folder: Path) -> None:
    (folder / "none.csv").write_text("uid,datetime,place_id\na,2024-03-07T08:00:00,p1\n")
    options = ("-w", folder / "w.world", "-e", "own", "-o", folder / "o.csv")
    code, _, err = elsewhere("perturb", folder / "none.csv", *options)
    assert (code, "column epsilon missing; the file has uid" in err) == (2, True), err


def test_without_an_epsilon_the_message_says_how_to_give_one(elsewhere: Command, folder: Path) -> None:
    given = ("perturb", folder / "days.csv", "-w", folder / "w.world", "-o", folder / "o.csv")
    code, _, err = elsewhere(*given)
    assert (code, "is missing: give ε as in -e 5" in err) == (2, True), err
    code, _, err = elsewhere(*given, "-e", "5", "--epsilon-per-draw", "1")
    assert (code, "does not go with --epsilon-per-draw" in err) == (2, True), err
