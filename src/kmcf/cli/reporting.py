"""``--report`` and ``--compare``: the statements that filter with rivals and write a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kmcf.cli.options import OUTPUT
from kmcf.cli.script import Code, Script, call
from kmcf.cli.showing import command_line
from kmcf.support.extras import require

if TYPE_CHECKING:
    from kmcf.cli.models import LoadedModel

COMPARED = "kNN particle filter (knn-pf), Gaussian-process particle filter (gp-pf), particles, poisson (for counts), "
CompareOption = Annotated[
    list[str] | None,
    typer.Option(
        "--compare",
        metavar="NAMES",
        help=f"Filter with these, too, fitted to the same examples: {COMPARED}knn, nearest; crossvalidate: also kbr.",
        rich_help_panel=OUTPUT,
    ),
]
METHOD_SHOWN = ("mean_error", "median_error", "rmse", "inside", "crps", "alarms")
"""What is shown of every method; --json has everything."""


@dataclass(frozen=True)
class ReportOptions:
    """The page about runs."""

    report: Annotated[
        Path | None,
        typer.Option(
            "--report",
            metavar="PAGE",
            help="Write an HTML page: map, path, beliefs, alarms; where states are known, errors and worst moments.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    unit: Annotated[
        str, typer.Option("--unit", help="Unit of the state, for the page: m, cm, px.", rich_help_panel=OUTPUT)
    ] = ""
    time_unit: Annotated[
        str, typer.Option("--time-unit", help="Unit of the time, for the page: s.", rich_help_panel=OUTPUT)
    ] = ""

    def check(self) -> None:
        """Refuse a page whose name promises something else, or that could not be drawn, before anything is computed."""
        if self.report is None:
            return
        if self.report.suffix.lower() not in (".html", ".htm"):
            raise ValueError(f"--report {self.report}: the page is HTML; choose a name that ends in .html.")
        for library in ("jinja2", "bokeh"):
            require(library, "report")


def compared(words: Sequence[str] | None) -> list[str]:
    """Read the names of methods, which may be separated by commas.

    Examples
    --------
    >>> compared(["knn-pf,nearest", "knn"])
    ['knn-pf', 'nearest', 'knn']
    """
    from kmcf.baselines.registry import check_names

    names = list(dict.fromkeys(part.strip() for word in words or () for part in word.split(",") if part.strip()))
    check_names(names)
    return names


def add_rivals(script: Script, names: Sequence[str], filtering: Code) -> None:
    """Add the statements that filter ``recordings`` with rivals of ``flt``, as ``compared``.

    Parameters
    ----------
    script : Script
        Has ``flt`` and ``recordings``.
    names : sequence of str
        Of the rivals.
    filtering : Code
        The call that filters with ``flt``.
    """
    if names:
        script.add(f"rivals = {call('kmcf.baselines.rivals', Code('flt'), list(names))}")
        script.add(
            "compared = {name: "
            + filtering.replace("flt.filter_many", "rival.filter_many", 1)
            + " for name, rival in rivals.items()}"
        )


def add_report(script: Script, model: LoadedModel, options: ReportOptions, title: str, rivals: bool = False) -> None:
    """Add the statements that write the page, if there is to be one."""
    if options.report is None:
        return
    options.check()
    script.add_folder(options.report.parent)
    given: dict[str, Any] = {
        "rivals": Code("compared") if rivals else None,
        "states": model.states,
        "examples": Code("flt.states_"),
        "unit": options.unit or None,
        "time_unit": options.time_unit or None,
        "title": title,
        "command": command_line(),
        "settings": _settings(model),
    }
    given = {name: value for name, value in given.items() if value is not None}
    what = (options.report, Code("recordings"), Code("runs"))
    script.add(call("kmcf.export.write_report", *what, **given))


def _settings(model: LoadedModel) -> dict[str, str]:
    """Say what the filter is, in words."""
    flt = model.filter
    known = {
        "model": model.name,
        "filter": type(flt).__name__,
        "examples": str(len(flt.states_)),
        "transition": repr(flt.transition),
        "observation kernel": repr(getattr(flt, "observation_kernel_", None)),
        "engine": str(getattr(flt, "engine_", "")),
        "intervals": "as they come" if flt.calibration_ is None else "calibrated",
    }
    return {name: value for name, value in known.items() if value not in ("", "None")}
