"""Where randomness comes from; no other module may touch numpy.random, random, secrets or os.urandom.

A seeded generator is for what is public or made up: generated cities, clusters, experiments. It must
never perturb anyone's trajectory (R13).
"""

from __future__ import annotations

import numpy as np


def seeded_generator(seed: int) -> np.random.Generator:
    """Reproducible randomness for public things; PCG64 gives the same stream on every machine."""
    return np.random.Generator(np.random.PCG64(seed))
