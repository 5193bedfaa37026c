"""T2: the audit is audited. Every fault of the kit is caught; the honest method passes the same checks."""

from __future__ import annotations

from pathlib import Path

import pytest

import elsewhere as ew
from cases import FAULT_WORLDS, cases, most_places
from detectors import detect
from elsewhere.methods.registry import METHODS
from elsewhere.tape import accepts_exp
from faults import FAULTS, Fault, PartFault, coin_objections
from tiny_worlds import tiny_world

# What PRIVACY asks for by name; there are more.
ASKED = 12


def test_there_are_enough_faults() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= ASKED


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_every_fault_is_caught(tmp_path: Path, fault: Fault | PartFault) -> None:
    """`pytest -n 0 -s -k fault` prints the table; so does `make audit`."""
    found = fault.objections(tmp_path)
    by, because = next(iter(found.items()), ("NOT CAUGHT", ""))
    print(f"{fault.name:34} {by:16} {because}")  # noqa: T201 - the table that the issue asks for
    assert found


@pytest.mark.parametrize("seed", FAULT_WORLDS)
@pytest.mark.parametrize("epsilon", [1, 10])
@pytest.mark.parametrize("name", METHODS)
def test_the_honest_method_passes_every_check(tmp_path: Path, name: str, epsilon: int, seed: int) -> None:
    world = tiny_world(tmp_path, seed, most_places(name))
    for options in cases(name):
        assert detect(ew.method(name, world, epsilon=epsilon, **options), epsilon, samples=6000) == {}


def test_the_honest_coin_passes() -> None:
    assert coin_objections(accepts_exp) == {}
