"""Compiled code is kept under what it is made of: never a stale one, and never compiled twice."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest

import elsewhere
from elsewhere import kept_code as doors
from elsewhere.compiled import compiled, compiled_as
from elsewhere.kept_code import KeptCode, cache_folder, fingerprint

PACKAGE = Path(elsewhere.__file__).parent
INNER = """\
from typing import NamedTuple

import numpy as np
from elsewhere.compiled import compiled

STEP = 3
TABLE = np.array([1, 2, 4])
PAIR = (5, 7)


class Pair(NamedTuple):
    first: int
    second: int


@compiled
def deepest(x):
    return x + STEP + TABLE[1] + PAIR[0]


@compiled
def inner(x):
    \"\"\"What it does.\"\"\"
    return deepest(x) * 2


@compiled
def first_of(pair):
    return pair.first
"""
OUTER = """\
import numpy as np
from elsewhere.compiled import compiled, compiled_as
from inner import Pair, first_of, inner

SORTED = np.array([1, 3, 3, 8])


def _made(factor, called):
    def loop(x):
        return factor * called(x)

    return compiled_as("loop", loop)


in_a_closure = _made(10, inner)


@compiled
def outer(x):
    \"\"\"What it does.\"\"\"
    total = 0
    for k in range(4):
        total += inner(x) + k
    return total


@compiled
def rank(x):
    return np.searchsorted(SORTED, x, side="right")


@compiled
def left(x):
    return first_of(Pair(x, 100))
"""


def _written(folder: Path, changes: dict[str, str] | None = None) -> Path:
    """Two modules, the one calling the other, with some text replaced; all with the same time."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("inner", INNER), ("outer", OUTER)):
        changed = text
        for old, new in (changes or {}).items():
            changed = changed.replace(old, new)
        path = folder / f"{name}.py"
        path.write_text(changed)
        os.utime(path, (1_700_000_000, 1_700_000_000))
    return folder


@pytest.fixture
def _own_modules() -> Iterator[None]:
    yield
    for name in ("inner", "outer"):
        sys.modules.pop(name, None)


def _imported(folder: Path) -> ModuleType:
    for name in ("inner", "outer"):
        spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules["outer"]


def _prints(folder: Path) -> dict[str, str]:
    module = _imported(folder)
    names = ("outer", "in_a_closure", "rank", "left")
    return {name: fingerprint(getattr(module, name).py_func) for name in names}


