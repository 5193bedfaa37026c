"""Four walks through the tree as data takes them: modules, folders, and switches between folders.

`python benchmarks/walks.py` traces every function of the package in the order in which it is first called
(compiled loops interpreted, so that they are seen) and prints a row for each walk. A switch is a function
that lies in another folder than the one before it; the foundations (errors, arrays, ...) are in none. The
last column leaves out folders that hold nobody's day (knowledge, world, days): there others look things up.
`--tree SRC` looks at another checkout, `--show` prints the way itself.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import os
import re
import sys
import tempfile
import threading
from collections.abc import Iterator
from importlib import import_module
from itertools import groupby, pairwise
from pathlib import Path
from statistics import median
from types import CodeType, FrameType
from typing import Any

PUBLIC = frozenset({"knowledge", "world", "days"})
WALKS = ("perturb codebook", "perturb ngram", "world build", "evaluate")


class Steps:
    """Which modules of a package a thread of work passes through, in order."""

    def __init__(self, package: Path) -> None:
        self._package = f"{package}{os.sep}"
        self._seen: set[CodeType] = set()
        self.modules: list[str] = []
        """The module of each function, in the order in which functions are first called."""

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(self._package) and code not in self._seen:
            self._seen.add(code)
            module = code.co_filename.removeprefix(self._package)
            if os.sep in module and not code.co_name.startswith("<"):
                self.modules.append(module)


def folder_of(module: str) -> str:
    return module.partition(os.sep)[0]


def switches(modules: list[str]) -> int:
    """How often the next function that is new lies in another folder than the one before it."""
    folders = [folder_of(module) for module in modules]
    return sum(before != after for before, after in pairwise(folders))


@contextlib.contextmanager
def traced(package: Path) -> Iterator[Steps]:
    steps = Steps(package)
    threading.setprofile(steps)
    sys.setprofile(steps)
    try:
        yield steps
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def _found(name: str, *modules: str) -> Any:
    """A function by name, in whichever module a tree has it."""
    for module in modules:
        with contextlib.suppress(ModuleNotFoundError):
            return getattr(import_module(f"elsewhere.{module}"), name)
    raise LookupError(name)


def walks(package: Path, folder: Path) -> dict[str, list[str]]:
    """The functions of each walk, on a small campus; what is public is ready before a day sets out."""
    read_campus = _found("read_campus", "datasets.campus_files")
    write_dataset = _found("write_dataset", "datasets.bundle")
    build_world, method = _found("build_world", "world.build"), _found("method", "methods.registry")
    perturb_file = _found("perturb_file", "device.job", "methods.job")
    read_matching = _found("read_matching", "device.reading", "methods.reading")
    summarise = _found("summarise", "evaluate.summary")
    raw: Any = () if package.joinpath("device").exists() else None
    write_dataset(folder, read_campus(raw, people=12, seed=1, progress=lambda _done, _total: None))
    days, found = folder / "trajectories.csv", {}
    with traced(package) as steps:
        world = build_world(folder / "world.toml")
        world.save(folder / "c.world")
    found["world build"] = steps.modules
    for name, options in (("codebook", {"candidates": 64, "k": 3}), ("ngram", {})):
        chosen = method(name, world, epsilon=5, **options)
        perturb_file(days, folder / f"before-{name}.csv", chosen, version="")
        with traced(package) as steps:
            perturb_file(days, folder / f"{name}.csv", chosen, version="")
        found[f"perturb {name}"] = steps.modules
    with traced(package) as steps:
        summarise(world, *read_matching(days, folder / "ngram.csv", world))
    found["evaluate"] = steps.modules
    return found


def tree_facts(package: Path) -> dict[str, str]:
    """What the text of a package says of its shape."""
    paths = sorted(package.rglob("*.py"))
    texts = {path: path.read_text() for path in paths}
    lines = [len(text.splitlines()) for text in texts.values()]
    own, inside, comments, total = [], 0, 0, sum(lines)
    for path, text in texts.items():
        tree = ast.parse(text)
        top = {
            node.module
            for node in tree.body
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("elsewhere")
        }
        if path.name != "__init__.py":
            own.append(len(top))
        for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
            inside += sum(
                isinstance(node, ast.ImportFrom) and (node.module or "").startswith("elsewhere")
                for node in ast.walk(function)
            )
        comments += sum(bool(re.match(r"\s*#", line)) for line in text.splitlines())
    return {
        "modules / median / longest, lines": f"{len(paths)} / {median(lines):g} / {max(lines)}",
        "own imports of a module, median": f"{median(own):g}",
        "own imports inside functions": str(inside),
        "comment lines in 100": f"{100 * comments / total:.1f}",
        "lines over 110": str(sum(len(line) > 110 for text in texts.values() for line in text.splitlines())),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=Path, default=Path(__file__).parents[1] / "src")
    parser.add_argument("--show", action="store_true", help="print the way itself")
    arguments = parser.parse_args()
    source = arguments.tree.resolve()
    os.environ["NUMBA_DISABLE_JIT"] = "1"  # so that calls into compiled loops are seen
    sys.path.insert(0, str(source))
    package = source / "elsewhere"
    with tempfile.TemporaryDirectory() as folder:
        found = walks(package, Path(folder))
    print(f"{'walk':18}{'modules':>9}{'folders':>9}{'switches':>10}{'stages':>10}")
    for name in WALKS:
        order = found[name]
        modules, folders = set(order), set(map(folder_of, order))
        stages = [module for module in order if folder_of(module) not in PUBLIC]
        print(f"{name:18}{len(modules):9}{len(folders):9}{switches(order):10}{switches(stages):10}")
        if arguments.show:
            print("   ", " ".join(name for name, _ in groupby(m.removesuffix(".py") for m in order)))
    for what, value in tree_facts(package).items():
        print(f"{what:40}{value}")


if __name__ == "__main__":
    main()
