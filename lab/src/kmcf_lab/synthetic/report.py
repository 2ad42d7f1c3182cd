"""The report on Section 6.2."""

from __future__ import annotations

from collections.abc import Sequence

from kmcf.report import Axis, Block, Chart, Report, Section, Series, SideBySide, Statements, Table, Text, Verdict
from kmcf.report.table import TableEntry as Entry
from kmcf_lab.cells import Result
from kmcf_lab.ratios import COMPETITIVE, MARGIN, SIMILAR
from kmcf_lab.synthetic.checks import error_statements, own_statements, statements
from kmcf_lab.synthetic.figures import LOOKS
from kmcf_lab.synthetic.measured import ORACLE, Measured, errors_of, scaling_of, times_of
from kmcf_lab.synthetic.methods import GP_RESTARTS, METHODS, TRIALS_PER_PARAMETER
from kmcf_lab.synthetic.study import PAPER_REPETITIONS, REFERENCE
from kmcf_lab.synthetic.times import TIMED_STEPS
from kmcf_lab.tables import chosen, column, rows_of
from kmcf_lab.versions import versions

_HOW = (
    "Examples and test sequence (100 steps) are simulated independently. Hyper-parameters are chosen on the examples "
    "alone, by two-fold cross validation of two halves of the sequence and random search around the defaults, with "
    f"{TRIALS_PER_PARAMETER} trials for every parameter that a method has. For the paper's methods the trial with the "
    "smallest error is taken as it is; ours combine the best few and scale the regularisers. GP-PF maximises the "
    f"marginal likelihood of all examples, with {GP_RESTARTS} restarts. The paper's methods never reject a step. All "
    "methods see the same data sets, so differences are tested in pairs (95 % intervals over repetitions)."
)
_VERDICTS = (
    f"A difference of errors counts from {MARGIN - 1:.0%} on: a claim holds if the whole interval of the ratio lies "
    f"beyond {MARGIN:g} (or {1 / MARGIN:.2f}), does not hold if it lies on the other side of that bound, and is not "
    f"distinguishable otherwise. Competitive is an error at most {COMPETITIVE - 1:.0%} larger, or a time at most "
    f"{SIMILAR:g} times as long. *Seen from* is the smallest ratio that these data could have shown, given their "
    "number and their spread. A claim about several models is judged by their geometric mean; one model that clearly "
    "contradicts refutes it. Only KMCF-sub50 against KMCF-sub100, and the KBR filter with and without controls, are "
    "judged by the mean alone, and *for most of the models* by counting them, too."
)
_AVERAGED = (
    "A check about errors averages the logarithm of a ratio over the n that a data set was computed for; where some n "
    "have fewer data sets than others, they count in these alone, and are judged by themselves as well."
)
_FEW = (
    "The same checks on n = {n} alone, which has {data_sets}. Their numbers are part of those above, too. Effects "
    "smaller than *seen from* cannot be told from chance here, so *not distinguishable* does not mean that there is no "
    "effect; and an interval of so few data sets rests on the assumption that logarithms of ratios are normal."
)
_OTHER_DATA = (
    "With another number of data sets a mean is one over other data, so that methods can be compared with each other "
    "but not with themselves at another n: such n are in the tables, and hollow in the figures."
)
_OURS = (
    "Ours are not the paper's: other engines, other kernels, rejection of steps whose correction cannot be trusted, "
    "and another way to combine trials. They stand here for comparison only."
)
_TIMES = (
    f"Median processor time of one thread over {TIMED_STEPS} steps, methods interleaved step by step, not tuned. *As "
    "printed* solves n × n systems and evaluates the kernel mean anew for every herded point; *our engine* computes "
    "the paper's filter, or the KBR filter, our way. `KMCF`, `KMCF-sub` and `KBR` without a further word are the exact "
    "engine, which the errors above were computed with."
)
_SCALING = (
    "Model 1a, few steps. Algorithm 5 alone is its lines 3 to 5. The whole step of KMCF-low20 moves n particles and "
    "compares each with n examples (Algorithm 3, line 13), which is quadratic in n whatever Algorithm 5 costs."
)