@pytest.mark.usefixtures("_own_modules")
@pytest.mark.parametrize(
    ("change", "touched"),
    [
        ({"STEP = 3": "STEP = 4"}, {"outer", "in_a_closure"}),
        ({"STEP = 3": "STEP = 3.0"}, {"outer", "in_a_closure"}),
        ({"[1, 2, 4]": "[1, 2, 5]"}, {"outer", "in_a_closure"}),
        ({"[1, 2, 4]": "[1, 2, 4.0]"}, {"outer", "in_a_closure"}),
        ({"(5, 7)": "(6, 7)"}, {"outer", "in_a_closure"}),
        ({"return deepest(x) * 2": "return deepest(x) * 3"}, {"outer", "in_a_closure"}),
        ({"return deepest(x) * 2": "return deepest(x) - 2"}, {"outer", "in_a_closure"}),
        ({"+ TABLE[1]": "+ TABLE[2]"}, {"outer", "in_a_closure"}),
        ({"range(4)": "range(5)"}, {"outer"}),
        ({"total += inner(x) + k": "total -= inner(x) + k"}, {"outer"}),
        ({"total += inner(x) + k": "total += inner(k) + x"}, {"outer"}),
        ({"_made(10, inner)": "_made(11, inner)"}, {"in_a_closure"}),
        ({"factor * called(x)": "factor + called(x)"}, {"in_a_closure"}),
        ({"np.array([1, 3, 3, 8])": "np.array([1, 3, 3, 9])"}, {"rank"}),
        ({'side="right"': 'side="left"'}, {"rank"}),
        ({"return pair.first": "return pair.second"}, {"left"}),
        ({"    first: int\n    second: int": "    second: int\n    first: int"}, {"left"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else "",
)
def test_what_code_is_made_of_changes_its_fingerprint(
    tmp_path: Path, change: dict[str, str], touched: set[str]
) -> None:
    """A constant, a body, a callee in another module: whoever uses it, and nobody else."""
    before, after = _prints(_written(tmp_path / "a")), _prints(_written(tmp_path / "b", change))
    assert {name for name in before if before[name] != after[name]} == touched


@pytest.mark.usefixtures("_own_modules")
@pytest.mark.parametrize(
    "change",
    [
        {"    total = 0": "    # what is found so far\n    total = 0", "STEP = 3": "STEP = 3  # a step"},
        {"What it does.": "What it does, in many more words.\n\n    And then some."},
        {"@compiled": "\n\n\n@compiled", "STEP = 3": "\n\nSTEP = 3"},
        {"range(4)": "range(\n        4\n    )"},
        {"STEP = 3": "STEP = 3\nOTHER = 5"},
    ],
    ids=["comments", "docstrings", "lines", "layout", "neighbours"],
)
def test_what_makes_no_difference_leaves_the_fingerprint(tmp_path: Path, change: dict[str, str]) -> None:
    before, after = _prints(_written(tmp_path / "a")), _prints(_written(tmp_path / "b", change))
    assert (tmp_path / "a/outer.py").read_text() + (tmp_path / "a/inner.py").read_text() != (
        tmp_path / "b/outer.py"
    ).read_text() + (tmp_path / "b/inner.py").read_text()
    assert before == after


def test_functions_that_call_each_other_have_a_fingerprint() -> None:
    assert len(fingerprint(_down.py_func)) == 64  # type: ignore[attr-defined]  # a compiled loop
    assert fingerprint(_down.py_func) != fingerprint(_up.py_func)  # type: ignore[attr-defined]  # as above


@compiled
def _down(x: int) -> int:
    return _up(x - 1) if x > 0 else x


@compiled
def _up(x: int) -> int:
    return _down(x - 1) if x > 0 else x


_PROGRAM = """
import json
from numba.core import event
from outer import {name} as loop

with event.install_recorder("numba:compile") as recorder:
    value = loop({argument})
print(json.dumps([value, sum(happened.is_start for _, happened in recorder.buffer)]))
"""


def _run(program: str, folder: Path, **environment: str) -> Any:
    """A program in a process of its own that writes no bytecode: Python goes by the time of a file too."""
    done = subprocess.run(  # noqa: S603 - our own interpreter and program
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env={
            **{name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"},
            "PYTHONPATH": str(folder),
            "PYTHONDONTWRITEBYTECODE": "1",
            **environment,
        },
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _called(folder: Path, kept: Path, name: str = "outer", argument: str = "1") -> tuple[int, int]:
    """What a loop gives, and how many functions had to be compiled for it."""
    program = _PROGRAM.format(name=name, argument=argument)
    value, compilations = _run(program, folder, NUMBA_CACHE_DIR=str(kept))
    return value, compilations


def _files(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*.nbc")}


def test_what_was_compiled_is_loaded_and_what_has_changed_is_not(tmp_path: Path) -> None:
    """As long in bytes and with the time of before, so that only what the code says can tell."""
    here, kept = tmp_path / "here", tmp_path / "kept"
    assert _called(_written(here), kept) == (4 * 2 * 11 + 6, 3)
    before = _files(kept)
    assert len(before) == 3
    assert _called(here, kept) == (94, 0)
    assert _files(kept) == before
    # Touched, moved and commented it is still the same.
    (here / "outer.py").touch()
    assert _called(here, kept) == (94, 0)
    assert _called(_written(tmp_path / "there", {"STEP = 3": "STEP = 3  # a step"}), kept) == (94, 0)
    assert _files(kept) == before
    # A callee of a callee in another file.
    value, compilations = _called(_written(here, {"STEP = 3": "STEP = 4"}), kept)
    assert (value, compilations) == (4 * 2 * 12 + 6, 3)
    assert before.items() < _files(kept).items()
    assert _called(here, kept) == (102, 0)
    value, compilations = _called(_written(here, {"deepest(x) * 2": "deepest(x) - 2"}), kept)
    assert (value, compilations) == (4 * 9 + 6, 2)  # the deepest is what it was
    # And back.
    assert _called(_written(here), kept) == (94, 0)


@pytest.mark.parametrize(
    ("name", "argument", "change", "values"),
    [
        ("rank", "3", {'side="right"': 'side="left"'}, (3, 1)),
        ("left", "7", {"    first: int\n    second: int": "    second: int\n    first: int"}, (7, 100)),
        ("in_a_closure", "1", {"_made(10, inner)": "_made(11, inner)"}, (220, 242)),
    ],
)
def test_words_fields_and_closures_are_part_of_the_code(
    tmp_path: Path, name: str, argument: str, change: dict[str, str], values: tuple[int, int]
) -> None:
    here, kept = tmp_path / "here", tmp_path / "kept"
    assert _called(_written(here), kept, name, argument)[0] == values[0]
    assert _called(_written(here, change), kept, name, argument)[0] == values[1]


@pytest.mark.parametrize("spoil", [lambda _: b"", lambda raw: raw[:50], lambda raw: raw[: len(raw) // 2]])
def test_damaged_code_is_compiled_again(tmp_path: Path, spoil: Any) -> None:
    here, kept = _written(tmp_path / "here"), tmp_path / "kept"
    assert _called(here, kept)[0] == 94
    for path in kept.rglob("*.nbc"):
        path.write_bytes(spoil(path.read_bytes()))
    assert _called(here, kept) == (94, 3)
    assert _called(here, kept) == (94, 0)


@pytest.fixture
def _no_folder_yet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    cache_folder.cache_clear()
    yield
    cache_folder.cache_clear()


@pytest.mark.usefixtures("_no_folder_yet")
def test_code_is_kept_where_the_person_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "given"))
    assert cache_folder() == tmp_path / "given/elsewhere"


@pytest.mark.usefixtures("_no_folder_yet")
def test_code_is_kept_beside_the_package_where_that_can_be_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(doors, "__file__", str(tmp_path / "package/kept_code.py"))
    assert cache_folder() == tmp_path / "package/__pycache__/compiled"
    assert cache_folder().is_dir()


@pytest.mark.usefixtures("_no_folder_yet")
@pytest.mark.parametrize("is_there", [True, False])
def test_code_is_kept_with_the_users_caches_where_the_package_is_read_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, is_there: bool
) -> None:
    """Whether the folder is there already or cannot be made."""
    monkeypatch.setattr(doors, "__file__", str(tmp_path / "package/kept_code.py"))
    if is_there:
        monkeypatch.setattr(os, "access", lambda *_args, **_more: False)
    else:
        (tmp_path / "package").write_text("a file, where nobody can make a folder")
    assert cache_folder() == tmp_path / "cache/elsewhere/compiled"


def test_an_installed_package_nobody_may_write_to_keeps_code_with_the_user(tmp_path: Path) -> None:
    """For real: a copy of the package, read-only; permissions do not bind root, who is told no."""
    site = tmp_path / "site"
    shutil.copytree(PACKAGE, site / "elsewhere", ignore=shutil.ignore_patterns("__pycache__"))
    for path in (site / "elsewhere", *(site / "elsewhere").rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    program = f"""
import json, os, sys
if os.geteuid() == 0:
    honest = os.access
    os.access = lambda path, *more, **options: not str(path).startswith({str(site)!r}) and honest(
        path, *more, **options
    )
import numpy as np
import elsewhere.tape as tape
words = np.arange(100, dtype=np.uint64)
print(json.dumps([tape.__file__, int(tape.below(tape.new_tape(words), 7))]))
"""
    try:
        where, value = _run(program, site, XDG_CACHE_HOME=str(tmp_path / "cache"))
        assert where == str(site / "elsewhere/tape.py")
        assert value == 0
        kept = _files(tmp_path / "cache/elsewhere/compiled")
        assert any(name.startswith("below-") for name in kept)
        assert not list(site.rglob("*.nbc"))
        _run(program, site, XDG_CACHE_HOME=str(tmp_path / "cache"))
        assert _files(tmp_path / "cache/elsewhere/compiled") == kept
    finally:
        for path in (site / "elsewhere", *(site / "elsewhere").rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)


def test_where_nothing_can_be_kept_code_still_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(doors, "cache_folder", lambda: tmp_path / "file/under/it")

    def third(x: int) -> int:
        return x * 3

    loop: Any = compiled_as("third_of_a_test", third)
    assert isinstance(loop._cache, KeptCode)
    assert loop(14) == 42


def test_loops_release_the_lock_and_do_no_fast_mathematics() -> None:
    from elsewhere.tape import below  # noqa: PLC0415 - used only here

    options = below.targetoptions  # type: ignore[attr-defined]  # a compiled loop
    assert options["nogil"] is True
    assert not options.get("fastmath", False)


def test_a_function_that_moves_to_another_module_is_another_one() -> None:
    """What was kept names its module; under another name it could not even be loaded."""
    here = FunctionType((lambda x: x + 1).__code__, {"__name__": "a.module"}, "moved")
    there = FunctionType(here.__code__, {"__name__": "another.module"}, "moved")
    assert fingerprint(here) != fingerprint(there)
    assert fingerprint(here) == fingerprint(FunctionType(here.__code__, {"__name__": "a.module"}, "moved"))
