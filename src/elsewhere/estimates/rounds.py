"""A second round of a survey: it starts from the population that the first one found.

A population is made of reports and public knowledge alone, so a later round may believe it as it would a
public prior: nobody's ε is spent on that.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from elsewhere.days.visits import Days
from elsewhere.errors import InputError
from elsewhere.estimates.population import Population
from elsewhere.estimates.population_frames import read_population
from elsewhere.estimates.support import PRIOR_DAYS
from elsewhere.randomness import seeded_generator
from elsewhere.survey.file import survey_hash
from elsewhere.survey.survey import Survey, ready_question
from elsewhere.survey.toml import create_survey

_SEED = 2022


def next_survey(survey: Survey, results: Path, source: Path | None = None) -> Survey:
    """The next round, with the same questions and terms, or with those of another `survey.toml`."""
    found = _summary(results).get("survey")
    if found != survey_hash(survey):
        raise InputError(str(results), f"has results of survey {str(found)[:12]}, not of this one")
    believed = believed_days(read_population(results / "population.parquet", survey.world))
    if source is None:
        return asked_again(survey, believed)
    other = create_survey(source, believed=believed)
    if other.world != survey.world:
        raise InputError(str(source), "is on another world: a next round needs the same one")
    return other


def found_nothing(results: Path) -> bool:
    """Whether the population of a folder of results is the public prior itself."""
    return _summary(results).get("is_prior") is True


def _summary(results: Path) -> dict[str, Any]:
    try:
        found = json.loads((results / "summary.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        found = None
    if not isinstance(found, dict):
        raise InputError(str(results), "no folder of results: `elsewhere survey estimate` makes one")
    return found


def asked_again(survey: Survey, believed: Days) -> Survey:
    """The same questions on the same terms; how many things of a day are kept is worked out anew."""
    world, terms = survey.world, survey.terms
    questions = []
    for one in survey.questions:
        kept = one.record.kept_of(world, one.things, terms.epsilon, believed)
        questions.append(ready_question(world, terms, one.record, one.share, one.public, kept))
    return Survey(world=world, terms=terms, questions=tuple(questions), believed=believed)


def believed_days(population: Population, count: int = PRIOR_DAYS) -> Days:
    """A population as days that weigh the same: what a survey's file carries."""
    return population.resampled(count, seeded_generator(_SEED)).days
