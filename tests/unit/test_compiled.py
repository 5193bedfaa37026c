"""Compiled code is thrown away when any loop has changed, and only then."""

from __future__ import annotations

import os
from pathlib import Path

from elsewhere.compiled import forget_stale_code


def test_a_changed_loop_makes_all_compiled_code_stale(tmp_path: Path) -> None:
    """Numba itself would go on using callers in other files with the old loop inside."""
    (tmp_path / "loop.py").write_text("@compiled\ndef f(): return 1\n")
    (tmp_path / "plain.py").write_text("x = 1\n")
    folder = tmp_path / "__pycache__"
    folder.mkdir()
    made = folder / "caller.f-1.py311.1.nbc"

    def survives(change: str, text: str) -> bool:
        made.write_bytes(b"machine code")
        (tmp_path / change).write_text(text)
        os.utime(tmp_path / change, ns=(0, (tmp_path / change).stat().st_mtime_ns + 1))
        forget_stale_code(tmp_path)
        return made.exists()

    forget_stale_code(tmp_path)
    assert survives("plain.py", "x = 2\n")
    assert not survives("loop.py", "@compiled\ndef f(): return 2\n")
    assert survives("loop.py", "@compiled\ndef f(): return 2\n")
