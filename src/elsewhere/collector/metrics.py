"""Numbers for Prometheus: how many requests ended how. Nothing of anybody's day or address is in them."""

from __future__ import annotations

from collections import Counter


class Metrics:
    """Counts since the collector started."""

    def __init__(self) -> None:
        self._reports: Counter[str] = Counter()
        self._refused: Counter[int] = Counter()

    def kept(self, outcome: str, count: int = 1) -> None:
        """Reports that came in, by what became of them."""
        self._reports[outcome] += count

    def refused(self, status: int) -> None:
        """Requests that were refused, by status."""
        self._refused[status] += 1

    def text(self, waiting: int) -> str:
        """As Prometheus reads it."""
        lines = ["# TYPE elsewhere_reports_total counter"]
        lines += [f'elsewhere_reports_total{{outcome="{k}"}} {n}' for k, n in sorted(self._reports.items())]
        lines.append("# TYPE elsewhere_refused_total counter")
        lines += [f'elsewhere_refused_total{{status="{k}"}} {n}' for k, n in sorted(self._refused.items())]
        lines += ["# TYPE elsewhere_reports_waiting gauge", f"elsewhere_reports_waiting {waiting}"]
        return "\n".join(lines) + "\n"
