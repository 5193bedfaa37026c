"""How many examples hypothesis tries: an eighth in `make test`, all of them in `make audit`."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from hypothesis import settings

_ONE_OF = 1 if os.environ.get("ELSEWHERE_ALL_EXAMPLES") else 8


def examples(max_examples: int) -> Callable[[Any], Any]:
    """So many examples, deadlines apart, when there is time."""
    return settings(max_examples=-(-max_examples // _ONE_OF))
