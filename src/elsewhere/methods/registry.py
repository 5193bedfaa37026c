"""All methods by name."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from inspect import signature
from typing import Any

from elsewhere.errors import InputError
from elsewhere.mechanism.budget import exact_epsilon
from elsewhere.mechanism.length import split_off_length
from elsewhere.methods.codebook import Codebook
from elsewhere.methods.individual import Individual
from elsewhere.methods.listed_day import GlobalListed
from elsewhere.methods.ngram import Ngram
from elsewhere.methods.nulls import constant, popular, typical, uniform
from elsewhere.methods.place_ngram import PlaceNgram
from elsewhere.methods.protocol import Core
from elsewhere.methods.sharing import Sharing
from elsewhere.methods.whole_day import Global
from elsewhere.world.world import World

METHODS: dict[str, Callable[..., Core]] = {
    "ngram": Ngram,
    "ngram-noh": partial(PlaceNgram, has_categories=True),
    "physdist": partial(PlaceNgram, has_categories=False),
    "ind-reach": partial(Individual, uses_reach=True),
    "ind-noreach": partial(Individual, uses_reach=False),
    "global": Global,
    "global-subsampled": partial(GlobalListed, variant="subsampled"),
    "global-pf": partial(GlobalListed, variant="pf"),
    "codebook": Codebook,
    "uniform": uniform,
    "popular": popular,
    "constant": constant,
    "typical": typical,
}


def options_of(name: str) -> set[str]:
    """Options of a method beside ε and what all methods have."""
    if name not in METHODS:
        raise InputError("method", f"found {name!r}, must be one of {', '.join(sorted(METHODS))}")
    settled = getattr(METHODS[name], "keywords", {})  # what makes this method of its family
    return set(signature(METHODS[name]).parameters) - {"world", "epsilon", *settled}


def method(
    name: str,
    world: World,
    *,
    epsilon: float | str | Fraction | None = None,
    hide_length: int | None = None,
    length_share: float | str | Fraction = "1/5",
    **options: Any,
) -> Sharing:
    """A method ready to share: ``method("ngram", world, epsilon=5, n=2)``.

    With ``hide_length=8`` the number of visits is hidden among 1 to 8, for ``length_share`` of ε.
    """
    allowed = options_of(name)
    for option in options:
        if option not in allowed:
            known = ", ".join(sorted({*allowed - {"cache", "progress"}, "epsilon", "hide_length"}))
            raise InputError(option, f"is no option of {name}: it has {known}")
    if hide_length is not None and (
        name == "typical" or (name == "codebook" and not options.get("same_length"))
    ):
        raise InputError("hide_length", f"{name} hides the number of visits by itself")
    if hide_length is None:
        return Sharing(METHODS[name](world, epsilon=epsilon, **options))
    if epsilon is None:
        raise InputError("hide_length", "needs epsilon, the ε of a whole day")
    try:
        share = Fraction(str(length_share))
    except (ValueError, ZeroDivisionError):
        raise InputError("length_share", f"found {length_share!r}, must be a number such as 1/5") from None
    hidden, left = split_off_length(exact_epsilon(epsilon), hide_length, share)
    return Sharing(METHODS[name](world, epsilon=left, **options), hidden)
