"""What a method spends on a world, put together for a person or a machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from elsewhere import __version__
from elsewhere.audit.bounds import DrawLoss, draw_losses
from elsewhere.audit.claims import check_claim
from elsewhere.audit.losses import PAIRS, Losses, sampled_losses
from elsewhere.audit.sampling import LowerBound
from elsewhere.mechanism.budget import Draw
from elsewhere.methods.protocol import MethodFacts
from elsewhere.methods.sharing import Sharing
from elsewhere.progress import Progress, no_progress
from elsewhere.randomness import SystemRandomness


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawLine:
    """Draws of one kind: how many, and what each claims and spends."""

    what: str
    count: int
    epsilon: Fraction
    spent: float
    is_exact: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AuditReport:
    """What is claimed, what is spent, and how that is known."""

    version: str
    facts: MethodFacts
    world: str
    length: int
    claimed: Fraction
    lines: list[DrawLine]
    losses: Losses | None
    black_box: LowerBound | None = None

    @property
    def is_ldp(self) -> bool:
        return self.facts.is_ldp

    @property
    def overspends(self) -> bool:
        """Whether the draws themselves spend more than they claim."""
        return self.spent > float(self.claimed)

    @property
    def is_exact(self) -> bool:
        return all(line.is_exact for line in self.lines)

    @property
    def spent(self) -> float:
        """Sum over all draws: at most this is spent, whatever is true."""
        return _sum(self.lines)

    @property
    def promise(self) -> str:
        days = "any two days"
        if self.facts.length_is_public:
            days += f" of {_visits(self.length)}"
        if not self.is_ldp and not self.overspends:
            return (
                f"No promise: this is {self.facts.promise}. The draws by themselves spend at most "
                f"{self.spent:.4g} of {float(self.claimed):g}."
            )
        if not self.is_ldp:
            return (
                f"No promise: for {days} the chances of a shared day can differ by a factor of up to "
                f"e^{self.spent:.1f}, not e^{float(self.claimed):g}: this is NOT ε-LDP."
            )
        return (
            f"For {days} the chances of sharing any given day differ by a factor of at most "
            f"e^{float(self.claimed):g}: pure ε-local differential privacy with ε = {float(self.claimed):g}."
        )

    @property
    def days(self) -> str:
        """Which days it is about."""
        if self.facts.length_is_public:
            return f"a day of {_visits(self.length)}"
        return f"any day, shared as at most {_visits(self.facts.most_visits)}"

    @property
    def how(self) -> str:
        if self.is_exact:
            ways = "exact for each draw, whatever is true, and added up"
        elif any(line.is_exact for line in self.lines):
            ways = "exact for some draws, the proven bound for others, and added up"
        else:
            ways = "the proven bound for each draw, added up"
        if self.overspends:
            ways += "; that is the ideal mechanism, its sampling in floating point has no finite ε at all"
        if self.facts.length_epsilon is None:
            return ways
        return f"{ways}; the worst of all lengths, {self.length} visits"

    @property
    def not_protected(self) -> list[str]:
        public = [
            "that a person takes part",
            "the date, and when it is uploaded",
            "the ids it is filed under",
            "which world was used",
        ]
        if self.facts.length_is_public:
            return ["the number of visits of the day", *public]
        return [f"that the day is shared as at most {_visits(self.facts.most_visits)}", *public]

    def as_json(self) -> dict[str, Any]:
        """For machines."""
        said = self.facts.as_json()
        facts = {name: value for name, value in said.items() if name not in {"promise", "epsilon"}}
        plain: dict[str, Any] = {
            "elsewhere": self.version,
            **facts,
            "world": self.world,
            "visits": self.length,
            "promise": self.promise,
            "epsilon_claimed": str(self.claimed),
            "epsilon_spent_at_most": self.spent,
            "is_exact_per_draw": self.is_exact,
            "how": self.how,
            "not_protected": self.not_protected,
            "draws": [
                {
                    "what": line.what,
                    "count": line.count,
                    "epsilon": str(line.epsilon),
                    "spent_at_most": line.spent,
                    "is_exact": line.is_exact,
                }
                for line in self.lines
            ],
        }
        if self.losses is not None:
            plain["mean_loss_of_made_up_days"] = float(self.losses.ordinary.mean())
            plain["mean_loss_of_the_hardest_pair"] = float(self.losses.hardest.mean())
        if self.black_box is not None:
            plain["black_box"] = {
                "epsilon_at_least": self.black_box.epsilon,
                "alpha": self.black_box.alpha,
                "shares_of_each_day": 2 * self.black_box.samples,
                "could_show": self.black_box.could_show,
                "event": self.black_box.event,
            }
        return plain


def audit(
    method: Sharing, length: int, *, black_box: LowerBound | None = None, progress: Progress = no_progress
) -> AuditReport:
    """Audit ``method`` on its world for days of ``length`` visits; of all lengths, if it is hidden."""
    method.prepare(length)
    check_claim(method.core.tables(length), method.core, length)
    lengths = [length] if method.hidden is None else list(range(1, method.hidden.cap + 1))
    positions = sum(sum({d.length: d.length for d in method.core.draws_for(n)}.values()) for n in lengths)
    done = 0

    def tick() -> None:
        nonlocal done
        done += 1
        progress(done, positions + PAIRS + 1)

    found = {drawn: _lines(method, drawn, tick) for drawn in lengths}
    worst = max(found, key=lambda drawn: (_sum(found[drawn]), drawn))
    return AuditReport(
        version=__version__,
        facts=method.facts(),
        world=method.world.hash,
        length=worst,
        claimed=sum((draw.epsilon for draw in method.draws_for(worst)), start=Fraction(0)),
        lines=found[worst],
        losses=sampled_losses(method, worst, SystemRandomness(), tick=tick),
        black_box=black_box,
    )


def _lines(method: Sharing, length: int, tick: Callable[[], None]) -> list[DrawLine]:
    draws = method.core.draws_for(length)
    losses = draw_losses(method.core.tables(length), draws, tick)
    lines = _grouped([(_words(d), loss) for d, loss in zip(draws, losses, strict=True)])
    if method.hidden is None:
        return lines
    # Randomised response spends its ε to the last digit: the accepted mass is the same for every truth.
    epsilon = method.hidden.epsilon
    return [DrawLine(what="length", count=1, epsilon=epsilon, spent=float(epsilon), is_exact=True), *lines]


def _visits(count: int | None) -> str:
    return "one visit" if count == 1 else f"{count} visits"


def _words(draw: Draw) -> str:
    """A draw in words: "2-gram of regions"."""
    return draw.what.replace("n-gram", f"{draw.length}-gram")


def _sum(lines: Sequence[DrawLine]) -> float:
    return sum(line.count * line.spent for line in lines)


def _grouped(losses: list[tuple[str, DrawLoss]]) -> list[DrawLine]:
    """Draws that claim and spend the same in one line, in the order they first come."""
    counts: dict[tuple[str, Fraction, float, bool], int] = {}
    for what, loss in losses:
        key = (what, loss.epsilon, loss.spent, loss.is_exact)
        counts[key] = counts.get(key, 0) + 1
    return [
        DrawLine(what=what, count=count, epsilon=epsilon, spent=spent, is_exact=is_exact)
        for (what, epsilon, spent, is_exact), count in counts.items()
    ]
