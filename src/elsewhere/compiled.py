"""The one door to numba: loops that pay for compilation, kept on disk once compiled (`kept_code`).

A device needs no compiler. Where numba is not installed, every loop runs as it is written, in Python: slower
and with the same results, bit for bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from inspect import signature
from numbers import Real
from types import CellType, FunctionType
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np

from elsewhere.errors import InputError

try:
    import numba
    from llvmlite import ir  # type: ignore[import-untyped]  # it has no types
    from numba.extending import intrinsic

    from elsewhere.kept_code import KeptCode
except ModuleNotFoundError:
    HAS_COMPILER = False
else:
    HAS_COMPILER = True

P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile ``function`` on first use; it releases the GIL, so threads can share the work.

    No fastmath: the same inputs must give the same bits here, in numpy and on another machine.
    """
    if not HAS_COMPILER:
        return _as_written(function)
    loop: Any = numba.njit(nogil=True)(function)
    if loop is function:
        return function  # type: ignore[no-any-return]  # NUMBA_DISABLE_JIT: all is interpreted, for debugging
    loop._cache = KeptCode(loop.py_func)  # noqa: SLF001 - numba has no public way to keep code elsewhere
    return cast("Callable[P, R]", loop)


def _as_written(function: Callable[P, R]) -> Callable[P, R]:
    """A function that runs as it is; whole numbers wrap around without a word, as in compiled code."""
    run: Any = np.errstate(over="ignore")(function)
    run.py_func = function
    return cast("Callable[P, R]", run)


def _is_interpreted() -> bool:
    """NUMBA_DISABLE_JIT: all is interpreted, for debugging."""
    return bool(getattr(numba.config, "DISABLE_JIT", False))


_FUNCTIONS: dict[int, tuple[Callable[..., float], Any]] = {}
"""Functions of three numbers by their address, as they were given and as they were compiled."""


def address_of(function: Callable[[float, float, float], float]) -> int:
    """Where compiled loops find a function of three numbers (`call_at`): the same type for all of them.

    A function handed to a loop would have the loop compiled anew; an address does not, and costs nothing
    where it is not used.
    """
    plain: Any = getattr(function, "py_func", function)
    _check_is_of_three_numbers(plain)
    made: Any = None
    if HAS_COMPILER and not _is_interpreted():
        compiler: Any = numba.cfunc
        try:
            # Dividing by zero gives no number, and so does an error, which could tell what is private.
            inner: Any = numba.njit(error_model="numpy")(plain)

            def guarded(a: float, b: float, c: float) -> float:
                try:
                    return float(inner(a, b, c))
                except Exception:  # noqa: BLE001 - a stranger's function
                    return math.nan

            made = compiler("float64(float64, float64, float64)", error_model="numpy")(guarded)
        except Exception as error:  # noqa: BLE001 - compilers have many ways to say that they cannot
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise InputError("register_distance", f"the function cannot be compiled: {reason}") from None
    address = len(_FUNCTIONS) + 1 if made is None else int(made.address)
    _FUNCTIONS[address] = (plain, made)  # both are kept as long as the program runs
    return address


def _check_is_of_three_numbers(function: Any) -> None:
    """What takes other arguments, or gives no number, would be found out by a compiler only, in its words."""
    wanted = "must be a function of three numbers: d_s, d_t and d_c"
    try:
        signature(function).bind(1.0, 1.0, 1.0)
    except (TypeError, ValueError):
        raise InputError("register_distance", wanted) from None
    try:
        found = function(1.0, 1.0, 1.0)
    except Exception:  # noqa: BLE001 - a stranger's function, whose errors count as no number
        return
    if not isinstance(found, Real):
        raise InputError("register_distance", f"must return a number, not {type(found).__name__}")


def _call_plainly(address: int, a: float, b: float, c: float) -> float:
    try:
        return float(_FUNCTIONS[address][0](a, b, c))
    except Exception:  # noqa: BLE001 - a stranger's function; an error could tell what is private
        return math.nan


def _compiled_call() -> Any:
    """`call_at` for compiled loops."""

    def call(_typing: Any, address: Any, a: Any, b: Any, c: Any) -> Any:
        del address, a, b, c
        number, where = numba.types.float64, numba.types.int64

        def generate(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
            kind = ir.FunctionType(ir.DoubleType(), [ir.DoubleType()] * 3)
            return builder.call(builder.inttoptr(values[0], kind.as_pointer()), values[1:])

        return number(where, number, number, number), generate

    made: Any = intrinsic(call)
    made.py_func = _call_plainly
    return made


call_at: Callable[[int, float, float, float], float] = (
    _compiled_call() if HAS_COMPILER and not _is_interpreted() else _call_plainly
)
"""Call the function at an address (`address_of`) with three numbers."""


def compiled_as(name: str, function: Callable[P, R]) -> Callable[P, R]:
    """The same for a function made inside another one: its name must be its own, or linkers mix them up."""
    function.__name__ = function.__qualname__ = name
    return compiled(function)


def interpreted(function: Callable[P, R]) -> Callable[P, R]:
    """The same source without compilation, and so are all compiled functions that it calls."""
    plain: Any = getattr(function, "py_func", function)
    return cast("Callable[P, R]", _interpreted(plain, {}))


def _interpreted(function: FunctionType, made: dict[FunctionType, FunctionType]) -> FunctionType:
    if function not in made:
        names: dict[str, Any] = {"__builtins__": function.__globals__["__builtins__"]}
        cells = tuple(CellType() for _ in function.__closure__ or ())
        twin = FunctionType(function.__code__, names, function.__name__, function.__defaults__, cells)
        made[function] = twin
        for name in function.__code__.co_names:
            if name in function.__globals__:
                names[name] = _uncompiled(function.__globals__[name], made)
        for cell, other in zip(cells, function.__closure__ or (), strict=True):
            cell.cell_contents = _uncompiled(other.cell_contents, made)
    return made[function]


def _uncompiled(value: Any, made: dict[FunctionType, FunctionType]) -> Any:
    return _interpreted(value.py_func, made) if hasattr(value, "py_func") else value


def patient(loop: Callable[P, R], twin: Callable[P, R], *, calls: int) -> Callable[P, R]:
    """``loop`` where its compiled code is at hand, else ``twin``, a slower one that gives the same, at first.

    A person who shares one day must not wait for a compiler. After so many ``calls`` it pays to compile.
    Which of the two runs depends on the machine and on how often it was called, never on what is true.
    """
    if not HAS_COMPILER:
        return twin
    left = calls

    @wraps(twin)
    def run(*args: P.args, **options: P.kwargs) -> R:
        nonlocal left
        if left > 0 and not is_ready(loop):
            left -= 1
            return twin(*args, **options)
        return loop(*args, **options)

    return run


def is_ready(loop: Any) -> bool:
    """Whether a compiled function has its code in memory or on disk, for arguments of some types."""
    if not hasattr(loop, "overloads"):
        return True  # NUMBA_DISABLE_JIT: there is nothing to wait for
    return bool(loop.overloads) or loop._cache.is_kept()  # noqa: SLF001 - our own
