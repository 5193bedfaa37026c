"""The architecture as tests: data flows one way, entropy has one door, a device loads little."""

from __future__ import annotations

import ast
import graphlib
import importlib
import inspect
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np

import elsewhere
from made_surveys import six_places

SOURCE = Path(elsewhere.__file__).parent
ROOT = SOURCE.parents[1]

# Imports point upwards in this list only.
LAYERS = [
    "errors", "arrays", "files", "kept_code", "compiled", "chacha", "randomness", "tape", "progress",
    "knowledge", "trajectories", "inputs", "world", "days", "mechanism", "reconstruct", "methods", "survey",
    "estimates", "device", "spark", "audit", "evaluate", "datasets", "experiments", "pages", "collector",
    "cli",
]  # fmt: skip
# Who may see a person's true day: those who perturb it, read it, or hold it against what was shared of it.
SEE_THE_TRUTH = (
    "__init__.py", "trajectories.py", "mechanism/", "methods/protocol.py", "methods/sharing.py", "device/",
    "audit/", "evaluate/", "datasets/",
)  # fmt: skip
# Experiments share and measure days; pages draw true days beside shared ones, of people who are made up, or
# of the one person who looks at them.
SEE_IT_TOO = {
    "experiments/workshop.py", "experiments/further.py", "experiments/population.py",
    "pages/sharing.py", "pages/own_day.py", "pages/sides.py",
    "cli/demo.py", "cli/own_days.py", "cli/survey_answer.py",
}  # fmt: skip
RANDOMNESS = re.compile(r"^(numpy\.random|random|secrets|uuid)\b")
HEAVY = {"numba", "llvmlite", "scipy", "polars", "shapely", "h3", "opening_hours", "pydantic"}


def _modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def _layer(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def _imports(path: Path) -> list[str]:
    names = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


def test_every_module_belongs_to_a_layer() -> None:
    assert {_layer(path) for path in _modules()} <= {*LAYERS, "__init__"}


def test_imports_point_upwards_only() -> None:
    wrong = []
    for path in _modules():
        layer = _layer(path)
        if layer == "__init__":
            continue
        for name in _imports(path):
            parts = name.split(".")
            is_ours = parts[0] == "elsewhere" and parts[1] in LAYERS
            if is_ours and LAYERS.index(parts[1]) > LAYERS.index(layer):
                wrong.append(f"{path.relative_to(SOURCE)} imports {name}")
    assert wrong == []


def test_only_randomness_touches_entropy() -> None:
    wrong = []
    for path in _modules():
        if path.name == "randomness.py":
            continue
        wrong += [f"{path.name}: {name}" for name in _imports(path) if RANDOMNESS.match(name)]
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute):
                text = ast.unparse(node)
                if text in {"os.urandom", "os.getrandom"} or re.match(r"(np|numpy)\.random\b", text):
                    wrong.append(f"{path.name}: {text}")
    # `np.random.Generator` as a type is fine: it is a source handed in, not one opened.
    assert [entry for entry in wrong if "np.random.Generator" not in entry] == []


def test_what_comes_after_the_draws_cannot_see_a_trajectory() -> None:
    for folder in ("reconstruct", "survey", "estimates"):
        for path in (SOURCE / folder).rglob("*.py"):
            assert not [
                name for name in _imports(path) if name.startswith("elsewhere.trajectories.Trajectory")
            ]


def test_a_trajectory_is_seen_only_where_it_must_be() -> None:
    seen = {
        str(path.relative_to(SOURCE))
        for path in _modules()
        for name in _imports(path)
        if name in {"elsewhere.trajectories.Trajectory", "elsewhere.Trajectory", "elsewhere.trajectories"}
    }
    assert {name for name in seen if not name.startswith(SEE_THE_TRUTH)} == SEE_IT_TOO


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _loaded_with(path: Path, known: set[str]) -> set[str]:
    """Our modules that are loaded when this one is: not those for types alone, nor those inside functions."""
    found: set[str] = set()
    left: list[ast.AST] = list(ast.parse(path.read_text()).body)
    while left:
        node = left.pop()
        if _is_for_types(node) or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            inside = {f"{node.module}.{alias.name}" for alias in node.names} & known
            found |= inside or {node.module or ""}
        left += ast.iter_child_nodes(node)
    return found & known


def test_no_module_waits_for_itself() -> None:
    """No cycles between modules; graphlib names one if there is."""
    known = {_module_name(path) for path in _modules()}
    graph = {_module_name(path): _loaded_with(path, known) for path in _modules()}
    assert graph["elsewhere.mechanism.ngram"] >= {"elsewhere.tape", "elsewhere.mechanism.rejection"}
    assert list(graphlib.TopologicalSorter(graph).static_order())


def _imports_inside_functions(path: Path) -> list[tuple[ast.stmt, list[str]]]:
    """Each import inside a function, with what stands in the `with` statements around it."""
    found: list[tuple[ast.stmt, list[str]]] = []

    def look(node: ast.AST, around: list[str], *, is_inside: bool) -> None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            around, is_inside = [], True
        if isinstance(node, ast.With):
            around = [*around, *(ast.unparse(item.context_expr) for item in node.items)]
        if isinstance(node, ast.Import | ast.ImportFrom) and is_inside:
            found.append((node, around))
        for child in ast.iter_child_nodes(node):
            look(child, around, is_inside=is_inside)

    look(ast.parse(path.read_text()), [], is_inside=False)
    return found


