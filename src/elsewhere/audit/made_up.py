"""Days of nobody, as trajectories: what the audit shares in place of people's."""

from __future__ import annotations

from elsewhere.days.open_days import open_days
from elsewhere.device.reading import trajectories_of
from elsewhere.trajectories import Trajectory
from elsewhere.world.world import World


def made_up_days(world: World, length: int, count: int) -> list[Trajectory]:
    """``count`` days of ``length`` visits at places that are open then (`days.open_days`)."""
    return trajectories_of(world, open_days(world, length, count))
