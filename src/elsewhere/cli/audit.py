"""`elsewhere audit`: what ε a method really spends on a world."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from elsewhere.cli import method
from elsewhere.cli.console import facts_table, out, print_json, progress_bar, table, warn
from elsewhere.errors import InputError, needs_extra
from elsewhere.files import refuse_to_replace, write_text
from elsewhere.methods.registry import DEFAULT

if TYPE_CHECKING:
    from elsewhere.audit.report import AuditReport


def audit(
    world_file: Annotated[Path, typer.Argument(metavar="F.world", help="The world.", show_default=False)],
    *,
    epsilon: method.Epsilon = None,
    name: method.Name = DEFAULT,
    n: method.NgramLength = None,
    visits: Annotated[
        int | None,
        typer.Option(
            min=1, help="Visits of the days to look at; all lengths with --hide-length.  [default: 5]"
        ),
    ] = None,
    sensitivity: method.Sensitivity = None,
    same_length: method.SameLength = False,
    hide_length: method.HideLength = None,
    epsilon_per_draw: method.EpsilonPerDraw = None,
    levels: method.LevelsFile = None,
    settings: method.Settings = None,
    black_box: Annotated[
        int, typer.Option(metavar="N", min=0, help="Also share two days N times each, and look from outside.")
    ] = 0,
    workers: Annotated[int, typer.Option(min=1, help="Processes for --black-box.")] = 2,
    page: Annotated[Path | None, typer.Option(metavar="F.html", help="Write a page with a picture.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Say what ε a method really spends on a world, draw by draw, exactly where that can be had.

    Nothing private is needed: the audit is about all days that there could be.

    Example: elsewhere audit campus.world -e 5 --page audit.html
    """
    with needs_extra("the audit", "build"):
        from elsewhere.audit.made_up import made_up_days  # noqa: PLC0415 - needs an extra
        from elsewhere.audit.report import audit as audit_method  # noqa: PLC0415 - needs an extra
        from elsewhere.audit.sampling import FEWEST  # noqa: PLC0415 - needs an extra
        from elsewhere.audit.sampling import black_box as look_from_outside  # noqa: PLC0415 - needs an extra
    if page is not None:
        refuse_to_replace(page, [world_file])
    chosen = method.chosen_method(
        name,
        world_file,
        epsilon,
        epsilon_per_draw=epsilon_per_draw,
        n=n,
        same_length=same_length,
        hide_length=hide_length,
        levels=levels,
        sensitivity=sensitivity,
        settings=settings,
    )
    world = chosen.world
    if chosen.hides_length and visits is not None:
        raise InputError("--visits", "not where the number of visits is hidden: all lengths are looked at")
    if visits is not None and visits > world.clock.timesteps:
        raise InputError(
            "--visits", f"found {visits}, must be at most {world.clock.timesteps}, a day's timesteps"
        )
    if 0 < black_box < FEWEST:
        raise InputError("--black-box", f"found {black_box}, must be at least {FEWEST}: fewer show nothing")
    cap = chosen.facts().most_visits
    length = visits or min(5, cap or 5)
    chosen.prepare(length)
    seen = None
    if black_box:
        # Where the length is hidden it is what to look for: the shortest day against the longest.
        first = made_up_days(world, cap or length, 1)[0]
        second = made_up_days(world, 1 if cap else length, 2)[1]
        with progress_bar("Sharing two days, again and again") as progress:
            seen = look_from_outside(
                chosen, [(first, second)], samples=black_box, workers=workers, progress=progress
            )[0]
    with progress_bar("Looking for the worst output") as progress:
        report = audit_method(chosen, length, black_box=seen, progress=progress)
    if page is not None:
        with needs_extra("the page", "pages"):
            from elsewhere.pages.audit import audit_page  # noqa: PLC0415 - needs an extra
        write_text(page, audit_page(report))
    if as_json:
        print_json(report.as_json())
    else:
        _print(report, page)
    if not report.is_ldp:
        spends = f"it spends up to {report.spent:.1f}, not {float(report.claimed):g}"
        warn(f"NOT ε-LDP: {spends if report.overspends else report.facts.promise}")


def _print(report: AuditReport, page: Path | None) -> None:
    out.print(report.promise, soft_wrap=True, markup=False)
    out.print()
    rows = [
        [
            line.what,
            str(line.count),
            f"{float(line.epsilon):.4f}",
            f"{line.spent:.4f}",
            "exact" if line.is_exact else "proven bound",
        ]
        for line in report.lines
    ]
    out.print(table(["draw", "how many", "ε' claimed", "ε' spent at most", "how"], rows))
    out.print()
    lines = {
        "Claimed": f"ε = {float(report.claimed):g} for {report.days}",
        "Spent": f"at most {report.spent:.4f}{_share_of_claim(report)}",
        "How": report.how,
        **_usual(report),
        **_levels(report),
        "Hidden": report.facts.hides,
        "Not protected": "; ".join(report.not_protected),
        "World": report.world,
    }
    if report.black_box is not None:
        seen = report.black_box
        lines["From outside"] = (
            f"at least {seen.epsilon:.4f} (with confidence {1 - seen.alpha:.1%}; {2 * seen.samples:,} shares "
            f"of each of two made-up days could show {seen.could_show:.1f} at most)"
        )
    if page is not None:
        lines["See"] = str(page)
    out.print(facts_table(lines))


def _share_of_claim(report: AuditReport) -> str:
    return f" ({report.spent / float(report.claimed):.0%} of the claim)" if report.claimed else ""


def _levels(report: AuditReport) -> dict[str, str]:
    """What sensitive places have of their own, if they have it."""
    if "levels" not in report.facts.options:
        return {}
    what = "a visit there is told from one to the nearest ordinary place by no more than that"
    return {"Levels": f"{report.facts.options['levels']}: {what}"}


def _usual(report: AuditReport) -> dict[str, str]:
    """What a share tells on average, where that is known."""
    if report.losses is None:
        return {}
    usual, hardest = (float(values.mean()) for values in (report.losses.ordinary, report.losses.hardest))
    return {"Usual loss": f"{usual:.3f} between made-up days, {hardest:.3f} between the hardest pair"}
