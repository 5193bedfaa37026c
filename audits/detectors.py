"""All that looks for a leak, run on one method: honest ones pass, broken ones are caught."""

from __future__ import annotations

from itertools import islice
from multiprocessing import get_context

from elsewhere.audit.agreement import agreement, depends_on_the_draws_alone
from elsewhere.audit.channel import Loss, all_trajectories, largest_loss
from elsewhere.mechanism.budget import total
from elsewhere.methods.sharing import Sharing
from elsewhere.randomness import SeededRandomness
from elsewhere.trajectories import Trajectory

LENGTH = 3
_SURE = 1e-6


def exact_loss(method: Sharing, length: int = LENGTH) -> Loss:
    """The exact channel over all days of ``length`` visits; over all up to it if the length is hidden."""
    lengths = range(1, length + 1) if method.hidden is not None else [length]
    days = (day for size in lengths for day in all_trajectories(method.world, size))
    return largest_loss(method, [method.core.secret(day) for day in days])


def detect(method: Sharing, claimed: float, *, samples: int = 20_000, seed: int = 1) -> dict[str, str]:
    """Every check that objects, with what it says."""
    first, second = _two_days(method)
    objections = {}
    loss = float(exact_loss(method).epsilon)
    if loss > claimed + 1e-12:
        objections["exact channel"] = f"spends {loss:.3g} for {claimed:g}"
    declared = float(total(method.draws_for(LENGTH)))
    if declared > claimed:
        objections["budget"] = f"declares {declared:.3g} for {claimed:g}"
    chance = min(agreement(method, day, samples, SeededRandomness(seed)) for day in (first, second))
    if chance < _SURE:
        objections["real draws"] = f"not those listed (p = {chance:.0e})"
    if not depends_on_the_draws_alone(method, first, second):
        objections["same draws"] = "give other days when something else was true"
    if workers_repeat(method, first):
        objections["forked workers"] = "make the same days"
    return objections


def _two_days(method: Sharing) -> tuple[Trajectory, Trajectory]:
    """Two days that the draws can tell apart, far from each other in time where possible."""
    days = list(islice(all_trajectories(method.world, LENGTH, unknown=False), 100_000))
    first = days[len(days) // 7]
    secrets = {method.core.secret(day): day for day in days}
    other = max(secrets, key=lambda secret: sum(map(_differ, secret, method.core.secret(first))))
    return first, secrets[other]


def _differ(a: int, b: int) -> int:
    return abs(a - b)


def workers_repeat(method: Sharing, day: Trajectory, workers: int = 3, days: int = 16) -> bool:
    """Whether forked processes, who should have nothing in common, share the same."""
    context = get_context("fork")
    queue = context.Queue()

    def work() -> None:
        queue.put([tuple(method.share(day)[0].visits) for _ in range(days)])

    started = [context.Process(target=work) for _ in range(workers)]
    for process in started:
        process.start()
    made = [tuple(queue.get()) for _ in started]
    for process in started:
        process.join()
    return len(set(made)) < len(made)
