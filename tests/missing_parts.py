"""What a machine may lack: a reason to skip a test, or a failure where everything must be there."""

from __future__ import annotations

import os

import pytest

NO_SKIPS = "ELSEWHERE_NO_SKIPS"
"""Set where everything must be there: what is missing is then a failure."""


def missing(reason: str) -> None:
    """Skip a test that needs what this machine has not, or fail where nothing may be missing."""
    if os.environ.get(NO_SKIPS):
        pytest.fail(f"{reason}, and {NO_SKIPS} is set")
    pytest.skip(reason)
