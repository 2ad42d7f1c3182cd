"""Pages of docs/results that other programs write, from the raw numbers that they saved."""

import json
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from tools.release_numbers import page as release_page

from kmcf.report import Report, Section, Statement, Statements
from kmcf.report.markdown import markdown
from kmcf_lab.abc.report import abc_report
from kmcf_lab.cells import Result
from kmcf_lab.localize.checks import own_statements, statements
from kmcf_lab.localize.registry import problem_named
from kmcf_lab.localize.report import size_tables
from kmcf_lab.localize.scores import scores_of
from kmcf_lab.normalisation.report import normalisation_report
from kmcf_lab.resampling.checks import statements as resampling_statements
from kmcf_lab.synthetic.report import synthetic_report
from kmcf_lab.tables import read_cells
from kmcf_lab.theory.checks import statements as theory_statements

RESULTS = Path(__file__).parents[2] / "docs" / "results"
STUDIES = {"abc": abc_report, "normalisation": normalisation_report, "synthetic": synthetic_report}
TABLE = re.compile(r"^(?:\|.*\n)+", flags=re.MULTILINE)


def release(text: str) -> str:
    """Return the page of `make release-numbers`."""
    return release_page(json.loads((RESULTS / "release" / "release.json").read_text()))


def study(name: str, report: Callable[[Sequence[Result], str], Report], text: str) -> str:
    """Return a page with the tables of `kmcf reproduce`, made anew from its cells; the rest may be edited by hand."""
    tables = TABLE.findall(markdown(report(read_cells(RESULTS / name / "cells.parquet"), f"kmcf reproduce {name}")))
    count = len(TABLE.findall(text))
    if count != len(tables):
        raise ValueError(f"{name}/README.md has {count} tables, the report of kmcf reproduce {name} {len(tables)}")
    fresh = iter(tables)
    return TABLE.sub(lambda match: next(fresh), text)


def sentences(sources: Sequence[tuple[str, Callable[[Sequence[Result]], list[Statement]]]], text: str) -> str:
    """Return a page whose tables are the paper's sentences, each list checked anew on its cells."""
    if len(TABLE.findall(text)) != len(sources):
        raise ValueError(f"there are {len(TABLE.findall(text))} tables for {len(sources)} lists of sentences")
    checked = (check(read_cells(RESULTS / "reproduce" / name)) for name, check in sources)
    fresh = (TABLE.findall(markdown(Report("", "", [Section("", [Statements(one)])])))[0] for one in checked)
    return TABLE.sub(lambda match: next(fresh), text)


def building(text: str) -> str:
    """Return the page of Section 6.3 in the building: its sentences, and errors over the number of examples."""
    scores = scores_of(read_cells(RESULTS / "building" / "folds.parquet"))
    measure = problem_named("building").measure
    checked = [Statements(check(scores, measure)) for check in (statements, own_statements)]
    blocks = [*checked, *size_tables(scores, measure)]
    fresh = TABLE.findall(markdown(Report("", "", [Section("", blocks)])))
    if len(TABLE.findall(text)) != len(fresh):
        raise ValueError(f"building/README.md has {len(TABLE.findall(text))} tables instead of {len(fresh)}")
    tables = iter(fresh)
    return TABLE.sub(lambda match: next(tables), text)


# What turns the text of a page into its new text.
REPORTS: dict[Path, Callable[[str], str]] = {
    RESULTS / "building" / "README.md": building,
    RESULTS / "release" / "README.md": release,
    RESULTS / "reproduce" / "README.md": partial(
        sentences, (("resampling.parquet", resampling_statements), ("theory.parquet", theory_statements))
    ),
    **{RESULTS / name / "README.md": partial(study, name, report) for name, report in STUDIES.items()},
}
