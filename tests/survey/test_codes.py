"""Codes as people type them."""

from __future__ import annotations

import re

import pytest

from elsewhere.errors import InputError
from elsewhere.survey.codes import new_code, plain_code


def test_codes_are_random_and_read_however_they_are_typed() -> None:
    codes = {new_code() for _ in range(200)}
    assert len(codes) == 200
    for code in codes:
        assert re.fullmatch(r"([0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}", code)
        plain = code.replace("-", "")
        typed = (
            code.lower(),
            code.replace("-", "\u2013"),
            f" {plain}\n",
            code.replace("0", "O").replace("1", "l"),
        )
        assert {plain_code(one) for one in typed} == {plain}


@pytest.mark.parametrize(
    "text", ["", "K7QD", "K7QD-9XWM-2F4T-HB3", "K7QD-9XWM-2F4T-HB3U", "\r\nX-Evil: 1", "é" * 16]
)
def test_what_is_no_code_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is no code"):
        plain_code(text)
