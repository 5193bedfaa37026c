"""The world: everything public, built once, immutable, named by one content hash."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from elsewhere.world.file import content_of, hash_of, read_parts, write_parts
from elsewhere.world.parts import WorldParts


class World(WorldParts):
    """Public knowledge (ℛ, 𝒲ⁿ, d, θ) in the form that mechanisms use; the same for everybody.

    `build_world` builds one, `World.load` reads one. Two worlds are equal if their content hashes are.

    Examples
    --------
    >>> world.save("city.world")
    >>> ew.World.load("city.world") == world
    True
    """

    @staticmethod
    def load(path: str | Path) -> World:
        """Read a `.world` file, from anyone: checked, and nothing in it is executed.

        Raises
        ------
        WorldFileError
            If the file is damaged, foreign, or of another format.
        """
        return World(**vars(read_parts(Path(path))))

    def save(self, path: str | Path) -> None:
        """Write a `.world` file, whole or not at all; the same world gives the same bytes."""
        write_parts(self, Path(path), self.hash)

    @cached_property
    def hash(self) -> str:
        """sha256 of the whole content: what a report names to say which world it is about."""
        return hash_of(content_of(self))

    @cached_property
    def place_index(self) -> dict[str, int]:
        """Row of each place id."""
        return {place_id: index for index, place_id in enumerate(self.places.ids)}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, World) and self.hash == other.hash

    def __hash__(self) -> int:
        return hash(self.hash)

    def __repr__(self) -> str:
        return f"<World of {len(self.places):,} places, {len(self.regions):,} regions, {self.hash[:12]}>"
