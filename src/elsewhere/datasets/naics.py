"""The North American Industry Classification System (2017) as a category tree."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from elsewhere.inputs.raw_text import first_line, records_of
from elsewhere.knowledge.categories import CategoryTree, build_tree

# Some sectors have several two-digit codes.
_RANGES = {
    "31": "31-33",
    "32": "31-33",
    "33": "31-33",
    "44": "44-45",
    "45": "44-45",
    "48": "48-49",
    "49": "48-49",
}
SECTORS = {
    "11": "Agriculture, Forestry, Fishing and Hunting", "21": "Mining, Quarrying, and Oil and Gas Extraction",
    "22": "Utilities", "23": "Construction", "31-33": "Manufacturing", "42": "Wholesale Trade",
    "44-45": "Retail Trade", "48-49": "Transportation and Warehousing", "51": "Information",
    "52": "Finance and Insurance", "53": "Real Estate and Rental and Leasing",
    "54": "Professional, Scientific, and Technical Services", "55": "Management of Companies and Enterprises",
    "56": "Administrative and Support and Waste Management and Remediation Services",
    "61": "Educational Services", "62": "Health Care and Social Assistance",
    "71": "Arts, Entertainment, and Recreation", "72": "Accommodation and Food Services",
    "81": "Other Services (except Public Administration)", "92": "Public Administration",
}  # fmt: skip
UNKNOWN = "unknown"


def is_naics(path: Path) -> bool:
    return first_line(path).lower().replace('"', "").startswith("code,title")


def read_titles(path: Path) -> dict[str, str]:
    """Titles by code, from a table ``code, title``."""
    return {
        record["code"].strip(): record["title"].strip() for _, record in records_of(path, ("code", "title"))
    }


def parent_of(code: str) -> str:
    """A code less its last digit; three digits belong to a sector."""
    if "-" in code or len(code) <= 2:
        return ""
    shorter = code[:-1]
    return _RANGES.get(shorter, shorter) if len(shorter) == 2 else shorter


def normal_code(text: str) -> str:
    """A code as digits: tables have it as 813110.0 where some rows have none."""
    code = text.strip().partition(".")[0]
    if not code.isdigit() or _RANGES.get(code[:2], code[:2]) not in SECTORS:
        return UNKNOWN
    return _RANGES.get(code, code)


def naics_tree(codes: set[str], titles: Mapping[str, str], hours: Mapping[str, str]) -> CategoryTree:
    """The codes that occur and all above them; hours by sector."""
    wanted = set(codes)
    for code in codes:
        while code := parent_of(code):
            wanted.add(code)
    ids = sorted(wanted)
    names = ["Unknown" if code == UNKNOWN else titles.get(code) or SECTORS.get(code, code) for code in ids]
    return build_tree(
        ids, names, [parent_of(code) for code in ids], ["" if parent_of(c) else hours.get(c, "") for c in ids]
    )
