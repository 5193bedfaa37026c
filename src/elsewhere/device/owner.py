"""Whose own days a file holds: under which uid they are filed, so that two people's never get mixed."""

from __future__ import annotations

import re

NO_OWNER = "me"
"""The uid of everybody's own days in files of old: of no use where there are two people."""
NOT_SAID_WHOSE = (
    "has days of `me`, which may be anybody: make the data set again with `elsewhere dataset personal`, or "
    "give people other uids"
)
OWN_DAYS = "holds people's own days of a device: share them there, where a ledger counts"
_OWN = re.compile(r"me-[0-9a-f]{32}", re.IGNORECASE)


def own_uid(owner: str) -> str:
    """The uid of a device's own days; ``owner`` is the random id of its ledger."""
    return f"{NO_OWNER}-{owner}"


def is_own(uid: str) -> bool:
    """Whether a row is of somebody's own days, on this device or another."""
    return uid.casefold() == NO_OWNER or _OWN.search(uid) is not None
