"""Compiled code in files, each under a *fingerprint* of its function.

A fingerprint is made of a function's bytecode, the numbers it takes from its module, and the fingerprints of
all compiled functions it calls. So code is found again after a file was touched, moved or commented, in
another clone, and wherever the cache is; and it is never found once any loop that it is made of has changed.
Numba's own cache goes by the time of a file, and does not notice a change in a function that is called from
another file: the audit would then look at code that is no longer there.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dis import get_instructions
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numba
import numpy as np
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from platformdirs import user_cache_path

# Numba has no types here, and no public way to keep compiled code under a name of one's own.
_RESULTS: Any = CompileResult
_PICKLED: Any = dumps


class KeptCode(NullCache):
    """Compiled code of one function in files: one for each fingerprint and types of arguments."""

    def __init__(self, function: FunctionType) -> None:
        self._function = function
        self._fingerprint = ""

    @property
    def cache_path(self) -> str:
        return str(cache_folder())

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """What was compiled for these types of arguments, or None."""
        target_context.refresh()
        try:
            kept_bytes = self._path(signature, target_context.codegen()).read_bytes()
            kept = pickle.loads(kept_bytes)  # noqa: S301 - ours
        except (OSError, EOFError, ImportError, AttributeError, pickle.UnpicklingError):
            return None
        return _RESULTS._rebuild(target_context, *kept)  # noqa: SLF001 - as numba's own cache does

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep what was compiled, whole or not at all; a folder that cannot be written to is no fault."""
        if result.library.has_dynamic_globals or result.lifted:
            return
        path = self._path(signature, result.codegen)
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
                file.write(_PICKLED(result._reduce()))  # noqa: SLF001 - as numba's own cache does
            Path(file.name).replace(path)

    def is_kept(self) -> bool:
        """Whether there is any code of this function."""
        return any(cache_folder().glob(f"{self._stem()}-*.nbc"))

    def _path(self, signature: Any, codegen: Any) -> Path:
        types = [_typed(argument) for argument in signature]
        about = (numba.__version__, types, codegen.magic_tuple())
        name = hashlib.sha256(repr(about).encode()).hexdigest()[:16]
        return cache_folder() / f"{self._stem()}-{name}.nbc"

    def _stem(self) -> str:
        if not self._fingerprint:  # only now are all functions there that this one calls
            self._fingerprint = fingerprint(self._function)
        return f"{self._function.__name__}-{self._fingerprint[:24]}"


@cache
def cache_folder() -> Path:
    """Where compiled code is kept: as NUMBA_CACHE_DIR says, beside the package, or with the user's caches."""
    if given := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(given) / "elsewhere"
    beside = Path(__file__).parent / "__pycache__" / "compiled"
    with suppress(OSError):
        beside.mkdir(parents=True, exist_ok=True)
        if os.access(beside, os.W_OK):
            return beside
    return Path(user_cache_path("elsewhere")) / "compiled"


def fingerprint(function: FunctionType) -> str:
    """What a compiled function is made of, in 64 letters: the same exactly if its machine code would be."""
    digest = hashlib.sha256()
    for part in _parts(function, set()):
        digest.update(part.encode())
        digest.update(b"\0")
    return digest.hexdigest()


def _parts(function: FunctionType, seen: set[FunctionType]) -> Iterator[str]:
    if function in seen:
        return
    seen.add(function)
    # What is kept names the module that it is part of: a function that moves is another one.
    yield f"{function.__module__}.{function.__qualname__}"
    names: list[str] = []
    for code in _codes(function.__code__):
        yield repr((code.co_code, code.co_names, code.co_varnames, code.co_freevars))
        yield repr(
            [value for value in code.co_consts[_has_docstring(code) :] if not isinstance(value, CodeType)]
        )
        names += code.co_names
    values = [function.__globals__[name] for name in names if name in function.__globals__]
    values += [cell.cell_contents for cell in function.__closure__ or ()]
    for value in values:
        called = getattr(value, "py_func", None)
        if called is not None:
            yield from _parts(called, seen)
        else:
            yield _described(value)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from _codes(value)


def _has_docstring(code: CodeType) -> bool:
    """Whether the first constant is a docstring, which makes no difference: then no instruction loads it."""
    first = code.co_consts[0] if code.co_consts else None
    return isinstance(first, str) and not any(
        step.opname == "LOAD_CONST" and step.arg == 0 for step in get_instructions(code)
    )


def _typed(argument: Any) -> str:
    """A type in full: numba names a record by its class alone, but fields may have changed places."""
    parts = [_typed(part) for part in getattr(argument, "types", ())]
    return f"{argument} {getattr(argument, 'fields', ())} {parts}"


def _described(value: Any) -> str:
    """A global as compiled code sees it: the number itself, a record by its fields, anything else by name."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype.str} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, ModuleType):
        return value.__name__
    fields = getattr(value, "_fields", None)
    if isinstance(value, type) and fields is not None:
        return f"{value.__qualname__} {fields}"
    if isinstance(value, bool | int | float | complex | str | tuple | np.generic) or value is None:
        return repr(value)
    return str(getattr(value, "__qualname__", type(value).__qualname__))
