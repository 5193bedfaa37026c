"""What SOURCE.md says of each source: `tables/NAME.md` has a title, paragraphs, and the terms."""

from __future__ import annotations

from importlib.resources import files
from typing import Any


def note(name: str, **facts: Any) -> tuple[str, str, str]:
    """Title, what it is, and under which terms; ``facts`` fill in what the text leaves open."""
    text = (files("elsewhere.datasets") / "tables" / f"{name}.md").read_text(encoding="utf-8").format(**facts)
    title, _, rest = text.partition("\n")
    what, _, terms = rest.partition("\nTerms: ")
    return title.removeprefix("# ").strip(), what.strip(), terms.strip()
