"""Columns of a table as text, with every complaint about them collected and told at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TypeVar

import polars as pl

from elsewhere.errors import Fault, InputError

T = TypeVar("T")

_FIRST_DATA_ROW = 2
NO = frozenset({"", "0", "false", "no", "n"})
"""Ways to write no."""


class Columns:
    """A CSV or Parquet file as columns of text; parse them, then `finish` to hear of all faults."""

    def __init__(self, path: Path, *, required: Sequence[str]) -> None:
        self.source = str(path)
        self.faults: list[Fault] = []
        frame = _read_text_frame(path)
        self.names = [name.strip() for name in frame.columns]
        frame.columns = _distinct(self.names, self.source)
        missing = [name for name in required if name not in self.names]
        if missing:
            raise InputError(self.source, _missing_columns(missing, self.names))
        # Blank lines are passed over, but rows keep the numbers they have in the file.
        is_blank = frame.select(pl.all_horizontal(pl.all().fill_null("").str.strip_chars() == "")).to_series()
        self._frame = frame.filter(~is_blank)
        self._rows = [row + _FIRST_DATA_ROW for row, blank in enumerate(is_blank.to_list()) if not blank]
        self.count = self._frame.height

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def text(self, name: str) -> list[str]:
        """Values of a column without surrounding blanks; empty strings where there is no such column."""
        if name not in self.names:
            return [""] * self.count
        return [value.strip() for value in self._frame[name].fill_null("").to_list()]

    def parse(
        self, name: str, parser: Callable[[str], T], default: T, is_wanted: Sequence[bool] | None = None
    ) -> list[T]:
        """Values of a column through ``parser``; its ValueErrors become faults and give ``default``.

        Rows that are not wanted give ``default`` unseen. Equal texts are parsed once.
        """
        outcomes: dict[str, tuple[T, str]] = {}
        values = []
        for row, text in enumerate(self.text(name)):
            if is_wanted is not None and not is_wanted[row]:
                values.append(default)
                continue
            if text not in outcomes:
                try:
                    outcomes[text] = (parser(text), "")
                except ValueError as error:
                    outcomes[text] = (default, str(error))
            value, problem = outcomes[text]
            if problem:
                self.complain(row, name, problem)
            values.append(value)
        return values

    def complain(self, row: int, column: str | None, problem: str) -> None:
        """Note a fault; ``row`` counts data rows from 0."""
        self.faults.append(Fault(row=self._rows[row], column=column, problem=problem))

    def unique_ids(self, name: str) -> list[str]:
        """Identifiers that must be there and must differ."""
        ids = self.text(name)
        first_rows: dict[str, int] = {}
        for row, value in enumerate(ids):
            if not value:
                self.complain(row, name, "is empty, every row needs an id of its own")
            elif not value.isprintable():
                self.complain(row, name, f"found {value!r}, an id must be printable text")
            elif value in first_rows:
                first = self._rows[first_rows[value]]
                self.complain(row, name, f"found {value!r} again, row {first} has it already")
            else:
                first_rows[value] = row
        return ids

    def finish(self) -> None:
        """Raise all faults, in the order of the file."""
        if self.faults:
            raise InputError(self.source, sorted(self.faults, key=lambda fault: fault.row or 0))


def _read_text_frame(path: Path) -> pl.DataFrame:
    if path.is_dir():
        raise InputError(str(path), "is a folder, not a table")
    try:
        if path.suffix == ".parquet":
            frame = pl.read_parquet(path)
            return frame.with_columns(pl.all().cast(pl.String, strict=False))
        return pl.read_csv(path, infer_schema=False)
    except FileNotFoundError:
        raise InputError(str(path), "no such file") from None
    except pl.exceptions.NoDataError:
        raise InputError(str(path), "the file is empty") from None
    except (OSError, pl.exceptions.PolarsError) as error:
        raise InputError(str(path), f"cannot be read as a table: {_reason(str(error))}") from None


def _reason(error: str) -> str:
    """What went wrong, in our words where we know it."""
    first = error.strip().splitlines()[0]
    if "utf-8" in first.lower() or "utf8" in first.lower():
        return "it is not UTF-8 text; save it as UTF-8"
    if "more fields" in first:
        return "a row has more fields than the header; quote fields that hold commas"
    return first.replace("\0", "")


def _distinct(names: list[str], source: str) -> list[str]:
    twice = [name for name in names if name.endswith("_duplicated_0")]
    if twice:
        raise InputError(source, f"column {twice[0].removesuffix('_duplicated_0')} is there twice")
    return names


def _missing_columns(missing: list[str], names: list[str]) -> str:
    has = ", ".join(names) or "none"
    hints = [
        f"did you mean {near[0]!r} for {name!r}?"
        for name in missing
        if (near := get_close_matches(name, [n.lower() for n in names], n=1, cutoff=0.7))
    ]
    if len(names) == 1 and any(mark in names[0] for mark in ";\t"):
        hints = ["fields must be separated by commas"]
    return "; ".join([f"column {', '.join(missing)} missing; the file has {has}", *hints])


def number(text: str, *, low: float, high: float, allowed: str) -> float:
    """A number within bounds, or a ValueError that says what is allowed."""
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"found {text!r}, must be a number") from None
    if not low <= value <= high:
        raise ValueError(f"found {text!r}, {allowed}")
    return value


def flag(text: str) -> bool:
    """Yes or no, in the ways people write it; blank is no."""
    lowered = text.lower()
    if lowered in NO:
        return False
    if lowered in {"1", "true", "yes", "y"}:
        return True
    raise ValueError(f"found {text!r}, must be yes or no (or true/false, 1/0, blank)")
