"""Pages of the site that nobody writes: the command reference, the Python reference, what the root holds.

MkDocs calls `on_files`; the tests call the rest. Nothing here is needed to use Elsewhere.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import typer

import elsewhere
from elsewhere.cli.main import app
from elsewhere.datasets.registry import SOURCES
from elsewhere.experiments.recipes import recipes
from elsewhere.methods.registry import METHODS

ROOT = Path(__file__).parents[1]
LINK_INTO_DOCS = re.compile(r"\]\(docs/")
FROM_ELSEWHERE = re.compile(
    r"<(?:script|img|iframe)\b[^>]*\bsrc=\"(?:https?:)?//|<link\b[^>]*\bhref=\"(?:https?:)?//"
)

COMMANDS_HEAD = """# Commands

Every command answers `--help` with what stands here. This page is made from the program itself.
Commands that read or write data take `--json`, which prints facts for machines and nothing else.
A mistake in a file or an option ends a command with one message and exit code 2.
"""

API_HEAD = """# Python

All that `import elsewhere as ew` offers, made from the code. Everything else in the package may change.
[Use it from Python](../how-to/use-from-python.md) shows how the parts work together.
"""

# What the promise of `codebook` rests on, in the order of a day's way: file, what of it, what it does.
TRUSTED = (
    ("mechanism/secret.py", "NumberedVisits", "a number for each visit, by a rule that never fails"),
    ("randomness.py", "SystemRandomness", "words of the operating system"),
    ("tape.py", "", "whole numbers and coins from words, exactly"),
    ("mechanism/rejection.py", "", "the one loop: the first accepted of N proposals, else one more"),
    ("mechanism/length.py", "stretched", "a long day brought to as many visits as candidates have"),
    ("mechanism/codebook.py", "", "which k candidates are near"),
    ("mechanism/pick.py", "", "that exactly k are mine, and the pick"),
    ("methods/codebook.py", "perturb", "hands the numbers on, and the draws back"),
    ("methods/sharing.py", "share", "the order of things: perturb, then rebuild from the draws alone"),
)


def on_files(files: Any, *, config: Any) -> Any:
    """Add the pages that are made when the site is built (an MkDocs hook)."""
    from mkdocs.structure.files import File  # noqa: PLC0415 - only MkDocs calls this, and brings it

    pages = {
        "reference/commands.md": command_reference(),
        "reference/api.md": api_reference(),
        "contributing.md": root_page("CONTRIBUTING.md"),
        "changelog.md": root_page("CHANGELOG.md"),
    }
    for path, text in pages.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_post_page(output: str, *, page: Any, config: Any) -> str:
    """A page that would ask another server for something ends the build (an MkDocs hook)."""
    from mkdocs.exceptions import PluginError  # noqa: PLC0415 - as above

    del config
    if found := FROM_ELSEWHERE.search(output):
        raise PluginError(f"{page.file.src_uri} would not work offline: {found.group()}")
    return output


def root_page(name: str) -> str:
    """A document of the repository's root, with its links into docs/ made to fit the site."""
    return LINK_INTO_DOCS.sub("](", (ROOT / name).read_text(encoding="utf-8"))


def commands() -> Iterator[tuple[str, Any]]:
    """Every command that does something, by its full name such as 'world build'."""
    yield from _commands_of(typer.main.get_command(app), ())


