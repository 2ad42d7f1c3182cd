"""The result of filtering a sequence or a batch of them: summaries per step, and the beliefs where they were kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from kmcf.arrays import BoolArray, FloatArray, IntArray
from kmcf.extras import require
from kmcf.filter.belief import Belief
from kmcf.objects import is_numeric

_SCALARS = (
    "ess",
    "weight_sum",
    "negative_mass",
    "herding_loss",
    "coverage",
    "observation_coverage",
    "state_coverage",
    "rejected",
    "missing",
)


class FilterRun:
    """What a filter found out along a sequence of T observations.

    Every summary has one entry per step, first axis T; for a batch of B sequences there is a leading axis B.
    ``run[t]`` is the belief at step t (``run[b][t]`` in a batch), if beliefs were kept.

    Examples
    --------
    >>> import kmcf
    >>> model = kmcf.datasets.paper_model("1a")
    >>> train, test = model.simulate(100, random_state=0), model.simulate(20, random_state=1)
    >>> flt = kmcf.KernelMonteCarloFilter(model.transition, initial=model.initial, random_state=0)
    >>> run = flt.fit(train.states, train.observations).filter(test.observations)
    >>> run.mean.shape, run.covariance.shape, run.ess.shape
    ((20, 1), (20, 1, 1), (20,))
    """

    def __init__(
        self,
        columns: dict[str, Any],
        *,
        angles: Sequence[int] = (),
        beliefs: tuple[Belief, ...] | None = None,
        members: tuple[FilterRun, ...] | None = None,
    ) -> None:
        self._columns = columns
        self._angles = tuple(angles)
        self._beliefs = beliefs
        self._members = members

    @property
    def mean(self) -> FloatArray:
        """Posterior means, (T, d)."""
        values: FloatArray = self._moment("mean")
        return values

    @property
    def covariance(self) -> FloatArray:
        """Centred covariances as computed (signed weights may make them indefinite), (T, d, d)."""
        values: FloatArray = self._moment("covariance")
        return values

    @property
    def mode(self) -> Any:
        """The state with the largest weight, (T, d), or a list where states are objects."""
        return self._columns["mode"]

    @property
    def time(self) -> IntArray:
        """Step numbers, from 1."""
        values: IntArray = self._column("time")
        return values

    @property
    def ess(self) -> FloatArray:
        """Effective sample size 1 / Σw²."""
        values: FloatArray = self._column("ess")
        return values

    @property
    def weight_sum(self) -> FloatArray:
        """Sum of the weights before normalisation; NaN where nothing was corrected."""
        values: FloatArray = self._column("weight_sum")
        return values

    @property
    def negative_mass(self) -> FloatArray:
        """Total of the negative weights, as a positive number."""
        values: FloatArray = self._column("negative_mass")
        return values

    @property
    def herding_loss(self) -> FloatArray:
        """RKHS distance of the resampled points to the posterior; NaN where nothing was resampled."""
        values: FloatArray = self._column("herding_loss")
        return values

    @property
    def coverage(self) -> FloatArray:
        """The smaller of observation and state coverage: near 1 is well covered by the examples, near 0 is not."""
        values: FloatArray = self._column("coverage")
        return values

    @property
    def observation_coverage(self) -> FloatArray:
        """Similarity of the observation to the closest example observation; NaN where it is missing."""
        values: FloatArray = self._column("observation_coverage")
        return values

    @property
    def state_coverage(self) -> FloatArray:
        """Average similarity of the predicted states to their closest example states."""
        values: FloatArray = self._column("state_coverage")
        return values

    @property
    def rejected(self) -> BoolArray:
        """Steps whose observation was not used because no example resembles it or the weights nearly cancelled."""
        values: BoolArray = self._column("rejected")
        return values

    @property
    def missing(self) -> BoolArray:
        """Steps without observation."""
        values: BoolArray = self._column("missing")
        return values

    @property
    def angles(self) -> tuple[int, ...]:
        """State columns that are angles in radians."""
        return self._angles

    @property
    def beliefs(self) -> tuple[Belief, ...]:
        """All beliefs of the sequence, if they were kept."""
        if self._members is not None:
            raise TypeError("this is a batch of runs: index a sequence first, run[b].beliefs.")
        if self._beliefs is None:
            raise LookupError(
                "this run kept its summaries only, to save memory; filter with keep_beliefs=True to have run[t]."
            )
        return self._beliefs

    def to_dataframe(self) -> Any:
        """Return one row per step as a pandas DataFrame (needs the extra ``kmcf[tables]``)."""
        pandas = require("pandas", "tables")
        if self._members is not None:
            frames = {b: member.to_dataframe() for b, member in enumerate(self._members)}
            return pandas.concat(frames, names=["sequence"])
        table = {"mode": self.mode} if self._columns["mean"] is None else self._moments_by_column()
        table.update({name: self._columns[name] for name in _SCALARS})
        return pandas.DataFrame(table, index=pandas.Index(self.time, name="time"))

    def _moments_by_column(self) -> dict[str, Any]:
        table: dict[str, Any] = {}
        flat_mean = self.mean.reshape(len(self.time), -1)
        flat_mode = np.asarray(self.mode).reshape(len(self.time), -1)
        variances = np.diagonal(self.covariance, axis1=1, axis2=2)
        for j in range(flat_mean.shape[1]):
            table[f"mean_{j}"] = flat_mean[:, j]
            table[f"sd_{j}"] = np.sqrt(np.maximum(variances[:, j], 0.0))
            table[f"mode_{j}"] = flat_mode[:, j]
        return table

    def to_xarray(self) -> Any:
        """Return a labelled xarray Dataset (needs the extra ``kmcf[tables]``)."""
        xarray = require("xarray", "tables")
        lead = ["time"] if self._members is None else ["sequence", "time"]
        state = (
            [f"state_{j}" for j in range(self.mean.ndim - len(lead))] if self.mean.ndim > len(lead) + 1 else ["state"]
        )
        variables = {
            "mean": ([*lead, *state], self.mean),
            "mode": ([*lead, *state], self.mode),
            "covariance": ([*lead, "row", "column"], self.covariance),
        }
        variables |= {name: (lead, self._columns[name]) for name in _SCALARS}
        return xarray.Dataset(variables, coords={"time": self.time if self._members is None else self.time[0]})

    def plot(self, truth: Any = None, axes: Any = None) -> Any:
        """Draw the estimates over time (needs matplotlib); see :func:`kmcf.plotting.plot_run`."""
        from kmcf.plotting import plot_run

        return plot_run(self, truth=truth, axes=axes)

    def _moment(self, name: str) -> Any:
        if self._columns[name] is None:
            raise TypeError(
                f"the states are objects, for which no {name} is defined; use run.mode or the beliefs' expectation()."
            )
        return self._column(name)

    def _column(self, name: str) -> Any:
        return self._columns[name]

    def __len__(self) -> int:
        return len(self.ess)

    def __getitem__(self, index: int) -> Any:
        if not isinstance(index, int | np.integer):
            raise TypeError(f"a run is indexed by one step number, not {index!r}.")
        return self.beliefs[index] if self._members is None else self._members[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.beliefs if self._members is None else self._members)

    def __repr__(self) -> str:
        shape = " × ".join(str(size) for size in self.ess.shape)
        return (
            f"FilterRun({shape} steps, median effective sample size {np.median(self.ess):.1f}, "
            f"{int(self.missing.sum())} missing, {int(self.rejected.sum())} rejected)"
        )


def collect(beliefs: Iterator[Belief], *, angles: Sequence[int], keep: bool) -> FilterRun:
    """Summarise beliefs as they come; hold on to them only if ``keep``."""
    rows: dict[str, list[Any]] = {name: [] for name in ("time", "mean", "covariance", "mode", *_SCALARS)}
    kept: list[Belief] = []
    for belief in beliefs:
        for name, value in _summary(belief).items():
            rows[name].append(value)
        if keep:
            kept.append(belief)
    objects = rows["mean"][0] is None
    return FilterRun(
        {name: values if name == "mode" and objects else _stacked(values) for name, values in rows.items()},
        angles=angles,
        beliefs=tuple(kept) if keep else None,
    )


def _summary(belief: Belief) -> dict[str, Any]:
    numeric = is_numeric(belief.states)
    report = belief.report
    return {
        "time": belief.time,
        "mean": belief.mean() if numeric else None,
        "covariance": belief.covariance() if numeric else None,
        "mode": belief.mode(),
        "ess": belief.ess,
        "negative_mass": belief.negative_mass,
        **{name: getattr(report, name) for name in _SCALARS if hasattr(report, name)},
    }


def _stacked(values: list[Any]) -> Any:
    if values[0] is None:
        return None
    return np.array(values)


def batch(runs: Sequence[FilterRun]) -> FilterRun:
    """Stack runs of equal length into one with a leading axis."""
    columns = {name: _together([run._columns[name] for run in runs]) for name in runs[0]._columns}
    return FilterRun(columns, angles=runs[0].angles, members=tuple(runs))


def _together(parts: list[Any]) -> Any:
    """Stack one column of several runs: arrays along a new axis, lists of objects as a list of lists."""
    if parts[0] is None:
        return None
    return parts if isinstance(parts[0], list) else np.stack(parts)
