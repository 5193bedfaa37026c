"""Perturb a whole file: in batches, in bounded memory, and never twice.

Finished batches are kept beside the output until all are done. A job that was stopped goes on after
the last of them; what was written stays as it is, since drawing noise again would spend ε again (R9).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from pathlib import Path

import polars as pl

from elsewhere.device.ahead import one_ahead
from elsewhere.device.day_columns import DayMatcher, PeopleColumns, in_batches, people_in_columns
from elsewhere.device.job_counts import LONG_DAYS, counts_of
from elsewhere.device.job_folder import JobFolder, counts_file
from elsewhere.device.job_source import SourceFacts, check_source
from elsewhere.device.ledger import Ledger, open_ledger
from elsewhere.device.ledger_file import owner_of, user_ledger
from elsewhere.device.matching import Matcher, people_of
from elsewhere.device.own_epsilon import (
    OWN,
    AnyMethod,
    OwnEpsilon,
    epsilons_of,
    share_all,
)
from elsewhere.device.owner import own_uid
from elsewhere.device.point_columns import read_point_columns
from elsewhere.device.points import read_points
from elsewhere.device.shared_file import (
    Owner,
    check_suffix,
    days_frame,
    write_days,
    write_part,
    write_shared,
)
from elsewhere.device.shared_metadata import SharedMetadata
from elsewhere.device.smooth import SHIFTED, smoothed_days, smoothed_people
from elsewhere.errors import InputError
from elsewhere.files import check_can_write, refuse_to_replace, write_text
from elsewhere.methods.sharing import Sharing
from elsewhere.progress import Progress, no_progress
from elsewhere.randomness import SYSTEM, FreshRandomness, SeededRandomness, SystemRandomness, label_of
from elsewhere.trajectories import in_columns
from elsewhere.world.world import World

BATCH = 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class JobResult:
    """What a job has done, all of it or with what earlier runs had finished."""

    counts: dict[str, int]
    """What depends on what was true: for the screen of this device alone."""
    metadata: SharedMetadata
    ledger: Ledger | None = None
    """Where it was charged, if it was of this device's own days."""

    @property
    def has_long_days(self) -> bool:
        """Whether some true days were cut to the most visits that a shared day can have."""
        return self.counts.get(LONG_DAYS, 0) > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerChoice:
    """Which ledger a person's own days are charged to, and the cap if it is new."""

    path: Path
    cap: str | None = None


def perturb_file(
    source: Path,
    output: Path,
    method: AnyMethod,
    *,
    version: str,
    workers: int = 1,
    seed: int | None = None,
    is_strict: bool = False,
    is_anyway: bool = False,
    is_smooth: bool = False,
    ledger: LedgerChoice | None = None,
    progress: Progress = no_progress,
) -> JobResult:
    """Perturb every person's day of ``source`` into ``output``, going on where an earlier run stopped.

    The days of this device's owner (`elsewhere dataset personal`) are charged to a ledger instead. With
    ``is_smooth``, times of days that cannot be travelled are shifted first (`device.smooth`).
    """
    check_suffix(output)
    refuse_to_replace(output, [source])
    _refuse_existing(output)
    check_can_write(output)
    found = check_source(source, method, is_strict=is_strict, is_anyway=is_anyway, is_smooth=is_smooth)
    randomness: FreshRandomness = SystemRandomness() if seed is None else SeededRandomness(seed)
    metadata = SharedMetadata(
        method=method.facts(), world=method.world.hash, version=version, randomness=label_of(randomness)
    )
    if metadata.is_ldp:
        metadata = replace(metadata, epsilon_of_a_person_at_most=found.most_days * found.most_epsilon)
    metadata = replace(metadata, most_days_of_a_person=found.most_days)
    if found.own:
        if isinstance(method, OwnEpsilon):
            raise InputError(str(source), f"holds your own days: give your ε, not {OWN!r}")
        choice = ledger or LedgerChoice(path=user_ledger())
        return _perturb_own(source, output, method, found, metadata, choice, is_smooth=is_smooth)
    return _perturb_others(
        source,
        output,
        method,
        metadata,
        workers,
        randomness,
        lambda done: progress(done, found.days),
        is_smooth=is_smooth,
    )


def _perturb_others(
    source: Path,
    output: Path,
    method: AnyMethod,
    metadata: SharedMetadata,
    workers: int,
    randomness: FreshRandomness,
    progress: Callable[[int], None],
    *,
    is_smooth: bool,
) -> JobResult:
    """Batch by batch; what is finished waits in a folder beside the output."""
    world = method.world
    facts = {**metadata.as_json(), "batch": BATCH, **({"smooth": True} if is_smooth else {})}
    with JobFolder(output, facts, source) as folder:
        _refuse_existing(output)  # another run may have finished while this one was getting ready
        done = folder.finished_parts()
        _all_counts(done, folder)
        total = len(done) * BATCH
        progress(total)
        matcher = DayMatcher(world)
        points, thinning = read_point_columns(source, world.clock), randomness.stream(0)
        people = people_in_columns(points, matcher, str(source), lambda *_: thinning)
        # What an earlier run has finished is read again, and passed over.
        batches = islice(_with_counts(in_batches(people, BATCH), matcher), len(done), None)
        for batch, matched in one_ahead(batches, workers):
            folder.check_unchanged()
            chosen = _smoothed(batch, world, matched) if is_smooth else batch
            stream = randomness.stream(1 + len(done))
            done.append(_share_part(folder.path, len(done), chosen, method, matched, workers, stream))
            total += len(batch)
            progress(total)
        folder.check_unchanged()
        counts = _all_counts(done, folder)
        metadata = replace(metadata, trajectories=counts.pop("trajectories"))
        write_shared(output, done, metadata)
        folder.remove()
    return JobResult(counts=dict(counts), metadata=metadata)


