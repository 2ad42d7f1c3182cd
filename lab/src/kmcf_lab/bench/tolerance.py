"""How tight a tolerance must be, in units of the regularisers: the experiment behind ``tolerance="auto"``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from kmcf.bayes_rule import Examples, RuleSettings, fit_rule
from kmcf.datasets import paper_model
from kmcf.filter import KernelMonteCarloFilter
from kmcf.filter.host import HostBackend
from kmcf.herding.resampling import KeepAll
from kmcf.kernels.defaults import default_observation_kernel

FACTORS = (1.0, 0.3, 0.1, 0.03)
REGULARISERS = ((1e-3, 9e-6), (1e-4, 1e-7), (1e-2, 1e-2))
MODELS = ("1a", "2b", "3a", "4a")
TIGHT = 1e-12
PARTICLES, STEPS = 1000, 30


@dataclass(frozen=True)
class ToleranceRow:
    """The change of posterior means in one setting, in posterior sd, given the exact run's particles."""

    model: str
    n: int
    epsilon: float
    delta: float
    tolerance: str
    ranks: tuple[int, int]
    median: float
    largest: float


def measure_tolerances(
    sizes: Sequence[int], *, models: Sequence[str] = MODELS, report: Callable[[str], None] = print
) -> list[ToleranceRow]:
    """Loosen the tolerance of the states or of the observations alone, the other being tight; and use "auto"."""
    rows: list[ToleranceRow] = []
    with threadpool_limits(limits=1):
        for name in models:
            for n in sizes:
                report(f"model {name}, n = {n}")
                for epsilon, delta in REGULARISERS:
                    rows += _measure(name, n, epsilon, delta)
    return rows


def _measure(name: str, n: int, epsilon: float, delta: float) -> list[ToleranceRow]:
    model = paper_model(name)
    train, test = model.simulate(n, random_state=(0, 0)), model.simulate(STEPS, random_state=(0, 1))
    flt = KernelMonteCarloFilter(
        model.transition,
        initial=model.initial,
        observation_kernel=default_observation_kernel(train.observations),
        epsilon=epsilon,
        delta=delta,
        engine="exact",
        n_particles=PARTICLES,
        random_state=0,
    ).fit(train.states, train.observations)
    examples = Examples(
        flt.states_,
        flt.state_kernel_.on_examples(flt.states_),
        flt.observation_kernel_.on_examples(train.observations),
    )
    tolerances: dict[str, tuple[float, float] | None] = {f"states {c:g} ε": (c * epsilon, TIGHT) for c in FACTORS}
    tolerances |= {f"observations {c:g} √δ": (TIGHT, c * delta**0.5) for c in FACTORS}
    tolerances["auto"] = None
    rules = {
        label: fit_rule(
            examples,
            RuleSettings("lowrank", "kbr", epsilon, delta, pair, (None, None), PARTICLES, KeepAll(), None),
        )
        for label, pair in tolerances.items()
    }
    changes: dict[str, list[float]] = {label: [] for label in rules}
    variances = []
    belief = flt.start()
    for t, y in enumerate(test.observations):
        control = None if test.controls is None else test.controls[t]
        assert isinstance(flt.backend_, HostBackend)
        prior = flt.backend_.predicted(belief, control)
        belief = flt.step(belief, y, control)
        variances.append(float(belief.covariance()[0, 0]))
        for label, fitted in rules.items():
            mean = fitted.rule.correct(prior, y[None]).weights() @ flt.states_
            changes[label].append(float(np.abs(mean - belief.mean())[0]))
    sd = float(np.sqrt(np.median([v for v in variances if v > 0])))
    return [
        ToleranceRow(
            name, n, epsilon, delta, label, fitted.ranks, np.median(changes[label]) / sd, max(changes[label]) / sd
        )
        for label, fitted in rules.items()
    ]
