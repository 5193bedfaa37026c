"""Everything that can go wrong for a reason the user can mend.

ElsewhereError
├── InputError        a file or a setting holds something that is not allowed; carries every fault
├── BudgetError       a ledger's cap on the sum of ε would be passed
├── NotSentError      no collector has taken a report: it is kept, and can be sent later
├── WorldFileError    a .world file is truncated, corrupted, foreign or newer than this program
└── MissingExtraError an optional part of the package is not installed
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction

_MOST_FAULTS_SHOWN = 20


class ElsewhereError(Exception):
    """Base of all errors that end a command with exit code 2 and a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that is wrong in one place of a file; ``row`` counts as an editor does, header is 1."""

    problem: str
    row: int | None = None
    column: str | None = None

    def __str__(self) -> str:
        where = [f"row {self.row}"] if self.row is not None else []
        where += [f"column {self.column}"] if self.column is not None else []
        return f"{', '.join(where)}: {self.problem}" if where else self.problem


class InputError(ElsewhereError):
    """All faults of one source, told at once."""

    def __init__(self, source: str, faults: Sequence[Fault] | str) -> None:
        self.source = source
        self.faults = (Fault(problem=faults),) if isinstance(faults, str) else tuple(faults)
        super().__init__(self._message())

    def _message(self) -> str:
        if len(self.faults) == 1:
            return f"{self.source}: {self.faults[0]}"
        shown = [f"  {fault}" for fault in self.faults[:_MOST_FAULTS_SHOWN]]
        left = len(self.faults) - len(shown)
        shown += [f"  and {left} more"] if left else []
        return "\n".join([f"{self.source}: {len(self.faults)} faults", *shown])


class BudgetError(ElsewhereError):
    """Sharing once more would spend more than a person allowed."""

    def __init__(self, *, spent: Fraction, asked: Fraction, cap: Fraction) -> None:
        self.spent, self.asked, self.cap = spent, asked, cap
        super().__init__(
            f"refused: ε {float(spent):g} is spent, {float(asked):g} more passes the cap of {float(cap):g}"
        )


class NotSentError(ElsewhereError):
    """No collector has taken a report: it is kept on the device, and can be sent later."""


class WorldFileError(ElsewhereError):
    """A .world file that cannot be trusted; says what is wrong with it and what would help."""


class MissingExtraError(ElsewhereError):
    """Something needs an optional part of the package."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs the '{extra}' extra: pip install 'elsewhere[{extra}]'")


@contextmanager
def needs_extra(what: str, extra: str) -> Iterator[None]:
    """Turn a missing optional library into a message that says how to get it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("elsewhere"):
            raise
        raise MissingExtraError(what, extra) from None
