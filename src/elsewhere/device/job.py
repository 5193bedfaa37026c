"""Perturb a whole file: in batches, in bounded memory, and never twice.

Finished batches are kept beside the output until all are done. A job that was stopped goes on after
the last of them; what was written stays as it is, since drawing noise again would spend ε again (R9).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from pathlib import Path

from elsewhere.device.job_folder import JobFolder
from elsewhere.device.matching import Matcher, Person, people_of
from elsewhere.device.points import read_points
from elsewhere.device.shared_file import SharedMetadata, check_suffix, shared_frame, write_shared
from elsewhere.errors import Fault, InputError
from elsewhere.files import refuse_to_replace, whole_file, write_text
from elsewhere.knowledge.travel import is_reachable
from elsewhere.methods.sharing import Sharing
from elsewhere.randomness import Randomness, SeededRandomness, SystemRandomness
from elsewhere.trajectories import Trajectory
from elsewhere.world.world import World

BATCH = 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class JobResult:
    """What a job has done, all of it or with what earlier runs had finished."""

    counts: dict[str, int]
    metadata: SharedMetadata


def perturb_file(
    source: Path,
    output: Path,
    method: Sharing,
    *,
    version: str,
    workers: int = 1,
    seed: int | None = None,
    is_strict: bool = False,
    progress: Callable[[int], None] = lambda _done: None,
) -> JobResult:
    """Perturb every trajectory of ``source`` into ``output``, going on where an earlier run stopped."""
    check_suffix(output)
    refuse_to_replace(output, [source])
    _refuse_existing(output)
    world = method.world
    _check_source(source, method, is_strict=is_strict)
    randomness: Randomness = SystemRandomness() if seed is None else SeededRandomness(seed)
    metadata = SharedMetadata(method=method.facts(), world=world.hash, version=version, seed=seed)
    with JobFolder(output, {**metadata.as_json(), "batch": BATCH}, source) as folder:
        _refuse_existing(output)  # another run may have finished while this one was getting ready
        done = folder.finished_parts()
        total = len(done) * BATCH
        progress(total)
        matcher = Matcher(world.places, world.clock, randomness.stream(0))
        people = people_of(read_points(source, world.clock), matcher, source)
        for _ in islice(people, total):
            pass  # what an earlier run has finished
        matcher.counts.clear()
        while batch := list(islice(people, BATCH)):
            stream = randomness.stream(1 + len(done))
            done.append(_share_part(folder.path, len(done), batch, method, matcher, workers, stream))
            total += len(batch)
            progress(total)
        counts = _all_counts(done)
        metadata = replace(metadata, trajectories=counts.pop("trajectories"))
        write_shared(output, done, metadata)
        folder.remove()
    return JobResult(counts=dict(counts), metadata=metadata)


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
    people: list[Person],
    method: Sharing,
    matcher: Matcher,
    workers: int,
    randomness: Randomness,
) -> Path:
    """Perturb one batch and keep it, first what is to be said of it, then the batch itself."""
    trajectories = [person.trajectory for person in people]
    batch = method.share_batch(trajectories, workers=workers, randomness=randomness)
    counts = Counter({"trajectories": len(people)})
    if not method.hides_length:
        counts["visits"] = sum(map(len, trajectories))
    counts["shared visits"] = sum(map(len, batch.shared))
    counts.update(batch.counts)
    counts.update(matcher.counts)
    for trajectory in trajectories:
        counts.update(irregularities(trajectory, method.world))
    matcher.counts.clear()
    write_text(folder / f"part-{number:06d}.json", json.dumps(counts))
    part = folder / f"part-{number:06d}.parquet"
    with whole_file(part) as file:
        shared_frame(people, batch.shared, method.world.places, method.world.clock).write_parquet(file)
    return part


def irregularities(trajectory: Trajectory, world: World) -> Iterator[str]:
    """What in a trajectory does not fit the world; it is projected, never refused (R10)."""
    rows = [world.place_index.get(visit.place_id, -1) for visit in trajectory]
    steps = [min(visit.timestep, world.clock.timesteps - 1) for visit in trajectory]
    for row, step in zip(rows, steps, strict=True):
        if row < 0:
            yield "visits to unknown places"
        elif not world.is_open[row, step]:
            yield "visits to closed places"
    for (origin, departure), (destination, arrival) in pairwise(zip(rows, steps, strict=True)):
        if (
            origin >= 0
            and destination >= 0
            and not is_reachable(
                world.travel,
                world.clock,
                origin=origin,
                departure=departure,
                destination=destination,
                arrival=arrival,
            )
        ):
            yield "steps too far for their time"


def _check_source(source: Path, method: Sharing, *, is_strict: bool) -> None:
    """Read the whole file once, so that whatever is wrong with it shows before the first draw.

    With ``is_strict``, every trajectory that does not fit the world is named, by its number only.
    """
    world = method.world
    matcher = Matcher(world.places, world.clock, SystemRandomness())
    faults = []
    lengths = set()
    for number, person in enumerate(people_of(read_points(source, world.clock), matcher, source), start=1):
        lengths.add(len(person.trajectory))
        if is_strict:
            found = Counter(irregularities(person.trajectory, world)) + matcher.counts
            found.pop("points matched to a place", None)
            problems = ", ".join(f"{what} ({count})" for what, count in sorted(found.items()))
            faults += [Fault(problem=f"trajectory {number}: {problems}")] if problems else []
        matcher.counts.clear()
    if not lengths:
        raise InputError(str(source), "holds no trajectory")
    if faults:
        raise InputError(str(source), faults)
    for length in sorted(lengths):
        method.prepare(length)


def _all_counts(parts: list[Path]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for part in parts:
        counts.update(json.loads(part.with_suffix(".json").read_text(encoding="utf-8")))
    return counts