def test_our_own_modules_are_imported_late_only_where_an_extra_may_be_missing() -> None:
    late, guarded = [], 0
    for path in _modules():
        for node, around in _imports_inside_functions(path):
            if "elsewhere" in ast.unparse(node).split()[1]:
                guarded += 1
                if not any(text.startswith("needs_extra(") for text in around):
                    late.append(f"{path.relative_to(SOURCE)}:{node.lineno}")
    assert late == []
    assert guarded


def test_a_name_stands_for_one_class() -> None:
    homes: dict[str, list[str]] = {}
    for path in _modules():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(str(path.relative_to(SOURCE)))
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}


def test_compiled_loops_take_nothing_from_modules_but_numpy_and_mathematics() -> None:
    """`kept_code.fingerprint` sees what a loop takes by name; through a module it would go stale."""
    wrong, loops = [], 0
    for path in _modules():
        module = importlib.import_module(_module_name(path))
        for name, thing in vars(module).items():
            function = getattr(thing, "py_func", None)
            if function is None or function.__module__ != module.__name__:
                continue
            loops += 1
            used = [function.__globals__.get(word) for word in function.__code__.co_names]
            wrong += [
                f"{module.__name__}.{name}: {m}" for m in used if inspect.ismodule(m) and m not in (np, math)
            ]
    assert wrong == []
    assert loops > 100


def test_modules_stay_readable() -> None:
    long = {path.name: n for path in _modules() if (n := len(path.read_text().splitlines())) > 330}
    assert long == {}
    vague = [path for path in _modules() if path.stem in {"utils", "helpers", "common", "misc", "manager"}]
    assert vague == []


def test_functions_fit_on_a_screen() -> None:
    long = [
        f"{path.name}:{node.name}"
        for path in _modules()
        for node in ast.walk(ast.parse(path.read_text()))
        # A command's options are its signature: only what it does counts.
        if isinstance(node, ast.FunctionDef) and (node.end_lineno or 0) - node.body[0].lineno > 58
    ]
    assert long == []


def test_the_public_surface_is_exact_and_sorted() -> None:
    assert len(set(elsewhere.__all__)) == len(elsewhere.__all__)  # their order is ruff's business
    assert dir(elsewhere) == sorted([*elsewhere.__all__, "__version__"])
    for name in elsewhere.__all__:
        thing = getattr(elsewhere, name)
        assert getattr(thing, "__name__", name) == name
    assert set(elsewhere.METHODS) == {
        "ngram", "ngram-noh", "physdist", "ind-reach", "ind-noreach",
        "global", "global-subsampled", "global-pf", "codebook", "uniform", "popular", "constant",
        "typical",
    }  # fmt: skip


def test_a_device_loads_a_world_without_what_builds_one(tmp_path: Path) -> None:
    six_places(tmp_path).save(tmp_path / "w.world")
    program = (
        f"import sys\nfor name in {sorted(HEAVY)}: sys.modules[name] = None\n"
        "import elsewhere\nworld = elsewhere.World.load('w.world')\nprint(world)\n"
        "for name in ('ngram', 'codebook'):\n"
        "    print(elsewhere.method(name, world, epsilon=1).share(elsewhere.Trajectory([('p1', 60)]))[0])\n"
        "try:\n    elsewhere.build_world\nexcept elsewhere.MissingExtraError as error:\n    print(error)\n"
    )
    done = subprocess.run(  # noqa: S603 - our own interpreter and program
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.stderr == ""
    assert "World of 6 places" in done.stdout
    assert "pip install 'elsewhere[build]'" in done.stdout


def test_deviations_are_written_down_where_they_are_made() -> None:
    in_code = {
        name for path in _modules() for name in re.findall(r"Deviation: ([a-z0-9-]+) —", path.read_text())
    }
    in_docs = set(
        re.findall(r"^## ([a-z0-9-]+)$", (ROOT / "docs/reference/deviations.md").read_text(), re.MULTILINE)
    )
    assert in_code == in_docs
    assert in_code


def test_labels_of_the_paper_exist() -> None:
    paper = ROOT.parent / "shared/paper/paper.tex"
    if paper.exists():
        labels = set(re.findall(r"\\label\{([^}]+)\}", paper.read_text()))
        quoted = {
            label
            for path in _modules()
            for label in re.findall(r"\b((?:eq|fig|tab|def|ss|sss|s):[a-z0-9-]+)", path.read_text())
        }
        assert quoted - labels == set()
        assert quoted


def test_no_file_names_a_registry_or_this_machine() -> None:
    tracked = subprocess.run(
        ["git", "ls-files"],  # noqa: S607 - whichever git there is
        capture_output=True, text=True, check=False, cwd=ROOT,
    ).stdout.split()  # fmt: skip
    pattern = re.compile(r"files\.pythonhosted|pypi\.org|registry\.npmjs|deb\.debian|[/](?:work|root)[/]\w")
    wrong = [
        name
        for name in tracked
        if (path := ROOT / name).suffix in {".py", ".md", ".toml", ".txt", ""} and path.is_file()
        if name != "tests/architecture/test_layers.py" and pattern.search(path.read_text(errors="ignore"))
    ]
    assert wrong == []
