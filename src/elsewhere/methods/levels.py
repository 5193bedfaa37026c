"""The public list of sensitive places: read from a table, or suggested from the names of categories."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

from elsewhere.errors import Fault, InputError
from elsewhere.files import write_text
from elsewhere.mechanism.budget import short_fraction
from elsewhere.world.world import World

COLUMNS = ("place_id", "category_id", "epsilon")
# What laws on data protection call special: health, belief, politics, sexual life; and where people live.
_SENSITIVE = re.compile(
    r"hospital|medic|clinic|doctor|physician|dentist|health|pharmac|therap|psych|rehab|addict|"
    r"worship|church|mosque|synagogue|temple|shrine|cathedral|chapel|religio|spiritual|monaster|"
    r"politic|labor union|trade union|courthouse|prison|jail|homeless|temporary shelter|"
    r"strip club|gay bar|sex|brothel|home \(private\)|residen|housing|apartment|dormitor",
    re.IGNORECASE,
)


def read_levels(path: str | Path, world: World) -> dict[str, Fraction]:
    """Levels of a table: ``epsilon`` for a ``place_id``, or for all places of a ``category_id`` and below.

    The nearest row counts: a place's own, else that of its category, else of the category above. A place of
    several categories has the least of theirs.

    Parameters
    ----------
    path
        A CSV file.
    world
        The public world.

    Returns
    -------
    dict
        An ε for each sensitive place, by its id.

    Raises
    ------
    InputError
        With every fault of the file, by row and column.

    Examples
    --------
    >>> levels = ew.read_levels("levels.csv", world)
    >>> method = ew.method("codebook", world, epsilon=5, levels=levels)
    """
    source = Path(path)
    nodes = {category_id: node for node, category_id in enumerate(world.tree.ids)}
    named: dict[str, Fraction] = {}
    by_category: dict[int, Fraction] = {}
    faults: list[Fault] = []
    for row, values in _rows(source):
        place_id, category_id = values["place_id"], values["category_id"]
        level = _level(values["epsilon"])
        if level is None:
            faults.append(Fault(row=row, column="epsilon", problem="must be a number, 0 or more"))
        elif bool(place_id) == bool(category_id):
            faults.append(Fault(row=row, problem="needs either a place_id or a category_id"))
        elif place_id in named or nodes.get(category_id) in by_category:
            faults.append(Fault(row=row, problem="names what a row before it has named already"))
        elif place_id in world.place_index:
            named[place_id] = level
        elif category_id in nodes:
            by_category[nodes[category_id]] = level
        else:
            column = "place_id" if place_id else "category_id"
            faults.append(
                Fault(row=row, column=column, problem=f"found {values[column]!r}, not in this world")
            )
    if faults:
        raise InputError(str(source), faults)
    return {**_of_nodes(world, by_category), **named}


def levels_of(world: World, categories: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """Levels of places by those of categories: a category without one has its nearest ancestor's."""
    nodes = {category_id: node for node, category_id in enumerate(world.tree.ids)}
    return _of_nodes(world, {nodes[category_id]: level for category_id, level in categories.items()})


def _level(text: str) -> Fraction | None:
    try:
        level = short_fraction(text)
    except (ValueError, ZeroDivisionError):
        return None
    return level if level >= 0 else None


def _rows(path: Path) -> list[tuple[int, dict[str, str]]]:
    """Rows with their numbers in the file."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        rows = [(reader.line_num, {k: (row.get(k) or "").strip() for k in COLUMNS}) for row in reader]
    except FileNotFoundError:
        raise InputError(str(path), "no such file") from None
    except (OSError, UnicodeDecodeError, csv.Error):
        raise InputError(str(path), "cannot be read as a table: must be UTF-8 text with commas") from None
    names = set(reader.fieldnames or ())
    if "epsilon" not in names or not names & {"place_id", "category_id"}:
        raise InputError(str(path), "needs the columns epsilon, and place_id or category_id")
    return rows


def _of_nodes(world: World, levels: dict[int, Fraction]) -> dict[str, Fraction]:
    """The level of each place that has one: the least of its categories'."""
    found: dict[str, Fraction] = {}
    offsets, nodes = world.places.category_offsets, world.places.category_nodes
    for row, place_id in enumerate(world.places.ids):
        own = [_inherited(world, int(node), levels) for node in nodes[offsets[row] : offsets[row + 1]]]
        known = [level for level in own if level is not None]
        if known:
            found[place_id] = min(known)
    return found


def _inherited(world: World, node: int, levels: dict[int, Fraction]) -> Fraction | None:
    while node >= 0 and node not in levels:
        node = int(world.tree.parents[node])
    return levels.get(node)


def level_of(text: str) -> Fraction:
    """A level that a person typed."""
    level = _level(text)
    if level is None:
        raise InputError("--epsilon", f"found {text!r}, must be a number, 0 or more")
    return level


def suggested_levels(world: World, epsilon: Fraction) -> list[tuple[str, str, Fraction]]:
    """Categories of a world that look sensitive by their names: a list to begin with, for people to check."""
    return [
        (category_id, name, epsilon)
        for category_id, name in zip(world.tree.ids, world.tree.names, strict=True)
        if _SENSITIVE.search(name)
    ]


def write_levels(path: Path, rows: list[tuple[str, str, Fraction]]) -> None:
    """A table for `read_levels`, with the names of categories for people."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["category_id", "name", "epsilon"])
    writer.writerows([category_id, name, str(epsilon)] for category_id, name, epsilon in rows)
    write_text(path, text.getvalue())
