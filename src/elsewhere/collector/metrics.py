"""Numbers for Prometheus: how many requests ended how. Nothing of anybody's day or address is in them."""

from __future__ import annotations

from collections import Counter


class Metrics:
    """Counts since the collector started; of reports only in steps.

    An exact count, looked at every second, would tell when each report came: they are kept in that order.
    """

    def __init__(self, step: int = 1) -> None:
        self._step = step
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
        counts = {outcome: n // self._step * self._step for outcome, n in sorted(self._reports.items())}
        lines += [f'elsewhere_reports_total{{outcome="{k}"}} {n}' for k, n in counts.items()]
        lines.append("# TYPE elsewhere_refused_total counter")
        lines += [f'elsewhere_refused_total{{status="{k}"}} {n}' for k, n in sorted(self._refused.items())]
        lines += [
            "# TYPE elsewhere_reports_waiting gauge",
            f"elsewhere_reports_waiting {waiting // self._step * self._step}",
        ]
        return "\n".join(lines) + "\n"
