"""What a localization problem consists of."""

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

Estimate = Literal["mean", "mode"]
Primary = Literal["mean", "share", "rmse"]


@dataclass(frozen=True)
class Data:
    """What was loaded.

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
class Fold:
    """One test sequence, and what may be learnt from.

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
        Names of training recordings that tuning leaves out, each in turn; empty: every one.
    tuning : sequence of Recording, optional
        Sequences for tuning, where they are not ``training``.
    every, used_every : int
        Tuning, too, takes every k-th step of a sequence as an example, and shows every k-th observation.
    group : str
        What it has in common with other folds, e.g. the time between steps.
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

    @property
    def size(self) -> int:
        """Number of examples."""
        return len(self.states)


@dataclass(frozen=True)
class Settings:
    """Everything about a problem that somebody may want to change, in one place.

    Attributes
    ----------
    transition : Transition
        How states move.
    learn_transition : bool
        Learn its parameters from the training sequences.
    inflation : float
        Factor on the standard deviations of its noise; above 1 lets a filter follow what the model does not know.
    recovery : float
        Probability of a jump to an example state, so that a lost filter recovers.
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
        What tuning varies besides what each filter declares; left out where a filter has no such setting.
    alternatives : mapping of str to mapping
        Further ways that tuning compares, by what they change of these settings; mappings are added to.
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
    primary : {"mean", "share", "rmse"}
        The number that counts: mean error, share of steps within ``near``, or root mean squared error.
    estimate : {"mean", "mode"}
        Which point of a belief is compared with the truth.
    dropped_seconds : float
        Time at the beginning that does not count: the start is global.
    dropped_share : float
        Share of the steps at the beginning that does not count.
    near : float
        Metres.

    Examples
    --------
    >>> Measure("mean", dropped_seconds=2.0).judged(np.arange(5.0)).tolist()
    [False, False, True, True, True]
    """

    primary: Primary
    estimate: Estimate = "mean"
    dropped_seconds: float = 0.0
    dropped_share: float = 0.0
    near: float = 1.0

    def judged(self, time: FloatArray) -> BoolArray:
        """Say which steps count."""
        late: BoolArray = np.asarray(time) >= self.dropped_seconds
        return late & (np.arange(len(time)) >= self.dropped_share * len(time))

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
        What is typed, the heading, and a sentence.
    load : callable
        ``(path, **options) -> Data``.
    split : callable
        ``(data, repetition, **options) -> folds``; another repetition may draw other examples.
    settings, quick : Settings
        In use, and for ``--quick``.
    measure : Measure
        How estimates are judged.
    methods : tuple of str
        Those compared unless others are asked for.
    needs : str
        What path has to be given; empty: none.
    """

    name: str
    title: str
    about: str
    load: Callable[..., Data]
    split: Callable[..., Sequence[Fold]]
    settings: Settings
    quick: Settings
    measure: Measure
    methods: tuple[str, ...] = ("kmcf", "knn-pf", "kbr", "knn", "nai")
    needs: str = ""
