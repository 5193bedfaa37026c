"""The architecture as tests: data flows one way, entropy has one door, a device loads little."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import elsewhere
from worlds import build, place

SOURCE = Path(elsewhere.__file__).parent
ROOT = SOURCE.parents[1]

# Imports point upwards in this list only.
LAYERS = [
    "errors", "arrays", "compiled", "randomness", "knowledge", "params", "config", "trajectories", "io",
    "world",
    "mechanism", "reconstruct", "methods", "audit", "evaluate", "datasets", "experiments", "pages", "cli",
]  # fmt: skip
RANDOMNESS = re.compile(r"^(numpy\.random|random|secrets|uuid)\b")
HEAVY = {"scipy", "polars", "shapely", "h3", "opening_hours", "pydantic", "plotly"}


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
    for folder in ("reconstruct",):
        for path in (SOURCE / folder).rglob("*.py"):
            assert not [
                name for name in _imports(path) if name.startswith("elsewhere.trajectories.Trajectory")
            ]


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
    for name in elsewhere.__all__:
        thing = getattr(elsewhere, name)
        assert getattr(thing, "__name__", name) == name
    assert set(elsewhere.METHODS) == {
        "ngram", "ngram-noh", "physdist", "ind-reach", "ind-noreach",
        "global", "global-subsampled", "global-pf", "codebook", "uniform", "popular", "constant",
        "typical",
    }  # fmt: skip


def test_a_device_loads_a_world_without_what_builds_one(tmp_path: Path) -> None:
    build(tmp_path, [place("a", 50, 10)], {"kappa": 1}).save(tmp_path / "w.world")
    program = (
        f"import sys\nfor name in {sorted(HEAVY)}: sys.modules[name] = None\n"
        "import elsewhere\nworld = elsewhere.World.load('w.world')\nprint(world)\n"
        "for name in ('ngram', 'codebook'):\n"
        "    print(elsewhere.method(name, world, epsilon=1).share(elsewhere.Trajectory([('a', 60)]))[0])\n"
        "try:\n    elsewhere.build_world\nexcept elsewhere.MissingExtraError as error:\n    print(error)\n"
    )
    done = subprocess.run(  # noqa: S603 - our own interpreter and program
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.stderr == ""
    assert "World of 1 places" in done.stdout
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
