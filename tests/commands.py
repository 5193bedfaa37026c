"""The type of the `elsewhere` fixture: a command run in this process."""

from __future__ import annotations

from collections.abc import Callable

Command = Callable[..., tuple[int, str, str]]
