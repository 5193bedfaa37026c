"""Adding up surveys of several cities: each has its own world, and asks the people who live there."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import polars as pl

from elsewhere.errors import InputError
from elsewhere.estimates.counts import variance
from elsewhere.estimates.estimate import Estimated, Estimates

_SURE = 1.959964
_NUMBERS = ("count", "estimate", "low", "high", "reports")


def add_up(parts: Sequence[tuple[Estimates, float]], question: str) -> pl.DataFrame:
    """How many people have each thing in all cities together.

    Each city counts with the people it speaks for. Its noise counts with their square: variances add up as
    Σ N² v / n. Bounds come from the unbiased counts, because what is smoothed may be off the same way
    everywhere; an estimate that adds up to more or less than they allow is taken back to them. They hold for
    days of at most k things: give questions a ``k`` that no day exceeds.

    Parameters
    ----------
    parts
        What was estimated in each city, and how many people live there. Whom a survey asks must be public,
        such as where a person is registered: a report names its survey.
    question
        The name of a question that all of them asked. Things are the same if they are called the same.

    Returns
    -------
    pl.DataFrame
        A row for each thing: what it is, and people: count (unbiased), estimate, low and high (95 %), and the
        reports of the cities that could tell of it.

    Raises
    ------
    InputError
        If a city did not ask the question, or things of two cities are of different kinds.

    Examples
    --------
    >>> found = ew.estimate(survey, "reports.parquet")
    >>> ew.add_up([(found, 650_000)], "presence").columns[-5:]
    ['count', 'estimate', 'low', 'high', 'reports']
    """
    if not parts:
        raise InputError("parts", "must name at least one city")
    if not all(0 < people < math.inf for _, people in parts):
        raise InputError("people", "must be a number above 0 for every city")
    frames = [_in_people(_asked(found, question), people) for found, people in parts]
    names = frames[0].columns
    if any(frame.columns != names for frame in frames):
        raise InputError(question, "is about things of different kinds: they cannot be added up")
    keys = names[: -len(_NUMBERS) + 1]
    together = pl.concat(frames).group_by(keys, maintain_order=True).sum()
    half = _SURE * pl.col("variance").sqrt()
    low, high = (pl.col("count") - half).clip(lower_bound=0), (pl.col("count") + half).clip(lower_bound=0)
    estimate = pl.col("estimate").clip(low, high)
    return together.select(*keys, "count", estimate, low.alias("low"), high.alias("high"), "reports")


def _asked(found: Estimates, question: str) -> Estimated:
    one = next((one for one in found.questions if one.name == question), None)
    if one is None:
        names = ", ".join(other.name for other in found.questions)
        raise InputError("question", f"found {question!r}, must be asked in every city; here are {names}")
    return one


def _in_people(one: Estimated, people: float) -> pl.DataFrame:
    """The table of a city in people in place of shares, with the variance of its counts."""
    frame = one.frame()
    shares = frame["count"].to_numpy()
    noise = variance(one.question.channel, shares, np.full(len(shares), one.reports, dtype=np.int64))
    keys = [name for name in frame.columns if name not in {"thing", *_NUMBERS}]
    return frame.select(
        *keys,
        pl.col("count") * people,
        pl.col("estimate") * people,
        pl.Series("variance", noise * people**2),
        pl.col("reports"),
    )
