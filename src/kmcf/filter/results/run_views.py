"""What a run looks like: pictures and the page about it, with the names that the user gave to the states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from kmcf.plotting import plot_run
from kmcf.report.run_page import Followed, Labels, run_report

if TYPE_CHECKING:
    from kmcf.filter.results.run import FilterRun


class ViewedRun:
    """The part of a run that people look at."""

    _names: tuple[str, ...] = ()
    _examples: Any = None
    """Where the filter's examples were taken, for maps; None: not known."""

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the examples, which are the filter's."""
        state = super().__getstate__()
        assert isinstance(state, dict)
        return {name: value for name, value in state.items() if name != "_examples"}

    @property
    def state_names(self) -> tuple[str, ...]:
        """Names of the state's coordinates: those of the filter, or "state", or "state 0", "state 1", ..."""
        width = int(np.prod(np.shape(self.mean)[np.ndim(self.time) :]))  # type: ignore[attr-defined]
        return self._names or (("state",) if width == 1 else tuple(f"state {j}" for j in range(width)))

    def named(self, names: Sequence[str], examples: Any = None) -> Self:
        """Name the coordinates of the state, for pictures and pages; return the run.

        Parameters
        ----------
        names : sequence of str
            One per coordinate, with units if you like: ``["x (m)", "y (m)"]``. Empty: no names.
        examples : array (n, d), optional
            Where examples were taken, for maps.
        """
        self._names = tuple(str(name) for name in names)
        self._examples = examples if examples is not None else self._examples
        return self

    def plot(self, truth: Any = None, axes: Any = None, *, time: str | None = None) -> Any:
        """Draw the estimates over time (needs matplotlib); see :func:`kmcf.plotting.plot_run`.

        The axes bear the names of the states (:attr:`state_names`); ``time`` names the horizontal one.
        """
        return plot_run(self, truth=truth, axes=axes, names=self._names, time=time)  # type: ignore[arg-type]

    def report(
        self,
        path: str | PathLike[str],
        truth: Any = None,
        *,
        rivals: Mapping[str, FilterRun] | None = None,
        name: str = "run",
        unit: str = "",
        time_unit: str = "",
        title: str = "Filter run",
    ) -> Path:
        """Write a page about the run: one HTML file that needs nothing else.

        It shows the path on a map (of two or more coordinates), every coordinate with its interval, where the belief
        was, the alarms and, with ``truth``, mean and median error, error over time and the worst moments. Where the
        run was smoothed, what the filter said stands beside it.

        Parameters
        ----------
        path : path
            The file.
        truth : array (T, d), optional
            The true states; NaN where they are unknown.
        rivals : dict, optional
            Runs of other filters on the same observations, by name, to compare with.
        name, title : str
            What the sequence is called, and the heading.
        unit, time_unit : str
            Units of state and time.

        Examples
        --------
        >>> import tempfile, kmcf
        >>> model = kmcf.datasets.paper_model("1a")
        >>> train, test = model.simulate(100, random_state=0), model.simulate(20, random_state=1)
        >>> flt = kmcf.KernelMonteCarloFilter(model.transition, initial=model.initial, random_state=0)
        >>> run = flt.fit(train.states, train.observations).filter(test.observations)
        >>> page = run.report(Path(tempfile.mkdtemp()) / "run.html", truth=test.states)
        >>> "Worst moments" in page.read_text()
        True
        """
        run: Any = self
        if run.is_batch:
            raise TypeError("this is a batch of runs: report one of them, run[b].report(path).")
        runs = {**with_filtered("KMCF" if not rivals else "this filter", run), **(rivals or {})}
        followed = followed_sequence(name, runs, truth, examples=self._examples)
        timed = bool(np.isfinite(run.times).all())
        labels = Labels(self.state_names, unit, "time" if timed else "step", time_unit)
        return run_report(
            [followed], labels, title=title, command=f"run.report({str(path)!r})", overall=followed.scores
        ).write(Path(path))


def with_filtered(name: str, run: FilterRun) -> dict[str, FilterRun]:
    """Return a run by its method's name; a smoothed one with the filter's beside it."""
    if run.filtered is None:
        return {name: run}
    return {f"{name}, smoothed": run, f"{name}, filtered": run.filtered}


def followed_sequence(
    name: str, runs: Mapping[str, FilterRun], truth: Any, *, examples: Any = None, times: Any = None
) -> Followed:
    """Put together what a page says about one sequence.

    Parameters
    ----------
    name : str
        What it is called.
    runs : dict
        Runs by method, the one looked into first.
    truth : array (T, d) or None
        The true states.
    examples : array (n, d), optional
        Where examples were taken.
    times : array (T,), optional
        When the steps were; None: as the run says.
    """
    from kmcf.filter.results.scores import score_runs, truth_rows

    first = next(iter(runs.values()))
    if times is None:
        times = first.times if np.isfinite(first.times).all() else first.time
    known = None if truth is None else truth_rows(truth)
    scores = {} if known is None else {method: score_runs([run], [known])._asdict() for method, run in runs.items()}
    examples = first._examples if examples is None else examples
    places = None if examples is None else np.asarray(examples, dtype=np.float64).reshape(len(examples), -1)
    return Followed(name, dict(runs), np.asarray(times, dtype=np.float64), known, places, scores)