def _with_counts(
    batches: Iterable[PeopleColumns], matcher: DayMatcher
) -> Iterator[tuple[PeopleColumns, Counter[str]]]:
    """Each batch with what was counted while it was read."""
    for batch in batches:
        counts = matcher.counts.copy()
        matcher.counts.clear()
        yield batch, counts


def _perturb_own(
    source: Path,
    output: Path,
    method: Sharing,
    found: SourceFacts,
    metadata: SharedMetadata,
    choice: LedgerChoice,
    *,
    is_smooth: bool,
) -> JobResult:
    """A person's own days: charged all or none, drawn once, filed under ids that mean nothing."""
    if metadata.randomness != SYSTEM:
        raise InputError("--seed", "is not for your own days: they are shared once, with a ledger")
    _refuse_other_devices(source, found, choice)
    world = method.world
    matcher = Matcher(world.places, world.clock, SystemRandomness())
    read = people_of(read_points(source, world.clock), matcher, source)
    people = list(smoothed_people(read, world, matcher.counts) if is_smooth else read)
    days = {person.date.isoformat(): person.trajectory for person in people}
    needed = sum((method.spent_on(len(day)) for day in days.values()), start=Fraction(0))
    ledger = open_ledger(choice.path, choice.cap, needed)
    reports = list(ledger.reports(days, method).values())
    shared = [report.shared for report in reports]
    used = {report.randomness for report in reports}
    metadata = replace(
        metadata, trajectories=len(people), randomness=SYSTEM if used == {SYSTEM} else ", ".join(sorted(used))
    )
    owners = [
        Owner(report.report_id, report.report_id, person.date)
        for report, person in zip(reports, people, strict=True)
    ]
    write_days(output, owners, shared, world.places, world.clock, metadata)
    true_days = in_columns([person.trajectory for person in people], world.place_index)
    counts = counts_of(true_days, sum(map(len, shared)), method, matcher.counts)
    counts["days that were shared before"] = sum(report.is_again for report in reports)
    return JobResult(counts=dict(counts), metadata=metadata, ledger=ledger)


def _refuse_other_devices(source: Path, found: SourceFacts, choice: LedgerChoice) -> None:
    """Only this device's ledger knows what its owner has spent."""
    problem = ""
    if found.has_others:
        problem = "mixes days of somebody's own device with those of others: perturb them by themselves"
    elif len(found.own) > 1:
        problem = "holds days of several devices: perturb those of each device there"
    elif not choice.path.exists() or found.own != {own_uid(owner_of(choice.path))}:
        problem = "holds days of another device: perturb them there, or name the ledger they were made with"
    if problem:
        raise InputError(str(source), problem)


def _refuse_existing(output: Path) -> None:
    if output.is_dir():
        raise InputError(str(output), "cannot be written: it is a folder")
    if output.exists():
        raise InputError(
            str(output), "is there already: sharing again would spend ε again, so it stays as it is"
        )


def _share_part(
    folder: Path,
    number: int,
    people: PeopleColumns,
    method: AnyMethod,
    matched: Counter[str],
    workers: int,
    randomness: FreshRandomness,
) -> Path:
    """Perturb one batch and keep it, first what is to be said of it, then the batch itself."""
    epsilons = epsilons_of(people) if isinstance(method, OwnEpsilon) else None
    shared, ways = share_all(method, people, epsilons, workers, randomness)
    any_method = method if isinstance(method, Sharing) else method.of((epsilons or [])[0])
    counts = counts_of(people.days, int(shared.lengths.sum()), any_method, matched)
    counts.update({"trajectories": len(people), **ways})
    part = folder / f"part-{number:06d}.parquet"
    write_text(counts_file(part), json.dumps(counts), is_private=True)
    write_part(part, days_frame(people, shared, method.world.places, method.world.clock, epsilons))
    return part


def _smoothed(people: PeopleColumns, world: World, counts: Counter[str]) -> PeopleColumns:
    days, shifted = smoothed_days(people.days, world)
    counts[SHIFTED] += shifted
    return replace(people, days=days)


def _all_counts(parts: list[Path], folder: JobFolder) -> Counter[str]:
    """Counts of all parts; each part must be readable, or going on would be for nothing."""
    counts: Counter[str] = Counter()
    for part in parts:
        try:
            counted = json.loads(counts_file(part).read_text(encoding="utf-8"))
            counts.update({str(what): int(count) for what, count in counted.items()})
            pl.read_parquet(part)
        except (OSError, ValueError, TypeError, AttributeError, pl.exceptions.PolarsError):
            raise folder.damaged() from None
    return counts
