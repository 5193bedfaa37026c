"""Public counts as further data: counters, ticket gates, a census.

Who takes part in a survey is not who lives in a city. Where the truth of some things is known, days are
weighed anew until the population agrees, as little as it takes: raking, by the same tilt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from elsewhere.arrays import Floats
from elsewhere.errors import InputError
from elsewhere.estimates.support import Support, features, incidence
from elsewhere.estimates.tilt import Datum, Tilt
from elsewhere.inputs.columns import Columns, number
from elsewhere.survey.survey import Survey

_DEVIATIONS = 1.96
_TAU = 1.0
_STEPS = 40


_not_negative = partial(number, low=0.0, high=1e15, allowed="must be 0 or more")


@dataclass(frozen=True, slots=True, kw_only=True)
class Margin:
    """How many people have a thing, give or take."""

    question: str
    thing: int
    share: float
    """People per person."""
    error: float
    """Half the length of its 95 % interval, per person."""


def read_margins(path: str | Path, survey: Survey) -> list[Margin]:
    """Margins of a table: ``question, thing, count, error`` and, if counts are not per person, ``people``.

    ``thing`` is the number of a row in that question's table of results.
    """
    columns = Columns(Path(path), required=["question", "thing", "count", "error"])
    names = columns.text("question")
    things = columns.parse("thing", _not_negative, 0.0)
    counts, errors = (columns.parse(name, _not_negative, 0.0) for name in ("count", "error"))
    people = columns.parse("people", _not_negative, 1.0) if "people" in columns else [1.0] * columns.count
    found = []
    for row, (name, thing, count, error, all_people) in enumerate(
        zip(names, things, counts, errors, people, strict=True)
    ):
        if name not in survey.names:
            columns.complain(row, "question", f"found {name!r}, must be one of {', '.join(survey.names)}")
            continue
        most = survey.questions[survey.names.index(name)].things.count
        if thing != int(thing) or not 0 <= thing < most:
            columns.complain(row, "thing", f"must be a whole number, 0 to {most - 1:,}")
        elif all_people <= 0 or not 0 <= count <= all_people:
            columns.complain(row, "count", "must be 0 or more, and no more than the people")
        elif error <= 0:
            columns.complain(row, "error", "must be above 0")
        else:
            share, give_or_take = count / all_people, error / all_people
            found.append(Margin(question=name, thing=int(thing), share=share, error=give_or_take))
    columns.finish()
    if not found:
        raise InputError(str(path), "holds no margin")
    return found


def raked(survey: Survey, support: Support, weights: Floats, margins: Sequence[Margin]) -> Floats:
    """Weights that agree with margins, as near to those before as can be."""
    asked, data = [], []
    for name in dict.fromkeys(margin.question for margin in margins):
        things = survey.questions[survey.names.index(name)].things
        found = things.of(support.days)
        asked.append((things, found))
        mine = [margin for margin in margins if margin.question == name]
        whole = sp.csr_array(incidence(found, things.count).T)
        data.append(
            Datum(
                told=sp.csr_array(whole[[margin.thing for margin in mine]]),
                value=np.array([margin.share for margin in mine]),
                variance=np.array([(margin.error / _DEVIATIONS) ** 2 for margin in mine]),
            )
        )
    tilt = Tilt(np.maximum(weights, 1e-12), features(asked))
    return tilt.solve(data, _TAU, np.zeros(tilt.features), _STEPS)[1]
