"""The stages of the paper's Table 3, and which of ours belongs to each.

- Perturb: from the true day to its draws, with looking up its regions or visits.
- Reconstruction preparation: the box around the draws and the errors of all that is inside. `ngram`,
  `ngram-noh` and `physdist` have it; it is done once more by itself, with a clock, on the same draws.
- Optimal reconstruction: the best chain of regions (`ngram`) or of places (the others), less that.
- Other: what one method has and others have not. Times that are sorted and smoothed, places and times within
  regions, and the making of the shared day.

Paper: section 7.1.2 (tab:runtime-analysis).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from elsewhere.methods.protocol import Drawn

STAGES = ("perturb", "reconstruction preparation", "optimal reconstruction", "other", "total")
PREPARATION = "preparation"
"""Under which our seconds have what `PreparesReconstruction` took: a part of `_CHAINS`, not beside it."""
_CHAINS = ("regions", "chain")


@runtime_checkable
class PreparesReconstruction(Protocol):
    """A core that can do the first part of its reconstruction by itself, to be timed."""

    def prepare_reconstruction(self, drawn: Drawn) -> int:
        """Boxes and errors of the draws."""


def paper_stages(seconds: Mapping[str, float]) -> dict[str, float | None]:
    """Our seconds as `STAGES` of the paper; None where a method has no such stage."""
    total = sum(value for name, value in seconds.items() if name != PREPARATION)
    chain = next((seconds[name] for name in _CHAINS if name in seconds), None)
    before = min(seconds.get(PREPARATION, 0.0), chain or 0.0)
    perturb = seconds.get("perturb", 0.0)
    return {
        "perturb": perturb,
        "reconstruction preparation": None if chain is None else before,
        "optimal reconstruction": None if chain is None else chain - before,
        "other": total - perturb - (chain or 0.0),
        "total": total,
    }
