"""Named ways from a trajectory to a shared trajectory: wirings of the parts."""
