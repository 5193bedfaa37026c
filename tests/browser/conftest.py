"""Tests here have a browser."""

from __future__ import annotations

from browsing import browser, open_page

__all__ = ["browser", "open_page"]
