"""What a localization problem consists of: data, folds, settings, a measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from kmcf.datasets import Recording
from kmcf.numerics.arrays import BoolArray, FloatArray
from kmcf.support.search_space import Parameter
from kmcf.transitions.base import Transition

PointEstimate = Literal["mean", "mode"]
Primary = Literal["mean", "median", "share", "rmse"]


@dataclass(frozen=True)
class Data:
    """Recordings, and what to draw on maps of them.

    Attributes
    ----------
    recordings : sequence of Recording
        All of them.
    walls : array (m, 2, 2), optional
        Segments to draw on maps.
    marks : mapping of str to array (k, 2)
        Places to draw on maps, such as receivers.
    """

    recordings: Sequence[Recording]
    walls: ArrayLike | None = None
    marks: Mapping[str, ArrayLike] = field(default_factory=dict)


@dataclass(frozen=True)
class LocalizationFold:
    """One test sequence, and everything that may be learnt from.

    Attributes
    ----------
    name : str
        E.g. which track is left out.
    training : sequence of Recording
        Sequences for learning how states move, and for tuning.
    states, observations : arrays or lists
        The examples.
    test : Recording
        What is filtered.
    validation : tuple of str
        Names of the training recordings that tuning leaves out in turn; empty: all of them.
    tuning : sequence of Recording, optional
        Sequences for tuning, where they are not ``training``.
    every, used_every : int
        Tuning, too, takes every k-th step of a sequence as an example and shows every k-th observation.
    group : str
        What it shares with other folds, e.g. the time between steps.
    shared : bool
        Whether other folds have the very same arrays of examples, so that a filter fitted for one serves them all.
    """

    name: str
    training: Sequence[Recording]
    states: FloatArray
    observations: Any
    test: Recording
    validation: tuple[str, ...] = ()
    tuning: Sequence[Recording] | None = None
    every: int = 1
    used_every: int = 1
    group: str = ""
    shared: bool = False

    @property
    def size(self) -> int:
        """Number of examples."""
        return len(self.states)


@dataclass(frozen=True)
class Settings:
    """Everything about a problem that one may want to change, in one place.

    Attributes
    ----------
    transition : Transition
        How states move.
    learn_transition : bool
        Learn the parameters of the transition from the training sequences.
    inflation : float
        Factor on the standard deviations of its noise; above 1, a filter can follow what the model does not know.
    recovery : float
        Probability of a jump to an example state, which lets a lost filter recover.
    observation_kernel, state_kernel : kernels, optional
        As for the filters.
    load : mapping
        Options of the loader.
    split : mapping
        Options of the division into folds.
    kmcf : mapping
        Further settings of the Kernel Monte Carlo Filter.
    knn_particles : mapping
        Further settings of kNN-PF.
    kernel_bayes : mapping
        Further settings of the KBR filter.
    neighbours : int
        k of the nearest-neighbour mean.
    space : mapping
        What tuning varies besides what each filter declares; ignored where a filter has no such setting.
    alternatives : mapping of str to mapping
        Changes of these settings that tuning compares, by name; values that are mappings are merged.
    """

    transition: Transition
    learn_transition: bool = True
    inflation: float = 1.0
    recovery: float = 0.0
    observation_kernel: Any = None
    state_kernel: Any = None
    load: Mapping[str, Any] = field(default_factory=dict)
    split: Mapping[str, Any] = field(default_factory=dict)
    kmcf: Mapping[str, Any] = field(default_factory=dict)
    knn_particles: Mapping[str, Any] = field(default_factory=dict)
    kernel_bayes: Mapping[str, Any] = field(default_factory=dict)
    neighbours: int = 5
    space: Mapping[str, Parameter] = field(default_factory=dict)
    alternatives: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def changed(self, changes: Mapping[str, Any]) -> Settings:
        """Return these settings with some changes.

        Examples
        --------
        >>> Settings(None, load={"step": 1.0}).changed({"load": {"window": 5.0}, "inflation": 2.0}).load
        {'step': 1.0, 'window': 5.0}
        """
        merged: dict[str, Any] = {
            name: {**getattr(self, name), **value} if isinstance(value, Mapping) else value
            for name, value in changes.items()
        }
        return replace(self, **merged)


@dataclass(frozen=True)
class Measure:
    """How estimates are judged.

    Attributes
    ----------
    primary : {"mean", "median", "share", "rmse"}
        The number that decides: mean or median error, share of steps within ``near``, or root mean squared error.
    estimate : {"mean", "mode"}
        Which point of a belief is compared with the truth.
    dropped_seconds : float
        Time at the beginning that does not count, because the start is unknown.
    dropped_share : float
        Share of the steps at the beginning that does not count.
    near : float
        Distance up to which an estimate counts as right.
    axes : int
        How many state columns, from the first on, make the position.
    unit : str
        The unit of distances.

    Examples
    --------
    >>> Measure("mean", dropped_seconds=2.0).judged(np.arange(5.0)).tolist()
    [False, False, True, True, True]
    """

    primary: Primary
    estimate: PointEstimate = "mean"
    dropped_seconds: float = 0.0
    dropped_share: float = 0.0
    near: float = 1.0
    axes: int = 2
    unit: str = "m"

    def judged(self, time: FloatArray) -> BoolArray:
        """Return which steps count."""
        early = np.arange(len(time)) < self.dropped_share * len(time)
        return (np.asarray(time) >= self.dropped_seconds) & ~early

    @property
    def start_words(self) -> str:
        """What does not count at the start, in words that go on with what is drawn."""
        if self.dropped_seconds:
            return f"the first {self.dropped_seconds:g} s do not count, but "
        return f"the first {self.dropped_share:.0%} of the steps do not count, but " if self.dropped_share else ""

    @property
    def words(self) -> str:
        """The rule in words."""
        parts = [f"first {self.dropped_seconds:g} s dropped"] if self.dropped_seconds else []
        parts += [f"first {self.dropped_share:.0%} of the steps dropped"] if self.dropped_share else []
        return ", ".join([f"estimates are posterior {self.estimate}s", *parts])


@dataclass(frozen=True)
class Problem:
    """A localization problem.

    Attributes
    ----------
    name, title, about : str
        The word typed, a heading, and a short description.
    load : callable
        ``(path, **options) -> Data``.
    split : callable
        ``(data, repetition, **options) -> folds``; each repetition may draw other examples.
    settings, quick : Settings
        The usual ones, and those for ``--quick``.
    measure : Measure
        How estimates are judged.
    methods : tuple of str
        Methods compared by default.
    needs : str
        What ``--path`` must name; empty: nothing.
    printed : bool
        Whether the paper's methods are run and tuned as the paper does.
    trials, repetitions : int
        How often, unless the command says otherwise.
    """

    name: str
    title: str
    about: str
    load: Callable[..., Data]
    split: Callable[..., Sequence[LocalizationFold]]
    settings: Settings
    quick: Settings
    measure: Measure
    methods: tuple[str, ...] = ("kmcf", "knn-pf", "kbr", "knn", "nai")
    needs: str = ""
    printed: bool = False
    trials: int = 0
    repetitions: int = 1
