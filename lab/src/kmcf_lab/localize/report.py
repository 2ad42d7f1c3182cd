"""The report on a localization run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kmcf.report import (
    Axis,
    Block,
    Chart,
    Image,
    MapChart,
    MapPath,
    Player,
    Report,
    Section,
    Series,
    SideBySide,
    Statements,
    Table,
    Text,
)
from kmcf.report.table import TableEntry as Entry
from kmcf_lab.cells import Row
from kmcf_lab.localize.checks import own_statements, statements
from kmcf_lab.localize.experiment import Experiment
from kmcf_lab.localize.methods import METHODS
from kmcf_lab.localize.moments import Moment
from kmcf_lab.localize.motion import fitted_motion
from kmcf_lab.localize.problem import LocalizationFold, Measure
from kmcf_lab.localize.replay import Iteration
from kmcf_lab.localize.scores import QUANTITIES, Score, counted_folds, heading, methods_of, ordered_quantities, summary
from kmcf_lab.statistics import estimate
from kmcf_lab.tables import columns
from kmcf_lab.versions import versions

_BELIEF = (
    "Example places, their area the weight: blue discs if positive, orange triangles if negative. Small dots: the "
    "prediction. Crosses: points picked by herding, from which the filter goes on. Star: truth. Diamond: estimate."
)


@dataclass(frozen=True)
class Shown:
    """What the report shows of one fold.

    Attributes
    ----------
    fold : LocalizationFold
        The fold.
    why : str
        Why this one, to follow its name.
    runs : mapping of str to sequence of dict
        Rows of all methods, beginning with the method that is looked into.
    iterations : sequence of Iteration
        Frames of the animation.
    """

    fold: LocalizationFold
    why: str
    runs: Mapping[str, Sequence[Row]]
    iterations: Sequence[Iteration]

    @property
    def method(self) -> str:
        """The method that is looked into."""
        return next(iter(self.runs))


def localization_report(
    experiment: Experiment,
    scores: Sequence[Score],
    shown: Shown,
    moments: Sequence[Moment],
    pictures: Mapping[str, Path],
    command: str,
) -> Report:
    """Put results, map, errors, belief and worst moments on a page."""
    problem = experiment.problem
    checked, own = statements(scores, problem.measure), own_statements(scores, problem.measure)
    sections = [
        Section(
            "Results", [Text(problem.about), _results(scores, problem.measure), *_by_fold(scores, problem.measure)]
        ),
        *([Section("Statements of Section 6.3", [Statements(checked)])] if checked else []),
        *([Section("Beyond the paper", [Statements(own)])] if own else []),
        *([Section("Number of examples", charts)] if (charts := size_charts(scores, problem.measure)) else []),
        Section("Path", [_map(experiment, shown), _errors_over_time(shown, problem.measure)]),
        Section("Belief", [*_player(experiment, shown), *_iterations(pictures)]),
        Section("Worst moments", _worst(moments, shown.method, problem.measure.unit)),
        Section("Settings", [_settings(experiment, scores, shown)]),
    ]
    return Report(problem.title, command, sections, summary=_summary(scores, problem.measure), versions=versions())


def _summary(scores: Sequence[Score], measure: Measure) -> str:
    methods = methods_of(scores)
    words = [f"{METHODS[name].label} {summary(scores, name, measure.primary)}" for name in methods]
    words_of_it = heading(measure.primary, measure)
    return f"{words_of_it[0].upper()}{words_of_it[1:]} over {counted_folds(scores)}: {', '.join(words)}."


def _results(scores: Sequence[Score], measure: Measure) -> Block:
    names = ordered_quantities(measure)
    rows: list[list[Entry]] = [
        [METHODS[method].label, *(summary(scores, method, name) for name in names)] for method in methods_of(scores)
    ]
    near = f"{measure.near:g} {measure.unit}"
    caption = f"Means over folds ± standard errors; {measure.words}. Share of steps with an error below {near}."
    return Table(["method", *(heading(name, measure) for name in names)], rows, caption)


def _by_fold(scores: Sequence[Score], measure: Measure) -> list[Block]:
    folds = list(dict.fromkeys((one.fold, one.repetition) for one in scores))
    if len(folds) < 2:
        return []
    methods = methods_of(scores)
    values = {(one.fold, one.repetition, one.method): one for one in scores}
    repeated = any(repetition for _, repetition in folds)
    rows: list[list[Entry]] = []
    for fold, repetition in folds:
        own = [values.get((fold, repetition, method)) for method in methods]
        steps = next(one.steps for one in own if one is not None)
        numbers: list[Entry] = [None if one is None else one.value(measure.primary) for one in own]
        rows.append([f"{fold}, repetition {repetition + 1}" if repeated else fold, steps, *numbers])
    better, words = QUANTITIES[measure.primary][1], heading(measure.primary, measure)
    columns = ["fold", "steps", *(METHODS[method].label for method in methods)]
    # The number of steps becomes text, so that it is never marked as the best number of a row.
    texts: list[list[Entry]] = [[row[0], str(row[1]), *row[2:]] for row in rows]
    caption = f"{words[0].upper()}{words[1:]} by fold; the best of each row is marked."
    return [Table(columns, texts, caption, best=better, within="row")]


def size_charts(scores: Sequence[Score], measure: Measure) -> list[Block]:
    """Draw the error and the time per step over n, for every interval; nothing if all folds have the same n."""
    if len({(one.examples, one.group) for one in scores if one.group}) < 2:
        return []
    charts: list[Block] = []
    for group in dict.fromkeys(one.group for one in scores):
        for name in (measure.primary, "milliseconds"):
            charts.append(_size_chart([one for one in scores if one.group == group], name, group))
    return [SideBySide(charts)]


def size_tables(scores: Sequence[Score], measure: Measure) -> list[Table]:
    """Put the primary number over n into a table for every interval, and the times over n into one more."""
    sizes = sorted({one.examples for one in scores})

    def table(some: Sequence[Score], name: str, caption: str) -> Table:
        lines: list[list[Entry]] = []
        for method in methods_of(some):
            means = [[s.value(name) for s in some if (s.method, s.examples) == (method, n)] for n in sizes]
            lines.append([METHODS[method].label, *(estimate(values) if values else None for values in means)])
        return Table(["method", *(f"n = {n}" for n in sizes)], lines, caption, best="lowest", within="column")

    tables = []
    for group in dict.fromkeys(one.group for one in scores):
        own = [one for one in scores if one.group == group]
        tables.append(table(own, measure.primary, f"{heading(measure.primary, measure)}, steps of {group}."))
    return [*tables, table(scores, "milliseconds", "Milliseconds per step, all intervals.")]


def _size_chart(scores: Sequence[Score], name: str, group: str) -> Block:
    series = []
    for method in methods_of(scores):
        own = [one for one in scores if one.method == method]
        sizes = sorted({one.examples for one in own})
        means = [estimate(one.value(name) for one in own if one.examples == size) for size in sizes]
        values, errors = np.array([m.value for m in means]), np.nan_to_num([m.error for m in means])
        series.append(Series(METHODS[method].label, sizes, values, values - errors, values + errors))
    label = "time per step" if name == "milliseconds" else QUANTITIES[name][0].removesuffix(" (m)")
    unit = "ms" if name == "milliseconds" else "m"
    axes = Axis("number of examples n"), Axis(label, unit, log=name == "milliseconds")
    return Chart(f"{label}, steps of {group}", *axes, series)


def _map(experiment: Experiment, shown: Shown) -> Block:
    data, rows = experiment.data(), shown.runs[shown.method]
    covariances = columns(rows, "variance_x", "covariance", "covariance", "variance_y").reshape(-1, 2, 2)
    times, errors = columns(rows, "time", "error").T
    paths = [
        MapPath(METHODS[shown.method].label, columns(rows, "x", "y"), times, errors, covariances),
        MapPath("truth", columns(rows, "true_x", "true_y"), times, dashed=True),
    ]
    points = {"examples": shown.fold.states[:, :2], **data.marks}
    measure = experiment.problem.measure
    ellipses = (
        "95 % of the belief"
        if measure.estimate == "mean"
        else f"belief within {3 * measure.near:g} {measure.unit} of the mode"
    )
    caption = f"{len(rows)} steps of {shown.fold.name}{shown.why}. Ellipses: {ellipses}."
    return MapChart("True and estimated path", paths, data.walls, points, caption=caption)


def _errors_over_time(shown: Shown, measure: Measure) -> Block:
    series = []
    for method, rows in shown.runs.items():
        times, errors = columns(rows, "time", "error").T
        series.append(Series(METHODS[method].label, times, errors))
    caption = f"{shown.fold.name}. Nothing is known at the start; {measure.start_words}drawn are all steps."
    return Chart("Error over time", Axis("time", "s"), Axis("error", measure.unit), series, caption)


def _player(experiment: Experiment, shown: Shown) -> list[Block]:
    if not shown.iterations:
        return [Text("No run of the Kernel Monte Carlo Filter was asked for, so no belief is shown.")]
    frames = [iteration.frame for iteration in shown.iterations]
    title = f"{METHODS[shown.method].label} on {shown.fold.name}, the first {len(frames)} steps"
    return [Player(title, frames, experiment.data().walls, caption=_BELIEF)]


def _iterations(pictures: Mapping[str, Path]) -> list[Block]:
    caption = (
        "Above: the prediction. Middle: weighted examples after the correction, blue positive, orange negative; the "
        "yellow ball is the truth, the green diamond the estimate. Below: points picked by herding."
    )
    titles = {
        "iterations_accurate": "Single iterations with accurate estimates",
        "iterations_difficult": "Single iterations with the worst estimates",
    }
    description = "Single iterations of the filter on the map: prediction, correction, resampling."
    return [
        Image(pictures[name], description, title, caption, drawn=True)
        for name, title in titles.items()
        if name in pictures
    ]


def _worst(moments: Sequence[Moment], method: str, unit: str) -> list[Block]:
    if not moments:
        return [Text("No step counts, so there is nothing to explain.")]
    rows: list[list[Entry]] = [
        [one.fold, f"{one.time:.4g} s", one.circumstances.error, one.circumstances.cause.value] for one in moments
    ]
    caption = f"The largest errors of {METHODS[method].label} among the steps that count."
    # Sentences go below the table: in a column they would be unreadable on a phone.
    sentences = [f"`{one.fold}, {one.time:.4g} s` {one.circumstances.explanation}" for one in moments]
    return [Table(["fold", "time", f"error ({unit})", "cause"], rows, caption), Text("\n\n".join(sentences))]


def in_words(settings: Mapping[str, object]) -> str:
    """Return settings as people write them.

    Examples
    --------
    >>> in_words({"window": 1.0, "tolerance": "auto"}), in_words({})
    ('window = 1.0, tolerance = auto', 'as they come')
    """
    return ", ".join(f"{name} = {value}" for name, value in settings.items()) or "as they come"


def _settings(experiment: Experiment, scores: Sequence[Score], shown: Shown) -> Block:
    settings = experiment.settings
    motion = fitted_motion(settings, shown.fold)
    rows: list[list[Entry]] = [
        [f"transition, {'learnt' if settings.learn_transition else 'given'}, of the fold shown", repr(motion)],
        ["observation kernel", "chosen by the filter" if (k := settings.observation_kernel) is None else repr(k)],
        ["state kernel", "chosen by the filter" if (k := settings.state_kernel) is None else repr(k)],
        ["noise inflated by, jumps", f"{settings.inflation:g}, {settings.recovery:g}"],
        ["loader", in_words(settings.load)],
        ["folds", in_words(settings.split)],
        ["KMCF", in_words(settings.kmcf)],
        ["seed, trials of tuning", f"{experiment.seed}, {experiment.trials}"],
    ]
    rows += [
        [f"tuned: {METHODS[one.method].label}, {one.fold}", one.tuned]
        for one in scores
        if one.tuned and one.repetition == 0
    ]
    missing = int(np.sum([one.missing for one in scores if one.method == scores[0].method]))
    rejected = {METHODS[m].label: sum(one.rejected for one in scores if one.method == m) for m in methods_of(scores)}
    rows.append(["test steps without observation", str(missing)])
    rows.append(
        ["observations not used", ", ".join(f"{name} {count}" for name, count in rejected.items() if count) or "none"]
    )
    return Table(["what", "value"], rows)