def synthetic_report(results: Sequence[Result], command: str) -> Report:
    """Put charts, tables and checked statements on a page."""
    errors, times, checked = errors_of(results), times_of(results), statements(results)
    counts = {verdict: sum(one.verdict is verdict for one in checked) for verdict in Verdict}
    summary = (
        f"{data_sets(errors)} A run that was stopped continues with `kmcf reproduce synthetic --resume` in the same "
        f"folder, to {PAPER_REPETITIONS} data sets for every n. Of {len(checked)} checks of Section 6.2, "
        f"{counts[Verdict.HOLDS]} hold, {counts[Verdict.FAILS]} do not, and {counts[Verdict.UNCLEAR]} cannot be "
        "decided from these data."
    )
    sections = [
        Section("The paper's statements", [Text(_HOW), Text(_VERDICTS), Text(_AVERAGED), Statements(checked)]),
        *_few_sections(errors),
        Section("Beyond the paper", [Text(_OURS), Statements(own_statements(results))]),
        Section("Ratios to the oracle", _ratio_tables(errors)),
        Section("Errors", [*_error_charts(errors), *_error_tables(errors)]),
    ]
    if times.values:
        sections.append(Section("Times", [Text(_TIMES), *_time_blocks(times)]))
    scaling = scaling_of(results)
    if scaling.values:
        sections.append(Section("Growth of times", [Text(_SCALING), _scaling_table(scaling)]))
    sections.append(Section("What was computed", [_method_table(results), _count_table(errors)]))
    return Report("Synthetic state-space models (Section 6.2)", command, sections, summary=summary, versions=versions())


def data_sets(errors: Measured) -> str:
    """Say how many data sets all models and methods have, for every number of examples.

    Examples
    --------
    >>> data_sets(Measured({("1a", 100, "KMCF"): {0: 1.0, 1: 1.2}, ("1b", 100, "KMCF"): {0: 1.0}}))
    'This page rests on 1 data set at n = 100, for every model and method.'
    """
    words = [f"{_counted(count)} at n = {n}" for n, count in errors.counts.items()]
    listed = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
    whole = len(errors.values) == len(errors.models) * len(errors.sizes) * len({key[2] for key in errors.values})
    return f"This page rests on {listed}, for every model and method{'' if whole else ' that was computed there'}."


def _counted(count: int) -> str:
    return f"{count} data set{'' if count == 1 else 's'}"


def _few_sections(errors: Measured) -> list[Section]:
    """Judge each number of examples that has fewer data sets than another by itself."""
    return [
        Section(
            f"n = {n} alone",
            [Text(_FEW.format(n=n, data_sets=_counted(count))), Statements(error_statements(errors.at(n)))],
        )
        for n, count in errors.few.items()
    ]


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
            f"n = {n}: mean of the error divided by that of a particle filter that knows the likelihood, over "
            f"{_counted(errors.counts[n])}.",
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
            f"n = {n}: root mean squared error, mean over {_counted(errors.counts[n])} with its standard error.",
        )
        for n in errors.sizes
    ]


def _error_charts(errors: Measured) -> list[Block]:
    """Draw the curves over those n that have equally many data sets."""
    comparable = Measured({key: values for key, values in errors.values.items() if key[1] not in errors.few})
    charts = SideBySide([_chart(comparable, model) for model in errors.models])
    return [Text(_OTHER_DATA), charts] if errors.few else [charts]


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


def _scaling_table(scaling: Measured) -> Block:
    names = sorted({key[2] for key in scaling.values})
    return Table(
        ["", *(f"n = {n}" for n in scaling.sizes)],
        [[name, *(scaling.mean("1a", n, name) for n in scaling.sizes)] for name in names],
        "Milliseconds per step.",
    )


def _method_table(results: Sequence[Result]) -> Block:
    rows = rows_of(results, "accuracy")
    lines: list[list[Entry]] = []
    for name, method in METHODS.items():
        some = chosen(rows, method=name)
        if some:
            trials = sorted({int(row["trials"]) for row in some})
            words = "–".join(str(count) for count in dict.fromkeys((trials[0], trials[-1])))
            seconds = float(column(some, "fit_seconds").mean())
            counts = (int(column(some, kind).sum()) for kind in ("rejected", "broken"))
            lines.append([name, method.about, words, seconds, *counts])
    columns = ["method", "what it is", "trials", "seconds to tune and fit", "rejected steps", "broken steps"]
    caption = (
        "The methods. Seconds are elapsed time. Steps are counted over all runs: rejected by a rule of ours, or "
        "broken, where the printed algorithm met a singular matrix or weights that sum to zero. Both keep the "
        "prediction."
    )
    return Table(columns, lines, caption)


def _count_table(errors: Measured) -> Block:
    rows: list[list[Entry]] = []
    for model in errors.models:
        counts: list[Entry] = [model]
        for n in errors.sizes:
            finished = [len(errors.values.get((model, n, method), {})) for method in errors.methods]
            counts.append(" to ".join(str(count) for count in dict.fromkeys((min(finished), max(finished)))))
        rows.append(counts)
    return Table(["model", *(f"n = {n}" for n in errors.sizes)], rows, "Data sets per method.")
