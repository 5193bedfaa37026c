"""Small edits to the trusted code, one at a time, to see whether any test notices.

`python audits/mutate.py [--most N] [--only STEMS]` changes one operator, number or name of `mechanism/`,
`tape`, `randomness`, `device/ledger` or `methods/sharing` in a copy of the tree, runs the tests that guard
them, and goes on with the next. What no test notices is printed at the end, and must be looked at: none of it
may weaken ε.
"""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src/elsewhere"
TRUSTED = [
    PACKAGE / "tape.py",
    PACKAGE / "randomness.py",
    PACKAGE / "methods/sharing.py",
    PACKAGE / "device/ledger.py",
    *sorted((PACKAGE / "mechanism").glob("*.py")),
]
# The tests that know each module, the quickest to object first: most edits are found out within seconds.
_PRIVACY, _ORACLE, _PROPERTY, _UNIT = (f"tests/{name}" for name in ("privacy", "oracle", "property", "unit"))
GUARDS = {
    "tape": [f"{_PRIVACY}/test_tape.py", f"{_PRIVACY}/test_rejection.py", f"{_PRIVACY}/test_answer.py"],
    "randomness": [f"{_PROPERTY}/test_twins.py", f"{_PRIVACY}/test_tape.py"],
    "sharing": [f"{_PROPERTY}/test_share.py", f"{_UNIT}/test_ledger.py", f"{_PROPERTY}/test_methods.py"],
    "ledger": [f"{_UNIT}/test_ledger.py", "tests/cli/test_share.py"],
    "answer": [f"{_PRIVACY}/test_answer.py", f"{_PRIVACY}/test_survey.py"],
    "pick": [f"{_PRIVACY}/test_codebook.py", f"{_PRIVACY}/test_answer.py"],
    "codebook": [f"{_PRIVACY}/test_codebook.py"],
    "words": [f"{_PRIVACY}/test_words.py"],
    "budget": [f"{_PRIVACY}/test_budget.py"],
    "secret": [f"{_PRIVACY}/test_secret.py", f"{_PROPERTY}/test_share.py"],
    "length": [f"{_PRIVACY}/test_length.py", f"{_PROPERTY}/test_share.py"],
    "rejection": [f"{_PRIVACY}/test_rejection.py", f"{_PRIVACY}/test_answer.py"],
    "ngram": [f"{_PRIVACY}/test_ngram.py", f"{_PRIVACY}/test_rejection.py"],
    "place_ngram": [f"{_PRIVACY}/test_rejection.py", f"{_PROPERTY}/test_methods.py"],
    "individual": [f"{_PRIVACY}/test_rejection.py", f"{_PROPERTY}/test_methods.py"],
    "whole_day": [f"{_ORACLE}/test_whole_day.py", f"{_PROPERTY}/test_methods.py"],
}
_ANYWHERE = [f"{_PRIVACY}/test_budget.py", f"{_PRIVACY}/test_codebook.py", f"{_PRIVACY}/test_ngram.py"]
# These go round all methods: only those that an edit can touch are worth the time.
ALL_METHODS = [f"{_PRIVACY}/test_channel.py", f"{_PRIVACY}/test_agreement.py"]
_TOUCHED = {
    "ngram": "ngram- or ngram]", "place_ngram": "noh or places", "individual": "ind-", "whole_day": "global",
    "codebook": "codebook", "pick": "codebook", "answer": "codebook", "length": "hide_length or hidden",
}  # fmt: skip
_ANY = "codebook or ngram]"
_SECONDS = 420
# Compiled code goes by what it is made of, so all edits can share it.
_COMPILED = str(Path(tempfile.gettempdir()) / "elsewhere-mutants")
_SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult, ast.And: ast.Or,
    ast.Or: ast.And,
}  # fmt: skip
_NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "ceil": "floor"}


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of one line."""

    path: Path
    line: int
    before: str
    after: str
    source: str
    """The whole file, changed."""

    def __str__(self) -> str:
        return f"{self.path.relative_to(PACKAGE)}:{self.line}: {self.before.strip()}  →  {self.after.strip()}"


def edits_of(path: Path) -> Iterator[Edit]:
    """Every operator, small number and name of a file that could be another."""
    text = path.read_text()
    tree = ast.parse(text)
    for number, node in enumerate(ast.walk(tree)):
        for change in _changes(node):
            copy = ast.parse(text)
            twin = next(other for place, other in enumerate(ast.walk(copy)) if place == number)
            change(twin)
            line = getattr(node, "lineno", 0)
            before, after = _statement(tree, line), _statement(copy, line)
            if before != after:
                yield Edit(path, line, before, after, ast.unparse(copy))


def _statement(tree: ast.AST, line: int) -> str:
    """The part of the smallest statement around a line that fits on one."""
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or line)
    ]
    if not around:
        return ""
    smallest = min(around, key=lambda node: ((node.end_lineno or 0) - node.lineno, -node.lineno))
    return ast.unparse(smallest).splitlines()[0]


def _changes(node: ast.AST) -> Iterator[partial[None]]:
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _SWAPS:
        yield partial(_swap_first, "ops")
    elif isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in _SWAPS:
        yield partial(_swap, "op")
    elif isinstance(node, ast.Constant) and type(node.value) is int and 0 <= node.value <= 64:
        yield partial(_add_one)
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        yield partial(_negate)
    elif isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in _NAMES:
        yield partial(_rename)
    elif isinstance(node, ast.If):
        yield partial(_turn)


def _swap_first(field: str, node: ast.AST) -> None:
    operators = getattr(node, field)
    operators[0] = _SWAPS[type(operators[0])]()


def _swap(field: str, node: ast.AST) -> None:
    setattr(node, field, _SWAPS[type(getattr(node, field))]())


def _add_one(node: ast.AST) -> None:
    node.value += 1  # type: ignore[attr-defined]  # a constant


def _negate(node: ast.AST) -> None:
    node.value = not node.value  # type: ignore[attr-defined]  # a constant


def _rename(node: ast.AST) -> None:
    function = node.func  # type: ignore[attr-defined]  # a call
    field = "id" if isinstance(function, ast.Name) else "attr"
    setattr(function, field, _NAMES[getattr(function, field)])


def _turn(node: ast.AST) -> None:
    node.test = ast.UnaryOp(ast.Not(), node.test)  # type: ignore[attr-defined]  # an if
    ast.fix_missing_locations(node)


def looked_at(edit: Edit) -> tuple[Edit, str]:
    """Which test notices an edit; blank if none does."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        ignored = shutil.ignore_patterns(
            ".git", ".venv", "__pycache__", ".*_cache", "demo", "site", ".hypothesis"
        )
        shutil.copytree(ROOT, tree, ignore=ignored)
        (tree / edit.path.relative_to(ROOT)).write_text(edit.source)
        stem = edit.path.stem.removesuffix("_proposal")
        some = ["-k", _TOUCHED.get(stem, _ANY)]
        guards = [test for test in GUARDS.get(stem, _ANYWHERE) if (tree / test).exists()]
        return edit, _objection(tree, guards) or _objection(tree, [*ALL_METHODS, *some])


