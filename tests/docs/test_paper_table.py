"""The paper as a list of 108 things: each is somewhere, and exact, a stated deviation, or another result."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/reference/paper.md"
ROW = re.compile(r"^\| (\d+) \| (.+) \| (`[^|]+`) \| ([^|]+) \|$", re.MULTILINE)
EXACT, OTHER = "exact", "[other result][r]"


def _rows() -> list[tuple[str, str, str, str]]:
    return [match.groups() for match in ROW.finditer(PAGE.read_text(encoding="utf-8"))]  # type: ignore[misc]


def _headings() -> set[str]:
    text = (ROOT / "docs/reference/deviations.md").read_text(encoding="utf-8")
    return set(re.findall(r"^## ([a-z0-9-]+)$", text, re.MULTILINE))


def _resolves(name: str) -> bool:
    """Whether a dotted name is a module of the package, or something in one."""
    parts = name.split(".")
    for split in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(["elsewhere", *parts[:split]]))
        except ModuleNotFoundError:
            continue
        for part in parts[split:]:
            found = getattr(found, part, None)
        return found is not None
    return False


def test_there_are_108_rows_and_no_line_that_is_none() -> None:
    assert [int(number) for number, *_ in _rows()] == list(range(1, 109))
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if re.match(r"\| \d", line)]
    assert len(lines) == 108


@pytest.mark.parametrize("row", _rows(), ids=lambda row: row[0])
def test_every_thing_is_where_the_table_says(row: tuple[str, str, str, str]) -> None:
    for name in re.findall(r"`([^`]+)`", row[2]):
        assert (ROOT / name).is_file() if "/" in name else _resolves(name), name


def test_names_that_are_nothing_do_not_resolve() -> None:
    assert _resolves("mechanism.budget.total")
    assert _resolves("methods.ngram.Ngram.rebuild")
    assert not _resolves("mechanism.budget.nothing")
    assert not _resolves("nowhere.at_all")


def test_everything_is_exact_or_a_stated_deviation_or_another_result() -> None:
    found = {how.strip() for *_, how in _rows()}
    assert found - {EXACT, OTHER} == _headings()
