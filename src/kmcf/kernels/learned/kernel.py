"""The learnt observation kernel: similar observations are those that imply similar states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from kmcf.kernels.base import as_rows
from kmcf.kernels.kernel import Kernel
from kmcf.kernels.learned.inputs import RobustInputs
from kmcf.kernels.learned.stack import CrossFitted, Predictor, Stack, default_stack
from kmcf.kernels.learned.targets import state_targets
from kmcf.kernels.stationary import Gaussian
from kmcf.numerics.arrays import Array, FloatArray, IntArray, array_namespace
from kmcf.numerics.objects import Objects, as_objects, is_numeric
from kmcf.support.estimators import clone, not_fitted

MOST_TRAINING = 1500


class Learning(NamedTuple):
    """What a learnt kernel learns before its summaries are known."""

    inputs: Callable[[Any], Any]
    """From observations as rows to what the predictor sees."""
    weights: FloatArray
    """How much each column of the summary counts."""
    predictor: Predictor


class Learned(Kernel):
    r"""Gaussian kernel on a learnt summary s(y) of the observation.

    :math:`k(y, y') = \exp(-\|s(y) - s(y')\|^2 / 2\sigma^2)`, where s(y) predicts features of the state from the
    observation: the state, its square, and the leading features of a Gaussian kernel on states, which together describe
    the *distribution* of the state given y. The summaries of the examples are out-of-sample predictions (leave-one-out
    or cross-fitted); in-sample ones would look too good and spoil the filter.

    It helps where observations have many components, of which few functions matter. It cannot help where the examples
    are too few to learn these functions, and for a single number there is nothing to learn.

    Parameters
    ----------
    regressor : scikit-learn regressor, optional
        Predicts the targets from scaled observations, all at once if it can, otherwise one by one. None: kernel ridge
        regressions and naive-Bayes predictors, stacked.
    features : callable, optional
        Objects to an array (n, d): a feature extractor for images and other objects, which it receives as they are.
        None: the observations themselves.
    kernel : Kernel, optional
        Kernel on summaries. None: Gaussian at the median distance.
    angles : sequence of int, optional
        State columns that are angles in radians. None: those given to the filter.
    folds : int
        Folds for cross-fitting a given regressor.
    random_state : int
        Seed of the folds, of the choice of 1500 training examples where there are more, and of a given regressor that
        has none.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> states = rng.normal(size=(150, 1))
    >>> observations = np.exp(states) * rng.normal(size=(150, 6))
    >>> kernel = Learned().fit(observations, states)
    >>> kernel.summary(observations).shape[0], float(kernel(observations[:1])[0, 0])
    (150, 1.0)
    """

    def __init__(
        self,
        regressor: Any = None,
        features: Callable[[Any], Any] | None = None,
        kernel: Kernel | None = None,
        angles: Sequence[int] | None = None,
        folds: int = 5,
        random_state: int = 0,
    ) -> None:
        self.regressor = regressor
        self.features = features
        self.kernel = kernel
        self.angles = angles
        self.folds = folds
        self.random_state = random_state

    @property
    def structured(self) -> bool:
        """True where a feature extractor takes arbitrary objects."""
        return self.features is not None

    @property
    def restrictable(self) -> bool:
        """True where it sees the numbers themselves: it then learns what the columns that are known say."""
        return self.features is None

    def fit(self, objects: Any, states: Any = None) -> Self:
        """Learn the summary from example observations and their states."""
        if states is None:
            raise ValueError(f"{type(self).__name__} learns from pairs: call fit(observations, states).")
        rows = self._rows(as_objects(objects, "the kernel's examples", structured=self.structured))
        read_states = as_objects(states, "states")
        if not is_numeric(read_states):
            raise TypeError(
                f"{type(self).__name__} predicts numeric states; for other states use a kernel made for the "
                "observations."
            )
        flat = np.asarray(read_states, dtype=np.float64).reshape(len(read_states), -1)
        if len(flat) != len(rows):
            raise ValueError(f"{len(flat)} states but {len(rows)} observations.")
        if len(flat) < 2 * self.folds:
            raise ValueError(f"{type(self).__name__} needs at least {2 * self.folds} examples, but got {len(flat)}.")
        training = self._training(len(rows))
        learning = self._learn(rows, flat, training)
        self._inputs, self._weights = learning.inputs, learning.weights
        self.predictor_: Predictor = learning.predictor
        summaries = np.zeros((len(rows), len(self._weights)))
        summaries[training] = self.predictor_.out_of_sample
        others = np.setdiff1d(np.arange(len(rows)), training)
        if len(others):
            summaries[others] = self.predictor_.predict(self._inputs(rows[others]))
        self._remember(rows, summaries * self._weights)
        self.kernel_: Kernel = clone(self.kernel or self.default_kernel()).fit(self.summary(objects))
        return self

    def fit_like(self, other: Learned, objects: Any) -> Self:
        """Take over the summary that another kernel learnt from the same examples; fit only the kernel on summaries.

        Parameters
        ----------
        other : Learned
            Fitted, with the same settings but for ``kernel``.
        objects : array or list
            The example observations.
        """
        for name in ("_inputs", "_weights", "predictor_", "_known", "_known_summaries"):
            setattr(self, name, getattr(other, name))
        self.kernel_ = clone(self.kernel or self.default_kernel()).fit(self.summary(objects))
        return self

    def summary(self, objects: Any) -> Array:
        """Return s(y), (n, K); for the examples themselves the out-of-sample predictions."""
        if not hasattr(self, "predictor_"):
            raise not_fitted(f"{type(self).__name__} has learnt nothing yet: call fit(observations, states) first.")
        if array_namespace(objects) is not np:
            # Compiled code cannot look values up: every observation counts as new, as those of a filter are.
            return self.predictor_.predict(self._inputs(as_rows(objects, self))) * self._weights
        rows = self._rows(as_objects(objects, "observations", structured=self.structured))
        known = np.array([self._known.get(row.tobytes(), -1) for row in rows])
        summaries = np.empty((len(rows), self._known_summaries.shape[1]))
        summaries[known >= 0] = self._known_summaries[known[known >= 0]]
        new = np.flatnonzero(known < 0)
        if len(new):
            summaries[new] = self.predictor_.predict(self._inputs(rows[new])) * self._weights
        return summaries

    def prepare(self, objects: Objects) -> Any:
        """Summarise the observations and prepare the summaries for the kernel on them."""
        summaries = self.summary(objects)
        return self.kernel_.prepare(summaries)

    def evaluate(self, a: Any, b: Any) -> Array:
        """Evaluate the kernel on summaries."""
        return self.kernel_.evaluate(a, b)

    def evaluate_diagonal(self, a: Any) -> Array:
        """Evaluate the diagonal of the kernel on summaries."""
        return self.kernel_.evaluate_diagonal(a)

    def _rows(self, objects: Objects) -> FloatArray:
        if self.features is None:
            rows = as_rows(objects, self)
        else:
            rows = np.asarray(self.features(objects), dtype=np.float64)
            if rows.ndim == 0 or len(rows) != len(objects):
                raise ValueError(
                    f"the feature extractor returned an array of shape {rows.shape} for {len(objects)} objects; it "
                    "must have one row per object."
                )
            if not np.isfinite(rows).all():
                number = int(np.argwhere(~np.isfinite(rows))[0, 0])
                raise ValueError(f"the feature extractor returned NaN or infinity for object {number}.")
        return np.ascontiguousarray(np.reshape(rows, (len(rows), -1)), dtype=np.float64)

    def _angles(self, columns: int) -> list[int]:
        """Return the columns of angles, counted from the left."""
        chosen = [int(column) for column in (() if self.angles is None else self.angles)]
        if not all(-columns <= column < columns for column in chosen):
            raise ValueError(
                f"{type(self).__name__} has angles = {self.angles!r}, but the states have {columns} columns."
            )
        return [column % columns for column in chosen]

    def _learn(self, rows: FloatArray, states: FloatArray, training: IntArray) -> Learning:
        """Learn to predict features of the state from the training rows, which are some of all rows."""
        inputs = RobustInputs(rows)
        targets = state_targets(states[training], self._angles(states.shape[1]))
        z = inputs(rows[training])
        predictor = self._fit_predictor(z, targets.values, targets.weights, states[training])
        return Learning(inputs, targets.weights, predictor)

    def default_kernel(self) -> Kernel:
        """Return the kernel on summaries that is used where none is given."""
        return Gaussian()

    def _training(self, n: int) -> IntArray:
        if n <= MOST_TRAINING:
            return np.arange(n)
        return np.sort(np.random.default_rng(self.random_state).choice(n, MOST_TRAINING, replace=False))

    def _fit_predictor(self, z: FloatArray, targets: FloatArray, weights: FloatArray, states: FloatArray) -> Predictor:
        if self.regressor is None:
            return default_stack(z, targets, weights, states)
        fitted = CrossFitted(self.regressor, z, targets, folds=self.folds, random_state=self.random_state)
        return Stack([fitted], targets)

    def _remember(self, rows: FloatArray, summaries: FloatArray) -> None:
        """Store the examples' summaries by content; equal observations share the average of theirs."""
        self._known: dict[bytes, int] = {}
        groups = np.array([self._known.setdefault(row.tobytes(), len(self._known)) for row in rows])
        totals = np.zeros((len(self._known), summaries.shape[1]))
        np.add.at(totals, groups, summaries)
        self._known_summaries = totals / np.bincount(groups)[:, None]

    def to_store(self) -> dict[str, Any]:
        """Store the examples whose summaries are known as rows of numbers rather than as keys."""
        state = dict(vars(self))
        if "_known" in state:
            state["_known"] = np.frombuffer(b"".join(self._known)).reshape(len(self._known), -1)
        return state

    def from_store(self, state: dict[str, Any]) -> None:
        """Fill a blank object from what a file holds."""
        self.__dict__.update(state)
        if "_known" in state:
            self._known = {row.tobytes(): number for number, row in enumerate(state["_known"])}
