"""All methods by name: one entry carries all that others ask about a method.

Help on the command line, experiments, figures, pages and the table in the docs derive from these entries, and
every method is audited by having one. Adding a method: see CONTRIBUTING.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

from elsewhere.errors import InputError
from elsewhere.mechanism.budget import exact_epsilon
from elsewhere.mechanism.length import split_off_length
from elsewhere.mechanism.levels import Levels, checked_levels
from elsewhere.methods.codebook import Codebook
from elsewhere.methods.guess import GUESS
from elsewhere.methods.individual import Individual
from elsewhere.methods.ngram import Ngram
from elsewhere.methods.nulls import constant, popular, typical, uniform
from elsewhere.methods.place_ngram import PlaceNgram
from elsewhere.methods.protocol import Core
from elsewhere.methods.sharing import Sharing
from elsewhere.methods.whole_day import Global, GlobalListed
from elsewhere.progress import Progress, no_progress
from elsewhere.world.world import World

DEFAULT = "codebook"
_FOR_PROGRAMS = frozenset({"world", "epsilon", "cache", "progress"})


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodEntry:
    """What others ask about a method before they have made one."""

    name: str
    make: Callable[..., Core]
    summary: str
    """What it draws, in a few words."""
    draws: str = "1"
    """How many draws share ε, in the paper's letters."""
    paper: str = "ours"
    """What the paper calls it."""
    colour: str = "#000000"
    """In figures."""
    hides_length: bool = False
    """Hides the number of visits by itself."""
    is_null: bool = False
    """Ignores the person: what no information looks like."""
    is_ours: bool = False
    """To be held against all others on pages of results."""
    is_for_small_worlds: bool = False
    """Lists all days, so experiments on cities leave it out."""
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Other settings of it that stand beside it in tables, by label."""
    colours: Mapping[str, str] = field(default_factory=dict)
    """In figures, by label of a variant."""
    tiny: Mapping[str, Any] = field(default_factory=dict)
    """Settings with which all its draws can be listed on a tiny world."""

    @property
    def options(self) -> tuple[str, ...]:
        """Settings of its own, beside ε and what all methods have."""
        settled = getattr(self.make, "keywords", {})  # what makes this method of its family
        parameters = signature(self.make).parameters
        return tuple(name for name in parameters if name not in {*_FOR_PROGRAMS, *settled})

    def takes(self, option: str) -> bool:
        """Whether ``option`` may be given, one for programs included (``cache``, ``progress``)."""
        kind = signature(self.make).parameters.get(option)
        return kind is not None and kind.kind is Parameter.KEYWORD_ONLY


_ENTRIES = (
    MethodEntry(
        name="codebook",
        make=Codebook,
        summary="one pick among public candidate days; hides the number of visits",
        colour="#d92d20",
        hides_length=True,
        is_ours=True,
        variants={
            "codebook, guess": {"reading": GUESS},
            "codebook, same length": {"same_length": True},
        },
        colours={"codebook, guess": "#912018", "codebook, same length": "#f97066"},
        tiny={"candidates": 24, "shards": 2},
    ),
    MethodEntry(
        name="ngram",
        make=Ngram,
        summary="overlapping n-grams of regions",
        draws="|τ| + n − 1",
        paper="NGram",
        colour="#1f4ed8",
        variants={"ngram, exact": {"calibration": "exact"}},
        colours={"ngram, exact": "#84adff"},
    ),
    MethodEntry(
        name="ngram-noh",
        make=partial(PlaceNgram, has_categories=True),
        summary="timesteps, then n-grams of places; no hierarchy",
        draws="2|τ| + n − 1",
        paper="NGramNoH",
        colour="#0e9384",
    ),
    MethodEntry(
        name="physdist",
        make=partial(PlaceNgram, has_categories=False),
        summary="the same by distance in space alone, no hours",
        draws="2|τ| + n − 1",
        paper="PhysDist",
        colour="#b54708",
    ),
    MethodEntry(
        name="ind-reach",
        make=partial(Individual, uses_reach=True),
        summary="single visits, each reachable from the one drawn before",
        draws="|τ|",
        paper="IndReach",
        colour="#7a5af8",
    ),
    MethodEntry(
        name="ind-noreach",
        make=partial(Individual, uses_reach=False),
        summary="single visits, times shifted afterwards",
        draws="|τ|",
        paper="IndNoReach",
        colour="#dd2590",
    ),
    MethodEntry(
        name="global",
        make=Global,
        summary="one whole feasible day",
        paper="global solution",
        colour="#067647",
    ),
    MethodEntry(
        name="global-subsampled",
        make=partial(GlobalListed, variant="subsampled"),
        summary="one whole day out of a random sample; small worlds only",
        paper="subsampled EM",
        is_for_small_worlds=True,
        tiny={"sample_size": 2},
    ),
    MethodEntry(
        name="global-pf",
        make=partial(GlobalListed, variant="pf"),
        summary="one whole day by permute-and-flip; small worlds only",
        paper="permute and flip",
        is_for_small_worlds=True,
    ),
    MethodEntry(
        name="uniform",
        make=uniform,
        summary="null: any feasible day",
        draws="0",
        paper="none",
        colour="#344054",
        is_null=True,
    ),
    MethodEntry(
        name="popular",
        make=popular,
        summary="null: popular places at popular times",
        draws="0",
        paper="none",
        colour="#475467",
        is_null=True,
    ),
    MethodEntry(
        name="constant",
        make=constant,
        summary="null: one public day for everybody with as many visits",
        draws="0",
        paper="none",
        colour="#667085",
        is_null=True,
    ),
    MethodEntry(
        name="typical",
        make=typical,
        summary="null: one public day for everybody, of any number of visits",
        draws="0",
        paper="none",
        colour="#8c6d1f",
        hides_length=True,
        is_null=True,
    ),
)

METHODS: dict[str, MethodEntry] = {entry.name: entry for entry in _ENTRIES}


def entry_of(name: str) -> MethodEntry:
    """The entry of a method; says which there are if there is none."""
    if name not in METHODS:
        raise InputError("method", f"found {name!r}, must be one of {', '.join(sorted(METHODS))}")
    return METHODS[name]


def methods_with(option: str) -> list[str]:
    """Names of the methods that have an option."""
    return [name for name, entry in METHODS.items() if option in entry.options]


def null_names(*, keeps_length: bool = False) -> list[str]:
    """Methods that ignore the person; with ``keeps_length`` those whose days are as long as the true ones.

    A method is to be held against nulls that are as free, or as bound, as it is in the number of visits.
    """
    return [
        name for name, entry in METHODS.items() if entry.is_null and not (keeps_length and entry.hides_length)
    ]


def null_of(
    name: str, world: World, *, cache: Path | None = None, progress: Progress = no_progress
) -> Sharing:
    """A null, told where to keep tables and whom to tell how far it is, if it makes any."""
    wanted: dict[str, Any] = {"cache": cache, "progress": progress}
    entry = entry_of(name)
    return method(name, world, **{option: value for option, value in wanted.items() if entry.takes(option)})


def colour_of(label: str) -> str:
    """The colour of a method, or of one of its variants, in figures."""
    for entry in METHODS.values():
        if label == entry.name:
            return entry.colour
        if label in entry.colours:
            return entry.colours[label]
    return "#98a2b3"


def method(
    name: str,
    world: World,
    *,
    epsilon: float | str | Fraction | None = None,
    hide_length: int | None = None,
    length_share: float | str | Fraction = "1/5",
    levels: Mapping[str, float | str | Fraction] | None = None,
    **options: Any,
) -> Sharing:
    """A method ready to share on a world.

    Parameters
    ----------
    name
        One of `METHODS`: "codebook", "ngram", ...
    world
        The public world.
    epsilon
        ε of a whole day: a number, or text such as "1/2" that is taken exactly.
    hide_length
        Hide the number of visits among 1 to so many, by a draw of its own; for methods that do not
        hide it by themselves.
    length_share
        The share of ε that this draw takes.
    levels
        For sensitive places an ε of their own, by place id (`read_levels`): a visit there is told apart
        from one to the nearest ordinary place by no more than that.
    options
        Settings of the method, such as ``n=3`` for "ngram".

    Returns
    -------
    Sharing
        With `share` for one day and `share_many` for many.

    Raises
    ------
    InputError
        If there is no such method, it has no such setting, or ε is out of range.

    Examples
    --------
    >>> ngram = ew.method("ngram", world, epsilon=5, n=2)
    >>> shared, info = ngram.share(ew.Trajectory([("a", 60), ("b", 72)]))
    >>> float(info.epsilon)
    5.0
    """
    entry = entry_of(name)
    for option in options:
        if not entry.takes(option) or option not in {*entry.options, "cache", "progress"}:
            known = ", ".join(sorted({*entry.options, "epsilon", "hide_length"}))
            raise InputError(option, f"is no option of {name}: it has {known}")
    sensitive = None if levels is None else Levels(world, checked_levels(levels))
    sharing = _made(entry, world, epsilon, hide_length, length_share, sensitive, options)
    given = {"epsilon": epsilon, "hide_length": hide_length, "length_share": length_share, "levels": levels}
    sharing.recipe = (name, {**options, **given})
    return sharing


def _made(
    entry: MethodEntry,
    world: World,
    epsilon: float | str | Fraction | None,
    hide_length: int | None,
    length_share: float | str | Fraction,
    sensitive: Levels | None,
    options: Mapping[str, Any],
) -> Sharing:
    if hide_length is None:
        return Sharing(entry.make(world, epsilon=epsilon, **options), levels=sensitive)
    if epsilon is None:
        raise InputError("hide_length", "needs epsilon, the ε of a whole day")
    try:
        share = Fraction(str(length_share))
    except (ValueError, ZeroDivisionError):
        raise InputError("length_share", f"found {length_share!r}, must be a number such as 1/5") from None
    hidden, left = split_off_length(exact_epsilon(epsilon), hide_length, share)
    core = entry.make(world, epsilon=left, **options)
    if core.hides_length:
        raise InputError("hide_length", f"{entry.name} hides the number of visits by itself")
    return Sharing(core, hidden, sensitive)
