"""`evaluate --page`: true and shared days side by side, for any pair of files, for the owner's eyes."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import pytest

from commands import Command
from worlds import build, place

HEAD = "uid,tid,datetime,place_id\n"
TRUE = HEAD + "".join(
    f"{n},1,2024-03-07T{h}:00:00,{p}\n" for n in range(30) for h, p in (("09", "cafe"), ("14", "shop"))
)
SHARED = HEAD + "".join(
    f"{n},1,2024-03-07T{h}:00:00,{p}\n" for n in range(30) for h, p in (("10", "bar"), ("13", "shop"))
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [
        place("cafe", 52.52, 13.405, hours="24/7"),
        place("shop", 52.53, 13.405, "shoes", hours="24/7"),
        place("bar", 52.525, 13.405, "bar", hours="24/7"),
    ]
    build(tmp_path / "city", rows, {"kappa": 1}).save(tmp_path / "w.world")
    (tmp_path / "true.csv").write_text(TRUE)
    (tmp_path / "shared.csv").write_text(SHARED)
    return tmp_path


def _run(elsewhere: Command, folder: Path, *more: str) -> tuple[int, str, str]:
    files = [str(folder / name) for name in ("true.csv", "shared.csv")]
    return elsewhere("evaluate", *files, "-w", str(folder / "w.world"), *more)


def test_any_pair_of_files_has_a_page_for_its_owner_alone(elsewhere: Command, folder: Path) -> None:
    code, _, err = _run(elsewhere, folder, "--page", str(folder / "page.html"))
    assert (code, err) == (0, "")
    assert stat.S_IMODE((folder / "page.html").stat().st_mode) == 0o600
    text = (folder / "page.html").read_text()
    assert "PRIVATE: this page shows people&#x27;s true days" in text
    assert "these people are made up" not in text
    assert "Counting shared days is not estimating" in text
    assert "<span>promise</span>" in text
    assert "<b>not said</b>" in text  # nothing stands beside the file
    for part in ("Hour by hour", "When people are out", "Which kinds of places", "null: popular"):
        assert part in text
    for row in ("shared", "null: uniform", "null: popular", "null: constant", "null: typical"):
        assert f"<td class='text'>{row}</td>" in text
    assert "the best null." in text
    assert "http" not in re.sub(r"<script.*?</script>", "", text.partition("</head>")[2], flags=re.DOTALL)


def test_nothing_of_the_table_is_cut_on_a_screen_of_80_columns(elsewhere: Command, folder: Path) -> None:
    code, out, _ = _run(elsewhere, folder)
    assert code == 0
    head, *lines = out.splitlines()[1:]
    assert head.split() == ["shared", "uniform", "popular", "constant", "typical"]
    assert "…" not in out
    assert max(map(len, [head, *lines])) <= 80
    assert all(
        re.fullmatch(r"[\d.,]+–[\d.,]+", word) for line in lines for word in line.split() if "–" in word
    )


def test_the_promise_is_what_the_shared_file_says(elsewhere: Command, folder: Path) -> None:
    facts = '{"method": "codebook", "epsilon": "5/2", "is_ldp": %s}'
    (folder / "shared.csv.meta.json").write_text(facts % "true")
    assert _run(elsewhere, folder, "--page", str(folder / "page.html"))[0] == 0
    assert "<b>codebook, ε = 2.5 a day</b>" in (folder / "page.html").read_text()
    (folder / "shared.csv.meta.json").write_text(facts % "false")
    assert _run(elsewhere, folder, "--no-nulls", "--page", str(folder / "page.html"))[0] == 0
    text = (folder / "page.html").read_text()
    assert "<b>none (codebook, ε = 2.5)</b>" in text
    assert "null: popular" not in text


def test_a_page_ends_in_html(elsewhere: Command, folder: Path) -> None:
    code, _, err = _run(elsewhere, folder, "--page", str(folder / "page.pdf"))
    assert (code, "must end in .html" in err) == (2, True)
