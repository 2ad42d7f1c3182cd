"""The report on Section 6.2."""

from __future__ import annotations

from collections.abc import Sequence

from kmcf.report import Axis, Block, Chart, Report, Section, Series, SideBySide, Statements, Table, Text, Verdict
from kmcf.report.table import TableEntry as Entry
from kmcf_lab.cells import Result
from kmcf_lab.synthetic.checks import own_statements, statements
from kmcf_lab.synthetic.figures import LOOKS
from kmcf_lab.synthetic.measured import ORACLE, Measured, errors_of, times_of
from kmcf_lab.synthetic.methods import METHODS
from kmcf_lab.synthetic.study import REFERENCE
from kmcf_lab.synthetic.times import TIMED_STEPS
from kmcf_lab.tables import chosen, column, rows_of
from kmcf_lab.versions import versions

_HOW = (
    "Examples and test sequence (100 steps) are simulated independently. Hyper-parameters are chosen on the examples "
    "alone, by two-fold cross validation of two halves of the sequence, random search around the defaults and the "
    "geometric mean of the best trials; GP-PF maximises the marginal likelihood. All methods see the same data sets, "
    "so differences are tested in pairs. A statement about several models holds if it holds for their geometric mean "
    "(95 % interval over repetitions) and its opposite is significant on none of them."
)
_TIMES = (
    f"Median processor time of one thread over {TIMED_STEPS} steps, methods interleaved step by step, not tuned. "
    "`KMCF` is computed by our engines; `literal` solves n × n systems at every step, as printed in the paper."
)


def synthetic_report(results: Sequence[Result], command: str) -> Report:
    """Put charts, tables and checked statements on a page."""
    errors, times, checked = errors_of(results), times_of(results), statements(results)
    counts = {verdict: sum(one.verdict is verdict for one in checked) for verdict in Verdict}
    summary = (
        f"Of {len(checked)} statements of Section 6.2, {counts[Verdict.HOLDS]} hold, {counts[Verdict.FAILS]} do not, "
        f"and {counts[Verdict.UNCLEAR]} cannot be decided from these data."
    )
    sections = [
        Section("The paper's statements", [Text(_HOW), Statements(checked)]),
        Section("Beyond the paper", [Statements(own_statements(results))]),
        Section("Ratios to the oracle", _ratio_tables(errors)),
        Section("Errors", [SideBySide([_chart(errors, model) for model in errors.models]), *_error_tables(errors)]),
    ]
    if times.values:
        sections.append(Section("Times", [Text(_TIMES), *_time_blocks(times)]))
    sections.append(Section("What was computed", [_method_table(results), _count_table(errors)]))
    return Report("Synthetic state-space models (Section 6.2)", command, sections, summary=summary, versions=versions())


def shown_size(errors: Measured) -> int:
    """Return the number of examples that tables show where there is room for only one."""
    return REFERENCE if REFERENCE in errors.sizes else errors.sizes[0]


def _ratio_tables(errors: Measured) -> list[Block]:
    methods = [name for name in errors.methods if name != ORACLE]
    return [
        Table(
            ["method", *errors.models, "geometric mean"],
            [
                [name, *(errors.ratio(model, n, name) for model in errors.models), errors.overall_ratio(n, name)]
                for name in methods
            ],
            f"n = {n}: mean of the error divided by that of a particle filter that knows the likelihood.",
            best="lowest",
            within="column",
        )
        for n in errors.sizes
    ]


def _error_tables(errors: Measured) -> list[Block]:
    return [
        Table(
            ["method", *errors.models],
            [[name, *(errors.mean(model, n, name) for model in errors.models)] for name in errors.methods],
            f"n = {n}: root mean squared error, mean over data sets with its standard error.",
        )
        for n in errors.sizes
    ]


def _chart(measured: Measured, model: str, label: str = "root mean squared error") -> Block:
    series = []
    for method in measured.methods:
        x, means, spread = measured.curve(model, method)
        look = LOOKS[method]
        dashed = look.line != "-" and len(measured.sizes) > 1  # a single point has no line
        series.append(Series(method, x, means, means - spread, means + spread, dashed=dashed, colour=look.place))
    return Chart(f"Model {model}", Axis("number of examples n", log=True), Axis(label, log=True), series)


def _time_blocks(times: Measured) -> list[Block]:
    charts = [_chart(times, model, "milliseconds per step") for model in times.models]
    tables = [
        Table(
            ["method", *(f"n = {n}" for n in times.sizes)],
            [[name, *(times.mean(model, n, name) for n in times.sizes)] for name in times.methods],
            f"Model {model}: milliseconds per step.",
        )
        for model in times.models
    ]
    return [SideBySide(charts), *tables]


def _method_table(results: Sequence[Result]) -> Block:
    rows = rows_of(results, "accuracy")
    lines: list[list[Entry]] = []
    for name, method in METHODS.items():
        some = chosen(rows, method=name)
        if some:
            trials = sorted({int(row["trials"]) for row in some})
            words = "–".join(str(count) for count in dict.fromkeys((trials[0], trials[-1])))
            seconds = float(column(some, "fit_seconds").mean())
            lines.append([name, method.about, words, seconds, int(column(some, "rejected").sum())])
    columns = ["method", "what it is", "trials", "seconds to tune and fit", "rejected steps"]
    return Table(columns, lines, "The methods. Seconds are elapsed time; rejected steps are counted over all runs.")


def _count_table(errors: Measured) -> Block:
    rows: list[list[Entry]] = []
    for model in errors.models:
        counts: list[Entry] = [model]
        for n in errors.sizes:
            finished = [len(errors.values.get((model, n, method), {})) for method in errors.methods]
            counts.append(" to ".join(str(count) for count in dict.fromkeys((min(finished), max(finished)))))
        rows.append(counts)
    return Table(["model", *(f"n = {n}" for n in errors.sizes)], rows, "Data sets per method.")
