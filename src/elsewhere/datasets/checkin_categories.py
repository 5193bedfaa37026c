"""Kinds of check-in places by their names, so that nobody has to find a category tree first.

`tables/checkin_categories.csv` is our own: a name, its group, and the root kind. `checkin_hours.csv` has the
opening hours of each root.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

from elsewhere.datasets.hours_tables import hours_by_category
from elsewhere.inputs.raw_text import records_of
from elsewhere.knowledge.categories import CategoryTree, build_tree

OTHER = "Other places"
_HOMES = "Homes > Private homes"
_ANY = "* "


@cache
def _table() -> tuple[dict[str, str], dict[str, tuple[str, str]]]:
    """Ids by plain name, and the name and parent of each id."""
    ids: dict[str, str] = {}
    rows: dict[str, tuple[str, str]] = {OTHER: (OTHER, "")}
    with as_file(files("elsewhere.datasets") / "tables" / "checkin_categories.csv") as path:
        for _, record in records_of(path, ("category", "group", "root")):
            name, root = record["category"], record["root"]
            group = f"{root} > {record['group']}"
            rows[root], rows[group] = (root, ""), (record["group"], root)
            if name.startswith(_ANY):  # a whole family of names, all of them of the group
                ids[_plain(name)] = group
            else:
                ids[_plain(name)] = f"{group} > {name}"
                rows[ids[_plain(name)]] = (name, group)
    return ids, rows


def _plain(name: str) -> str:
    """A name without case, accents and doubled blanks."""
    letters = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"\s+", " ", letters).strip().lower()


def category_of(name: str) -> str | None:
    """Id of the category that a name stands for; None for one that the table does not have."""
    ids, rows = _table()
    plain = _plain(name.rpartition(">")[2])
    for form in (plain, plain.removesuffix("s"), f"{_ANY}{plain.rpartition(' ')[2]}" if " " in plain else ""):
        if form in ids:
            return ids[form]
    root = name.strip()
    return root if root in rows and root != OTHER else None


def is_private_home(category_id: str) -> bool:
    """Whether places of a category are people's own homes."""
    return category_id.startswith(_HOMES)


def checkin_tree(hours: Path | None) -> CategoryTree:
    """The whole tree; the hours of roots are ours, or those of a file."""
    _, rows = _table()
    by_root = hours_by_category("checkin", hours)
    ids = sorted(rows)
    names, parents = zip(*(rows[category] for category in ids), strict=True)
    return build_tree(ids, names, parents, [by_root.get(category, "") for category in ids])
