"""Made-up reports: how far they can move a number, and when answers cannot all be honest.

Whoever answers a survey can lie, as in any survey. A report counts for at most 1/(p − q) people in the count
of a thing, so what some liars can do to it is known, and is shown beside results. An estimate may move
farther where it leaves the prior. Lies that leave the bounds of every honest population can be seen.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import binom, chisquare

from elsewhere.estimates.counts import unbiased
from elsewhere.estimates.report_tally import QuestionTally
from elsewhere.survey.channels import Channel, SetChannel

_ONE_IN = 1e-6
"""How rarely honest answers look odd, over all things of a question."""
_LEAST = 20
"""Answers in each part, on average, before their seeds are looked at."""


def people_per_fake(channel: Channel) -> float:
    """How many people one made-up report can add to the count of a thing, or take from it, at most."""
    p, q = channel.chances()
    return 1 / (p - q)


def oddities(tally: QuestionTally) -> list[str]:
    """What no honest population could have answered, in words; nothing if all is well.

    Whatever is true, a thing is pointed at with a chance between q and p, and every seed is as likely.
    """
    counts = tally.counts
    p, q = counts.channel.chances()
    pointed, asked = counts.of(None)
    limit = _ONE_IN / (2 * max(len(pointed), 1))
    too_few = np.asarray(binom.cdf(pointed, asked, q)) < limit
    too_many = np.asarray(binom.sf(pointed - 1, asked, p)) < limit
    found = []
    if too_many.any():
        share = unbiased(counts.channel, pointed, asked)[too_many].max()
        found.append(f"{_things(too_many.sum())} counted for up to {share:.2f} people per person, above 1")
    if too_few.any():
        share = unbiased(counts.channel, pointed, asked)[too_few].min()
        found.append(f"{_things(too_few.sum())} counted for {share:.2f} people per person, below 0")
    if _lacks_blanks(tally):
        found.append("hardly any answer is a blank, which some of all honest answers are")
    if _is_uneven(tally):
        found.append("seeds are not spread evenly: many reports were not made by a device of ours")
    return found


def _lacks_blanks(tally: QuestionTally) -> bool:
    """Direct answers name a blank with a chance of k q, or more: whoever has a thing to push never does."""
    channel = tally.counts.channel
    if not isinstance(channel, SetChannel) or channel.tables.is_hashed:
        return False
    pointed, asked = tally.counts.of(None)
    blanks = int(asked.max(initial=0) - pointed.sum())
    return bool(binom.cdf(blanks, asked.max(initial=0), channel.kept * channel.chances()[1]) < _ONE_IN)


def _is_uneven(tally: QuestionTally) -> bool:
    parts = len(tally.seeds)
    if parts < 2 or tally.seeds.sum() < _LEAST * parts:
        return False
    # Parts may differ by one seed of two thousand million: nothing.
    return bool(chisquare(tally.seeds.astype(np.float64)).pvalue < _ONE_IN)


def _things(count: int) -> str:
    return "1 thing is" if count == 1 else f"{count:,} things are"
