"""All methods by name."""

from __future__ import annotations

from typing import Any

from elsewhere.errors import InputError
from elsewhere.methods.ngram import Ngram
from elsewhere.world.world import World

METHODS: dict[str, type[Ngram]] = {Ngram.name: Ngram}


def method(name: str, world: World, **options: Any) -> Ngram:
    """A method ready to share: ``method("ngram", world, epsilon=5, n=2)``."""
    if name not in METHODS:
        raise InputError("method", f"found {name!r}, must be one of {', '.join(sorted(METHODS))}")
    return METHODS[name](world, **options)