def _objection(tree: Path, tests: list[str]) -> str:
    """The first test that fails in a tree; blank if none does."""
    try:
        done = subprocess.run(  # noqa: S603 - our own tests
            [sys.executable, "-m", "pytest", "-x", "-n", "0", "-p", "no:cacheprovider", *tests],
            cwd=tree,
            env={**os.environ, "PYTHONPATH": str(tree / "src"), "NUMBA_CACHE_DIR": _COMPILED},
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "does not end"
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return (failed or ["cannot even be imported"])[0] if done.returncode not in {0, 5} else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=80, help="how many edits, chosen by a seed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="stems of modules, such as answer,ledger; else all")
    parser.add_argument("--list", action="store_true", help="only list them")
    arguments = parser.parse_args()
    wanted = [path for path in TRUSTED if path.name != "__init__.py"]
    if arguments.only:
        wanted = [path for path in wanted if path.stem in arguments.only.split(",")]
    every = [edit for path in wanted for edit in edits_of(path)]
    picks = np.random.default_rng(arguments.seed).permutation(len(every))[: arguments.most]
    chosen = [every[pick] for pick in sorted(picks.tolist())]
    print(f"{len(chosen)} of {len(every)} possible edits")
    if arguments.list:
        print("\n".join(map(str, chosen)))
        return 0
    survivors = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for number, (edit, noticed) in enumerate(pool.map(looked_at, chosen), start=1):
            print(f"{number:3} {'survives' if not noticed else noticed[:60]:62} {edit}", flush=True)
            survivors += [] if noticed else [edit]
    print(f"\n{len(chosen) - len(survivors)} of {len(chosen)} are noticed. Survivors:")
    for edit in survivors:
        print(f"  {edit}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
