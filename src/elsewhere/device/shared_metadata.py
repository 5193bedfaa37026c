"""What stands in or beside a file of shared days, and on the screen of whoever shares one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, BinaryIO

from elsewhere.files import write_text
from elsewhere.methods.protocol import MethodFacts
from elsewhere.randomness import KEYED, SYSTEM


def metadata_file(path: Path) -> Path:
    """Where the metadata of a CSV stands, which has no room for it."""
    return Path(f"{path}.meta.json")


def write_beside(path: Path, file: BinaryIO, about: Mapping[str, Any]) -> None:
    """Write what is promised of a CSV beside it: the last thing before ``file`` takes its place at ``path``.

    There is never a file of shared days without its metadata, and no metadata of days that the disk refused.
    """
    file.flush()
    indented = json.dumps(about, indent=2, ensure_ascii=False)
    write_text(metadata_file(path), f"{indented}\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedMetadata:
    """What a reader of shared days must know, and nothing that depends on what was true."""

    method: MethodFacts
    world: str
    """The hash of the world."""
    version: str
    """Of this program."""
    randomness: str
    """Of the source that was used (`randomness.label_of`), not of the option that was given."""
    trajectories: int | None = None
    most_days_of_a_person: int | None = None
    """In this file: each costs ε again."""
    epsilon_of_a_person_at_most: Fraction | None = None
    """The sum of ε over all days of the person with most of them."""
    day: str | None = None
    """The date, where a file is one day of one person."""

    @property
    def is_ldp(self) -> bool:
        return self.method.is_ldp and self.randomness in {SYSTEM, KEYED}

    @property
    def promise(self) -> str:
        """In words, where it is not pure ε-LDP."""
        if self.randomness == SYSTEM or (self.randomness == KEYED and self.method.promise):
            return self.method.promise
        if self.randomness == KEYED:
            return "noise by a key that was destroyed: ε rests on the security of ChaCha20 and BLAKE2b"
        return f"NOT private, for experiments: randomness is {self.randomness}"

    def as_json(self) -> dict[str, Any]:
        """As it stands in or beside a file."""
        plain = {
            **self.method.as_json(),
            "is_ldp": self.is_ldp,
            "world": self.world,
            "randomness": self.randomness,
            "elsewhere": self.version,
        }
        if self.promise:
            plain["promise"] = self.promise
        most = self.epsilon_of_a_person_at_most
        optional = {
            "trajectories": self.trajectories,
            "most_days_of_a_person": self.most_days_of_a_person,
            "epsilon_of_a_person_at_most": None if most is None else str(most),
            "day": self.day,
        }
        return {**plain, **{name: value for name, value in optional.items() if value is not None}}
