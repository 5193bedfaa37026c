"""What the documents show is run here, as written."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from dataclasses import fields, replace
from pathlib import Path

import pytest

import elsewhere
from commands import Command
from elsewhere.world.settings import WorldSettings
from elsewhere.world.toml import parse_config
from site_pages import GENERATED, api_reference, command_reference, commands, refreshed

ROOT = Path(__file__).parents[2]
LONGEST_LINE = 110
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)
TRACKED = subprocess.run(
    ["git", "ls-files", "*.md"],  # noqa: S607 - whichever git there is
    capture_output=True, text=True, check=False, cwd=ROOT,
).stdout.split()  # fmt: skip
DOCUMENTS = [name for name in TRACKED if name == "README.md" or name.startswith("docs/")]


def _examples(document: str) -> list[tuple[str, str]]:
    """Blocks that are to be run, in order; `make` is for the reader."""
    found = BLOCK.findall((ROOT / document).read_text())
    return [(language, block) for language, block in found if "make " not in block]


def _run_outside(folder: Path, language: str, block: str) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    starts = {"sh": ["bash", "-e", "-c"], "python": [sys.executable, "-W", "error", "-c"]}
    done = subprocess.run(  # noqa: S603 - our own documents
        [*starts[language], block],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{block}\n{done.stderr}"


def _plain_commands(block: str) -> list[list[str]] | None:
    """Arguments of each `elsewhere` command of a block, and `> FILE`; None if it holds anything else."""
    found = []
    for line in block.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True) if "<<" not in line else ["cat"]
        if words and (words[0] != "elsewhere" or {">", "|", "<", "&"} & {*words[:-2], words[-1]}):
            return None
        found += [words[1:]] if words else []
    return found


def test_the_readme_runs_as_a_new_user_runs_it(tmp_path: Path) -> None:
    for language, block in _examples("README.md"):
        _run_outside(tmp_path, language, block)


@pytest.mark.parametrize("document", [name for name in DOCUMENTS if _examples(name) and name != "README.md"])
def test_examples_run_in_the_order_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, document: str, elsewhere: Command
) -> None:
    """Plain commands in this process: a hundred of them need not load everything a hundred times."""
    monkeypatch.chdir(tmp_path)
    for language, block in _examples(document):
        if language == "python":
            exec(compile(block, document, "exec"), {"__name__": "__main__"})  # noqa: S102 - our own documents
        elif (commands_shown := _plain_commands(block)) is None:
            _run_outside(tmp_path, language, block)
        else:
            _run_here(tmp_path, commands_shown, elsewhere)


_CITIES: dict[str, Path] = {}
"""Folders with what pages begin with, by the commands that made it: many begin with the same city."""


def _run_here(folder: Path, commands_shown: list[list[str]], elsewhere: Command) -> None:
    is_begin = not any(folder.iterdir())
    for number, arguments in enumerate(commands_shown, start=1):
        begin = repr(commands_shown[:number])
        if is_begin and begin in _CITIES:
            shutil.copytree(_CITIES[begin], folder, dirs_exist_ok=True)
            continue
        shown = arguments[:-2] if arguments[-2] == ">" else arguments
        code, printed, error = elsewhere(*shown)
        assert code == 0, f"{arguments}\n{error}"
        if shown != arguments:
            (folder / arguments[-1]).write_text(printed)
        if is_begin and arguments[:2] in (["dataset", "campus"], ["world", "build"]):
            _CITIES[begin] = Path(shutil.copytree(folder, f"{folder}-{number}"))


def test_the_readme_and_every_page_on_doing_things_have_examples() -> None:
    wanted = [name for name in DOCUMENTS if name.startswith("docs/how-to/")]
    assert wanted
    for name in ["README.md", "docs/tutorial.md", *wanted]:
        assert {language for language, _ in _examples(name)} == {"sh", "python"}, name


def test_every_setting_is_documented_with_its_default(tmp_path: Path) -> None:
    text = (ROOT / "docs/reference/settings.md").read_text()
    block = text.partition("```toml\n")[2].partition("```")[0]
    values = tomllib.loads(block)
    documented = parse_config(values, folder=tmp_path, source="docs").settings
    assert replace(documented, timezone="UTC") == WorldSettings()
    short = {"speed_kmh": "travel", "grid": "space"}
    assert {short.get(key, key) for key in values} - {"places", "categories"} == {
        field.name for field in fields(WorldSettings)
    }


def test_every_command_is_shown_at_work() -> None:
    text = "".join((ROOT / name).read_text().replace("\n", " ") for name in DOCUMENTS)
    assert [name for name, _ in commands() if f"elsewhere {name}" not in text and name != "demo"] == []
    assert "make demo" in text


def test_the_command_reference_has_every_command_and_option() -> None:
    sections = command_reference().split("\n## ")
    assert [section.splitlines()[0] for section in sections[1:]] == [name for name, _ in commands()]
    for section, (_, command) in zip(sections[1:], commands(), strict=True):
        assert [
            p.name for p in command.params if p.opts[0].startswith("-") and p.opts[-1] not in section
        ] == ["help" for p in command.params if p.name == "help"]


def test_the_python_reference_has_every_public_name() -> None:
    found = re.findall(r"^::: elsewhere\.(\w+)$", api_reference(), re.MULTILINE)
    assert sorted(found) == sorted(elsewhere.__all__)


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text().partition("\nnav:")[2]
    pages = {name.removeprefix("docs/") for name in DOCUMENTS if name.startswith("docs/")}
    made = {"reference/commands.md", "reference/api.md", "contributing.md", "changelog.md"}
    assert set(re.findall(r"\S+\.md", navigation)) == pages | made


def test_no_line_of_a_document_is_too_long() -> None:
    long = [
        f"{name}:{number}"
        for name in TRACKED
        if (ROOT / name).exists()
        for number, line in enumerate((ROOT / name).read_text(encoding="utf-8").splitlines(), start=1)
        if len(line) > LONGEST_LINE
    ]
    assert TRACKED
    assert long == []


def test_links_between_documents_lead_somewhere() -> None:
    wrong = []
    for name in [*DOCUMENTS, "CONTRIBUTING.md", "CHANGELOG.md"]:
        for target in re.findall(r"\]\(([^)#\s]+)", (ROOT / name).read_text()):
            is_page = not target.startswith("http")
            if is_page and not ((ROOT / name).parent / target).exists():
                wrong.append(f"{name}: {target}")
    assert wrong == []


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    named = [re.split(r"[>=\[]", entry)[0] for group in [project["dependencies"], *extras] for entry in group]
    design = (ROOT / "docs/explanation/design.md").read_text()
    assert [name for name in named if name != "elsewhere" and name not in design] == []


def test_the_version_stands_in_one_place() -> None:
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dynamic"] == ["version"]
    assert not re.search(r"^version:", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)


@pytest.mark.parametrize("page", GENERATED)
def test_parts_that_derive_from_the_code_are_up_to_date(page: str) -> None:
    """`python docs/site_pages.py` writes them."""
    assert (ROOT / page).read_text() == refreshed(page)