def _commands_of(group: Any, names: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    # Groups are asked, not looked into: some make their commands only then.
    context = group.make_context("elsewhere", ["--help"], resilient_parsing=True)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if hasattr(command, "list_commands"):
            yield from _commands_of(command, (*names, name))
        else:
            yield " ".join((*names, name)), command


def command_reference() -> str:
    """One section for each command: what it does, how it is called, its arguments and options."""
    return "\n".join([COMMANDS_HEAD, *(_command_section(name, command) for name, command in commands())])


def _command_section(name: str, command: Any) -> str:
    context = command.make_context(f"elsewhere {name}", [], resilient_parsing=True)
    text = inspect.cleandoc(command.help or "")
    what, _, example = text.partition("Example: ")
    lines = [f"## {name}", "", what.strip(), ""]
    usage = " ".join(command.get_usage(context).removeprefix("Usage:").split())
    lines += ["```text", re.sub(r"[{}]", "", usage), "```", ""]
    rows = [record for param in command.params if (record := param.get_help_record(context))]
    lines += ["| option | meaning |", "|---|---|"]
    lines += [f"| `{_cell(left)}` | {_words(right)} |" for left, right in rows] + [""]
    if example:
        lines += ["```console", f"$ {example.strip()}", "```", ""]
    return "\n".join(lines)


def _cell(text: str) -> str:
    """Text that cannot break out of a table."""
    return " ".join(text.split()).replace("|", "\\|").replace(" range>", ">")


def _words(text: str) -> str:
    """The same, where brackets are no links and names are no tags."""
    return re.sub(r"([\[\]<*_])", r"\\\1", _cell(text))


def api_reference() -> str:
    """One entry for each public name, things to call first, then what they take and give, then errors."""
    kinds: dict[str, list[str]] = {"Functions": [], "Classes and records": [], "Errors": []}
    for name in sorted(elsewhere.__all__, key=str.lower):
        thing = getattr(elsewhere, name)
        is_error = isinstance(thing, type) and issubclass(thing, Exception)
        kind = "Functions" if inspect.isfunction(thing) else "Classes and records"
        kinds["Errors" if is_error else kind].append(name)
    sections = [
        f"## {kind}\n\n" + "\n".join(f"::: elsewhere.{name}\n" for name in names)
        for kind, names in kinds.items()
    ]
    return "\n".join([API_HEAD, *sections])


def methods_table() -> str:
    """A row for each method of the registry."""
    rows = ["| name | what it draws | draws | number of visits | in the paper |", "|---|---|---|---|---|"]
    for name, entry in METHODS.items():
        length = "hidden" if entry.hides_length else "public"
        rows.append(f"| `{name}` | {entry.summary} | {_cell(entry.draws)} | {length} | {entry.paper} |")
    return "\n".join(rows)


def sources_table() -> str:
    """What each data source of the registry takes, and what is made of it."""
    rows = ["| name | raw files |", "|---|---|"]
    rows += [f"| `{name}` | {entry.files} |" for name, entry in SOURCES.items()]
    rows += ["", "| name | places | trajectories |", "|---|---|---|"]
    rows += [f"| `{name}` | {entry.places} | {entry.days} |" for name, entry in SOURCES.items()]
    return "\n".join(rows)


def experiments_table() -> str:
    """Names of `elsewhere experiment`, with what each makes."""
    rows = ["| name | what |", "|---|---|"]
    rows += [f"| `{name}` | {recipe.title} |" for name, recipe in recipes("paper").items()]
    return "\n".join(rows)


def trusted_code() -> str:
    """The files that the promise of `codebook` rests on, with how many lines of each."""
    rows = ["| file | lines | what it does |", "|---|---|---|"]
    total = 0
    for name, part, what in TRUSTED:
        first, last = _lines_of(name, part)
        total += last - first + 1
        label = f"`{name}`" if not part else f"`{name}`, `{part}`"
        rows.append(f"| {label} | {first}–{last} | {what} |")
    return "\n".join([*rows, f"| all | {total} lines, with docstrings and blank ones | |"])


def _lines_of(name: str, part: str) -> tuple[int, int]:
    """First and last line of a class or function of the package, or of a whole module."""
    text = (Path(elsewhere.__file__).parent / name).read_text(encoding="utf-8")
    if not part:
        return 1, len(text.splitlines())
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == part:
            return node.lineno, node.end_lineno or node.lineno
    raise LookupError(f"{name} has no {part}")


# Parts of pages that derive from the code: `python docs/site_pages.py` writes them, a test compares.
GENERATED: dict[str, dict[str, Callable[[], str]]] = {
    "docs/explanation/methods.md": {"methods table": methods_table},
    "docs/explanation/privacy.md": {"trusted code": trusted_code},
    "docs/how-to/reproduce-the-paper.md": {"experiments table": experiments_table},
    "docs/how-to/use-your-data.md": {"sources table": sources_table},
}


def refreshed(name: str) -> str:
    """A page with its generated parts as the code is now."""
    text = (ROOT / name).read_text(encoding="utf-8")
    for part, make in GENERATED[name].items():
        begin, end = f"<!-- {part}: begin -->", f"<!-- {part}: end -->"
        before, _, rest = text.partition(begin)
        _, found, after = rest.partition(end)
        if not found:
            raise LookupError(f"{name} has no place for the {part}")
        text = f"{before}{begin}\n{make()}\n{end}{after}"
    return text


if __name__ == "__main__":
    for page in GENERATED:
        (ROOT / page).write_text(refreshed(page), encoding="utf-8")
