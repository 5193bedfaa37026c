"""From a `survey.toml` to a survey, with every fault named by its key."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

from elsewhere.days.visits import Days
from elsewhere.errors import InputError
from elsewhere.files import read_toml
from elsewhere.mechanism.budget import exact_epsilon
from elsewhere.survey.questions.question import QuestionKind
from elsewhere.survey.questions.registry import question_of
from elsewhere.survey.survey import Period, Survey, Terms, make_survey
from elsewhere.world.world import World

_KEYS = ("world", "epsilon", "days", "period", "least", "day_unit", "purpose", "question")


def create_survey(path: str | Path, *, believed: Days | None = None) -> Survey:
    """Make a survey from a `survey.toml`; paths in it start at its folder.

    Parameters
    ----------
    path
        The file: world, ε, terms and questions.
    believed
        Made-up days to start from in place of the world's prior: the population of an earlier round.

    Returns
    -------
    Survey
        Checked, with all that devices look up worked out.

    Raises
    ------
    InputError
        If anything in it is not allowed; says what is.

    Examples
    --------
    >>> float(ew.create_survey("survey.toml").epsilon)
    5.0
    """
    path = Path(path)
    values = _read(path)
    try:
        asked = _questions(values)
        terms = Terms(
            epsilon=exact_epsilon(values.get("epsilon")),
            period=_period(values.get("period")),
            **{key: values[key] for key in ("days", "least", "day_unit", "purpose") if key in values},
        )
        if not isinstance(values.get("world"), str):
            raise InputError("world", "is missing: the .world file that the survey is about")  # noqa: TRY301
        world = World.load(path.parent / values["world"])
        return make_survey(world, terms, asked, folder=path.parent, believed=believed)
    except InputError as error:
        faults = "; ".join(map(str, error.faults))
        raise InputError(str(path), f"{error.source}: {faults}") from None


def _read(path: Path) -> dict[str, Any]:
    values = read_toml(path)
    unknown = [key for key in values if key not in _KEYS]
    if unknown:
        raise InputError(str(path), f"unknown key {unknown[0]!r}, allowed are {', '.join(_KEYS)}")
    return values


def _questions(values: dict[str, Any]) -> list[tuple[QuestionKind, Fraction]]:
    tables = values.get("question", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise InputError("question", "must be [[question]] tables")
    found = []
    for number, table in enumerate(tables, start=1):
        options = {key: value for key, value in table.items() if key not in ("kind", "share")}
        try:
            share = Fraction(str(table.get("share", 1 if len(tables) == 1 else None)))
        except (ValueError, ZeroDivisionError):
            found_share = table.get("share")
            raise InputError(
                f"question {number}.share", f"found {found_share!r}, must be a number above 0, at most 1"
            ) from None
        found.append((_named(number, lambda: question_of(table.get("kind"), options)), share))  # noqa: B023
    return found


def _named(number: int, make: Callable[[], QuestionKind]) -> QuestionKind:
    """The same faults, with the number of the question."""
    try:
        return make()
    except InputError as error:
        key = error.source.removeprefix("question").removeprefix(".")
        raise InputError(f"question {number}" + (f".{key}" if key else ""), error.faults) from None


def _period(value: Any) -> Period | None:
    if value is None:
        return None
    if not isinstance(value, dict) or set(value) != {"first", "last"}:
        raise InputError("period", "must be { first = 2026-03-01, last = 2026-03-31 }")
    dates = [value[key] for key in ("first", "last")]
    if any(type(date) is not dt.date for date in dates):
        raise InputError("period", "first and last must be dates such as 2026-03-01, without quotes")
    return Period(first=dates[0], last=dates[1])
