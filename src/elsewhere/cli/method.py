"""What commands that share have in common: which method, with which settings."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer
from platformdirs import user_cache_path

from elsewhere.cli.console import warn
from elsewhere.device.expectation import SENSE
from elsewhere.errors import InputError
from elsewhere.experiments.tilted import tilted_ngram
from elsewhere.methods.levels import read_levels
from elsewhere.methods.ngram import Ngram
from elsewhere.methods.registry import METHODS, entry_of, method, methods_with
from elsewhere.methods.sharing import Sharing
from elsewhere.world.world import World

Name = Annotated[
    str, typer.Option("-m", "--method", help=f"One of {', '.join(METHODS)}: see docs/explanation/methods.")
]
Epsilon = Annotated[
    str | None,
    typer.Option("-e", "--epsilon", help="ε for each day: a number or a fraction.", show_default=False),
]
NgramLength = Annotated[
    int | None,
    typer.Option(
        "-n", help=f"Length of an n-gram, 1 or more; for {', '.join(methods_with('n'))}.  [default: 2]"
    ),
]
SameLength = Annotated[
    bool,
    typer.Option(
        "--same-length",
        help=f"For {', '.join(methods_with('same_length'))}: candidates as long as the day, whose number of "
        "visits is then public.",
        show_default=False,
    ),
]
HideLength = Annotated[
    int | None,
    typer.Option(
        metavar="CAP",
        help="Hide the number of visits among 1 to CAP; for methods that do not hide it by themselves.",
    ),
]
Sensitivity = Annotated[
    str | None,
    typer.Option(
        help=f"For {Ngram.name}: '1' reproduces the paper's numbers, and is NOT ε-LDP.  [default: world]"
    ),
]
EpsilonPerDraw = Annotated[
    str | None,
    typer.Option(
        metavar="ε'",
        help=f"In place of -e, for {', '.join(methods_with('epsilon_per_draw'))}: the same ε' for each draw, "
        "so that longer days spend more.",
    ),
]
LevelsFile = Annotated[
    Path | None,
    typer.Option(
        "--levels",
        metavar="CSV",
        help="Sensitive places or categories with an ε of their own; `elsewhere world levels` suggests some.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Any other setting of the method; may be repeated."),
]


Anyway = Annotated[
    bool,
    typer.Option(
        "--anyway", help="Go on although nearly all points are far from this world.", show_default=False
    ),
]


def warn_if_senseless(epsilon: Fraction | None) -> None:
    """An ε that is far too large to protect anybody."""
    if epsilon is not None and epsilon > SENSE:
        warn(
            f"ε = {epsilon} for a day protects next to nothing: above {SENSE}, whoever sees a shared day "
            "can as good as read the true one. From 1 to 10 is usual"
        )


def chosen_method(
    name: str,
    world_file: Path,
    epsilon: str | None,
    *,
    epsilon_per_draw: str | None = None,
    n: int | None = None,
    same_length: bool = False,
    hide_length: int | None = None,
    sensitivity: str | None = None,
    levels: Path | None = None,
    settings: list[str] | None = None,
    world: World | None = None,
) -> Sharing:
    """The method that a person asked for, on the world of a file, which may be loaded already."""
    entry = entry_of(name)
    if epsilon is None and epsilon_per_draw is None:
        takes = ", ".join(methods_with("epsilon_per_draw"))
        raise InputError("--epsilon", f"is missing: give ε as in -e 5 (for {takes} also --epsilon-per-draw)")
    if epsilon is not None and epsilon_per_draw is not None:
        raise InputError("--epsilon", "does not go with --epsilon-per-draw: give one of them")
    given = {
        "n": n,
        "epsilon_per_draw": epsilon_per_draw,
        "same_length": same_length or None,
        **dict(map(_setting, settings or [])),
    }
    options = {option: value for option, value in given.items() if value is not None}
    world = world or World.load(world_file)
    sensitive = None if levels is None else read_levels(levels, world)
    if sensitivity not in {None, "world"}:
        if sensitive is not None or epsilon is None:
            raise InputError(
                "--sensitivity", "1 takes -e alone: it promises nothing that levels could lessen"
            )
        return _tilted(name, world, epsilon, sensitivity, hide_length, options)
    if sensitivity is not None and name != Ngram.name:
        raise InputError("sensitivity", f"is no option of {name}, only of {Ngram.name}")
    if entry.takes("cache"):
        options["cache"] = tables_folder(world_file, world)
    made = method(name, world, epsilon=epsilon, hide_length=hide_length, levels=sensitive, **options)
    whole = made.facts().epsilon
    if sensitive and whole is not None and max(sensitive.values()) >= whole:
        warn(f"levels of {whole} and more add nothing: such places are as protected as all others")
    return made


def tables_folder(world_file: Path, world: World) -> Path:
    """Where public tables that take long are kept: beside the world, else with the user's caches.

    A world on a read-only disk is common. Nothing is made here, and what cannot be kept is made again.
    """
    beside = world_file.with_name(f"{world_file.name}.tables")
    if beside.is_dir() or not beside.exists():
        nearest = beside if beside.is_dir() else beside.parent
        if os.access(nearest, os.W_OK):
            return beside
    return Path(user_cache_path("elsewhere")) / "tables" / world.hash[:16]


def _tilted(
    name: str,
    world: World,
    epsilon: str,
    sensitivity: str | None,
    hide_length: int | None,
    options: dict[str, Any],
) -> Sharing:
    if sensitivity != "1":
        raise InputError("--sensitivity", f"found {sensitivity!r}, must be 'world' or '1'")
    if name != Ngram.name or hide_length is not None:
        raise InputError("--sensitivity", f"1 is for {Ngram.name} alone, with a public number of visits")
    return tilted_ngram(world, epsilon=epsilon, **options)


def _setting(text: str) -> tuple[str, Any]:
    """NAME=VALUE, the value as the whole number, number or flag that it looks like, else as text."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise InputError("--set", f"found {text!r}, must be NAME=VALUE such as candidates=4096")
    if value.lower() in {"true", "false"}:
        return name, value.lower() == "true"
    for kind in (int, float):
        try:
            return name, kind(value)
        except ValueError:
            continue
    return name, value
