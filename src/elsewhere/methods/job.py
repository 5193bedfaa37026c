"""Perturb a whole file: in batches, in bounded memory, and never twice.

Finished batches are kept beside the output until all are done. A job that was stopped goes on after
the last of them; what was written stays as it is, since drawing noise again would spend ε again (R9).
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

from elsewhere.errors import Fault, InputError
from elsewhere.io.files import refuse_to_replace, whole_file, write_text
from elsewhere.io.matching import Matcher, Person, people_of
from elsewhere.io.points import read_points
from elsewhere.io.shared_tables import check_suffix, shared_frame, write_shared
from elsewhere.knowledge.travel import is_reachable
from elsewhere.methods.ngram import Ngram
from elsewhere.randomness import Randomness, SeededRandomness, SystemRandomness
from elsewhere.trajectories import Trajectory
from elsewhere.world.world import World

BATCH = 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class JobResult:
    """What a job has done, all of it or with what earlier runs had finished."""

    trajectories: int
    counts: dict[str, int]
    metadata: dict[str, Any]


def perturb_file(
    source: Path,
    output: Path,
    method: Ngram,
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
    if output.exists():
        raise InputError(
            str(output), "is there already: sharing again would spend ε again, so it stays as it is"
        )
    world = method.world
    if is_strict:
        _refuse_faults(source, world)
    randomness: Randomness = SystemRandomness() if seed is None else SeededRandomness(seed)
    metadata = _metadata(method, version, seed)
    folder = _job_folder(output, {**metadata, "input": _digest(source)})
    done = sorted(folder.glob("part-*.parquet"))
    total = len(done) * BATCH
    progress(total)
    matcher = Matcher(world.places, world.clock, randomness.stream(0))
    people = people_of(read_points(source, world.clock), matcher, source)
    for _ in islice(people, total):
        pass  # what an earlier run has finished
    matcher.counts.clear()
    while batch := list(islice(people, BATCH)):
        stream = randomness.stream(1 + len(done))
        done.append(_share_part(folder, len(done), batch, method, matcher, workers, stream))
        total += len(batch)
        progress(total)
    if not done:
        shutil.rmtree(folder)
        raise InputError(str(source), "holds no trajectory")
    counts = _all_counts(done)
    metadata["trajectories"] = counts.pop("trajectories")
    write_shared(output, done, metadata)
    shutil.rmtree(folder)
    return JobResult(trajectories=metadata["trajectories"], counts=dict(counts), metadata=metadata)


def _share_part(
    folder: Path,
    number: int,
    people: list[Person],
    method: Ngram,
    matcher: Matcher,
    workers: int,
    randomness: Randomness,
) -> Path:
    """Perturb one batch and keep it, first what is to be said of it, then the batch itself."""
    trajectories = [person.trajectory for person in people]
    batch = method.share_batch(trajectories, workers=workers, randomness=randomness)
    counts = Counter({"trajectories": len(people), "visits": sum(map(len, trajectories))})
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


def _refuse_faults(source: Path, world: World) -> None:
    """With --strict: name every trajectory that does not fit the world, by its number only."""
    matcher = Matcher(world.places, world.clock, SystemRandomness())
    faults = []
    for number, person in enumerate(people_of(read_points(source, world.clock), matcher, source), start=1):
        found = Counter(irregularities(person.trajectory, world)) + matcher.counts
        matcher.counts.clear()
        found.pop("points matched to a place", None)
        if found:
            problems = ", ".join(f"{what} ({count})" for what, count in sorted(found.items()))
            faults.append(Fault(problem=f"trajectory {number}: {problems}"))
    if faults:
        raise InputError(str(source), faults)


def _metadata(method: Ngram, version: str, seed: int | None) -> dict[str, Any]:
    """What a reader of the output must know, and nothing that depends on what was true."""
    return {
        **method.describe(),
        "world": method.world.hash,
        "randomness": "system" if seed is None else f"seeded ({seed}): NOT private, for experiments only",
        "elsewhere": version,
    }


def _digest(source: Path) -> str:
    """Tells one input from another; stays on the device, since anyone could check a guess against it."""
    digest = hashlib.sha256()
    try:
        with source.open("rb") as file:
            while chunk := file.read(1 << 20):
                digest.update(chunk)
    except OSError as error:
        raise InputError(str(source), f"cannot be read: {error.strerror}") from None
    return digest.hexdigest()


def _job_folder(output: Path, job_facts: dict[str, Any]) -> Path:
    """Where finished batches wait; a folder of another job is refused."""
    folder = output.with_name(f"{output.name}.partial")
    job = json.dumps(job_facts, sort_keys=True, ensure_ascii=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(str(output), f"cannot be written: {error.strerror}") from None
    if (folder / "job.json").exists():
        if (folder / "job.json").read_text(encoding="utf-8") != job:
            raise InputError(str(folder), "belongs to another job: finish that one, or remove the folder")
    else:
        write_text(folder / "job.json", job)
    return folder


def _all_counts(parts: list[Path]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for part in parts:
        counts.update(json.loads(part.with_suffix(".json").read_text(encoding="utf-8")))
    return counts
