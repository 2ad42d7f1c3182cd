"""The methods that Section 6.2 compares, as printed, and ours beside them under our own names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from sklearn.base import clone

from kmcf.baselines import GPParticleFilter, KNNParticleFilter, ParticleFilter
from kmcf.bayes_rule.defaults import DELTA_PLAIN
from kmcf.filter import KernelMonteCarloFilter, SequentialFilter
from kmcf.kernels import Gaussian, Learned
from kmcf.kernels.defaults import OBSERVATION_MULTIPLIER, STATE_MULTIPLIER
from kmcf.tuning import TuningResult, tune
from kmcf_lab.moves import knowing_moves
from kmcf_lab.synthetic.data import TRANSITIONS, SimulatedData

HERDED, PARTICLES = 50, 5000
"""The paper's ℓ, and the particles of kNN-PF and GP-PF."""
TRIALS_PER_PARAMETER = 4
"""Settings tried in the cross validation for every parameter that a method has to tune: the same for all."""
GP_RESTARTS = 4
"""GP-PF has no cross validation; its optimiser of the marginal likelihood starts this many more times instead."""
DELTA = DELTA_PLAIN["kbr"]
"""Trials with Gaussian kernels on raw observations are drawn around this δ. The default for kernels given by the user
is ten times larger, and few trials around it come near 1e-6, the best values for ten-dimensional observations."""
COMBINED = 5
"""Our own methods combine this many of the best trials, as ``kmcf.tune`` does; the paper's take the best one."""


@dataclass(frozen=True)
class SyntheticMethod:
    """A method of the comparison.

    Parameters
    ----------
    name : str
        As in the paper, where it has a name there.
    about : str
        What it is.
    make : callable
        From a data set to a filter that is not fitted.
    printed : bool
        Whether it is the paper's, as printed. The cross validation then returns the settings with the smallest error;
        ours combines the best few and scales the regularisers to all examples.
    parameters : int
        How many parameters are tuned; 0: none.
    with_control : int
        How many more of them there are on models with controls.
    held : sequence of str
        Settings that are not tuned although the filter declares them.
    delta : float, optional
        The centre of the search for δ, where it is not the filter's own default.
    """

    name: str
    about: str
    make: Callable[[SimulatedData], SequentialFilter]
    printed: bool = True
    parameters: int = 0
    with_control: int = 0
    held: tuple[str, ...] = ()
    delta: float | None = None

    def trials(self, model: str, per_parameter: int = TRIALS_PER_PARAMETER) -> int:
        """Return how many settings are tried: the same number for every parameter that is tuned.

        Examples
        --------
        >>> METHODS["KMCF"].trials("1a"), METHODS["KBR"].trials("1a"), METHODS["KBR"].trials("1b")
        (16, 20, 24)
        """
        return per_parameter * (self.parameters + (self.with_control if model.endswith("b") else 0))

    def fitted(self, data: SimulatedData, trials: int) -> tuple[SequentialFilter, TuningResult | None]:
        """Return the filter fitted to all examples, tuned on them by two-fold cross validation if there are trials.

        Of the paper's methods trials are stopped only when they cannot become the best one any more.

        Without rejection a trial fails where no example resembles an observation, so that the weights sum to zero.
        Where all trials do, nothing was learnt from them, and the filter stays untuned.
        """
        flt, train = self.make(data), data.train
        if self.delta is not None:
            flt.set_params(delta=self.delta)
        if trials == 0:
            return flt.fit(train.states, train.observations), None
        held = self.held if train.controls is not None or not self.with_control else (*self.held, "control_multiplier")
        try:
            result = tune(
                flt,
                train.states,
                train.observations,
                train.controls,
                n_trials=trials,
                n_best=1 if self.printed else COMBINED,
                transfer=not self.printed,
                prune="certain" if self.printed else True,
                random_state=data.seed,
                space=dict.fromkeys(held),
            )
        except RuntimeError as error:
            if "FloatingPointError" not in str(error):
                raise
            return clone(flt).fit(train.states, train.observations), None
        return result.best_filter, result


def paper_settings(data: SimulatedData) -> dict[str, Any]:
    """Return what all variants of the paper's filter share: Gaussian kernels on raw values, ℓ = 50, no second thoughts.

    Algorithm 3 resamples at every step (line 10). The exact engine computes Algorithm 1 as printed, to rounding, in
    symmetric form, at a third of the cost.
    """
    return {
        "initial": data.model.initial,
        "state_kernel": Gaussian(multiplier=STATE_MULTIPLIER),
        "observation_kernel": Gaussian(multiplier=OBSERVATION_MULTIPLIER),
        "engine": "exact",
        "n_resample": HERDED,
        "resample_threshold": 0.0,
        "random_state": data.seed,
        "reject": False,
        "relocate": False,
    }


def paper_filter(data: SimulatedData, **settings: Any) -> SequentialFilter:
    """Return the paper's filter, with some settings of its own."""
    return KernelMonteCarloFilter(data.model.transition, **{**paper_settings(data), **settings})


