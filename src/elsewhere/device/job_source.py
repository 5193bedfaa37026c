"""What a file of true days holds, looked at before the first draw: whatever is wrong with it shows then."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from elsewhere.device.day_columns import DayMatcher, people_in_columns
from elsewhere.device.job_counts import irregularities
from elsewhere.device.matching import Matcher, people_of
from elsewhere.device.other_city import FAR_SHARE, OTHER_CITY
from elsewhere.device.own_epsilon import AnyMethod, OwnEpsilon, epsilon_fault, epsilons_of
from elsewhere.device.owner import is_own
from elsewhere.device.point_columns import read_point_columns
from elsewhere.device.points import check_has_epsilons, read_points
from elsewhere.device.smooth import smoothed_people
from elsewhere.device.tally import DaysOfPeople
from elsewhere.errors import Fault, InputError
from elsewhere.methods.sharing import Sharing
from elsewhere.randomness import SystemRandomness


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFacts:
    """What a file holds, as far as that is public."""

    most_epsilon: Fraction
    """What the dearest day costs."""
    days: int
    """How many there are, of all people."""
    most_days: int
    own: set[str]
    """Uids of people's own devices among its rows."""
    has_others: bool


def check_source(
    source: Path, method: AnyMethod, *, is_strict: bool, is_anyway: bool, is_smooth: bool
) -> SourceFacts:
    """Read the whole file once, so that whatever is wrong with it shows before the first draw."""
    if isinstance(method, OwnEpsilon):
        check_has_epsilons(source)
    world, matcher, tally = method.world, DayMatcher(method.world), DaysOfPeople()
    own, has_others, is_faulty, number = set[str](), False, False, 0
    wanted: set[tuple[Sharing, int]] = set()
    points = read_point_columns(source, world.clock)
    for people in people_in_columns(points, matcher, str(source), lambda *_: SystemRandomness(), tally):
        lengths = people.days.lengths.tolist()
        if isinstance(method, OwnEpsilon):
            every = epsilons_of(people)
            is_faulty |= every is None
            pairs = set(zip(every or [], lengths, strict=False))
            wanted |= {(method.of(epsilon), length) for epsilon, length in pairs}
        else:
            wanted |= {(method, length) for length in set(lengths)}
        number += len(people)
        uids = set(people.uids.unique().to_list())
        mine = set(filter(is_own, uids))
        own |= mine
        has_others |= mine != uids
    if is_strict or is_faulty:
        _refuse_faults(source, method, is_strict=is_strict, is_smooth=is_smooth)
    if not wanted:
        raise InputError(str(source), "holds no trajectory")
    if matcher.far_points > FAR_SHARE * matcher.points and not is_anyway:
        raise InputError(str(source), OTHER_CITY)
    for one, length in sorted(wanted, key=lambda pair: pair[1]):
        one.prepare(length)
    return SourceFacts(
        most_epsilon=max(one.facts().epsilon or one.spent_on(length) for one, length in wanted),
        days=number,
        most_days=tally.most,
        own=own,
        has_others=has_others,
    )


def _refuse_faults(source: Path, method: AnyMethod, *, is_strict: bool, is_smooth: bool) -> None:
    """Day by day: every ε that cannot be read, and if strict every trajectory that does not fit the world.

    Trajectories are named by their number only. If smooth, they are looked at once their times were shifted.
    """
    world, faults = method.world, []
    matcher = Matcher(world.places, world.clock, SystemRandomness())
    people = people_of(read_points(source, world.clock), matcher, source)
    if is_strict and is_smooth:
        people = smoothed_people(people, world, Counter())
    for number, person in enumerate(people, start=1):
        fault = epsilon_fault(person) if isinstance(method, OwnEpsilon) else None
        faults += [fault] if fault else []
        if is_strict:
            found = Counter(irregularities(person.trajectory, world)) + matcher.counts
            found.pop("points matched to a place", None)
            problems = ", ".join(f"{what} ({count})" for what, count in sorted(found.items()))
            faults += [Fault(problem=f"trajectory {number}: {problems}")] if problems else []
        matcher.counts.clear()
    if faults:
        raise InputError(str(source), faults)
