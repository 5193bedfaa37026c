"""The next part is made while one is used, one and no more, and nothing is lost on the way."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event, current_thread, main_thread

import pytest

from elsewhere.device.ahead import one_ahead


@pytest.mark.parametrize("workers", [1, 2])
def test_all_come_in_order(workers: int) -> None:
    assert list(one_ahead(iter(range(50)), workers)) == list(range(50))
    assert list(one_ahead([], workers)) == []


def test_the_next_is_made_while_one_is_used() -> None:
    made = [Event() for _ in range(4)]

    def parts() -> Iterator[int]:
        for number in range(4):
            assert current_thread() is not main_thread()
            made[number].set()
            yield number

    for number in one_ahead(parts(), 2):
        if number < 3:
            assert made[number + 1].wait(20)
        assert number > 1 or not made[number + 2].is_set()


def test_with_one_worker_nothing_is_made_before_its_time() -> None:
    made: list[int] = []

    def parts() -> Iterator[int]:
        for number in range(3):
            made.append(number)
            yield number

    for number in one_ahead(parts(), 1):
        assert made[-1] == number


@pytest.mark.parametrize("workers", [1, 2])
def test_what_goes_wrong_with_a_part_comes_after_those_before_it(workers: int) -> None:
    def parts() -> Iterator[int]:
        yield 1
        raise ValueError("the second")

    found = one_ahead(parts(), workers)
    assert next(found) == 1
    with pytest.raises(ValueError, match="the second"):
        next(found)