def stable_filter(data: SimulatedData, **settings: Any) -> SequentialFilter:
    """Return our filter with the paper's kernels and ℓ: our engines, which may reject a step."""
    ours = {"engine": "auto", "tolerance": "auto", "resample_threshold": 2.0, "reject": None}
    return paper_filter(data, **{**ours, **settings})


def _default(data: SimulatedData, **settings: Any) -> SequentialFilter:
    """Return the filter with its default settings."""
    model = data.model
    # Cells of earlier versions, which this continues, knew the examples alone.
    settings = {"augment": False, "random_state": data.seed, **settings}
    return KernelMonteCarloFilter(model.transition, initial=model.initial, **settings)


def _neighbours(data: SimulatedData) -> SequentialFilter:
    model = data.model
    return KNNParticleFilter(model.transition, model.initial, n_particles=PARTICLES, random_state=data.seed)


def _processes(data: SimulatedData) -> SequentialFilter:
    model = data.model
    settings: dict[str, Any] = {"n_hyperparameter_examples": None, "n_restarts": GP_RESTARTS}
    return GPParticleFilter(model.transition, model.initial, n_particles=PARTICLES, random_state=data.seed, **settings)


def _oracle(data: SimulatedData) -> SequentialFilter:
    model = data.model
    settings: dict[str, Any] = {"n_particles": PARTICLES, "random_state": data.seed}
    return ParticleFilter(model.transition, model.log_likelihood, model.initial, **settings)


def kernel_bayes(data: SimulatedData, **settings: Any) -> SequentialFilter:
    """Return a Kernel Bayes' Rule filter that learns its transition from the data's moves, also while it is tuned."""
    kernel = Gaussian(multiplier=OBSERVATION_MULTIPLIER)
    common: dict[str, Any] = {"observation_kernel": kernel, "engine": "exact", "reject": False}
    made = knowing_moves(data.transitions)
    return made(initial=data.model.initial, random_state=data.seed, **{**common, **settings})


def _kmcf(name: str, about: str, parameters: int = 4, **settings: Any) -> SyntheticMethod:
    """Return a variant of the paper's filter; tuned are two bandwidths, ε and δ."""
    make = partial(paper_filter, **settings)
    return SyntheticMethod(name, about, make, parameters=parameters, held=("rank",), delta=DELTA)


def _ours(name: str, about: str, make: Any, **tuning: Any) -> SyntheticMethod:
    return SyntheticMethod(name, f"ours: {about}", make, printed=False, **tuning)


_ALL = (
    _kmcf("KMCF", "Algorithm 3 as printed: Gaussian kernels on raw observations, ℓ = 50"),
    *(
        _kmcf(f"KMCF-low{r}", f"the same with Algorithm 5 as printed, rank {r}", engine="literal", rank=r)
        for r in (10, 20)
    ),
    *(_kmcf(f"KMCF-sub{r}", f"the same on {r} examples herded by Algorithm 6", n_examples=r) for r in (50, 100)),
    _kmcf("KMCF-woRes", "the same without resampling (a method of Section 6.1)", resampling="none"),
    _kmcf("KMCF-ResTrunc", "the same, truncated weights resampled (a method of Section 6.1)", resampling="multinomial"),
    SyntheticMethod(
        "kNN-PF", "particle filter on a k-nearest-neighbour density, 5000 particles", _neighbours, parameters=3
    ),
    SyntheticMethod(
        "GP-PF",
        f"particle filter on Gaussian processes, 5000 particles; marginal likelihood, {GP_RESTARTS} restarts",
        _processes,
    ),
    SyntheticMethod(
        "KBR",
        f"Kernel Bayes' Rule filter: learns the transition from {TRANSITIONS} moves",
        kernel_bayes,
        parameters=5,
        with_control=1,
        delta=DELTA,
    ),
    SyntheticMethod("oracle", "particle filter that knows the true likelihood, 5000 particles", _oracle, printed=False),
    _ours("ours (untuned)", "all defaults: robust or learnt observation kernel, not tuned", _default),
    _ours(
        "ours, importance (untuned)",
        "the same with the importance-weighted rule",
        partial(_default, rule="importance"),
    ),
    _ours(
        "ours, learnt kernel",
        "learnt observation kernel, ℓ = 50, tuned",
        partial(stable_filter, observation_kernel=Learned()),
        parameters=4,
    ),
    *(
        _ours(
            f"low-rank, stable {r}",
            f"the paper's kernels, our low-rank engine of rank {r}, tuned",
            partial(stable_filter, rank=r),
            parameters=4,
            held=("rank",),
            delta=DELTA,
        )
        for r in (10, 20)
    ),
)
METHODS = {method.name: method for method in _ALL}
PRINTED = tuple(name for name, method in METHODS.items() if method.printed)
"""The paper's methods."""
