"""What the trials of endurance share: the problem, the filter, and how they count."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

from kmcf.datasets import paper_model
from kmcf.filter import KernelMonteCarloFilter

MODEL = paper_model("1a")


@dataclass
class Endured:
    """Counts of one trial."""

    tried: int = 0
    failures: list[str] = field(default_factory=list)
    measured: str = ""

    @property
    def held(self) -> int:
        """How often it held."""
        return self.tried - len(self.failures)

    def count(self, problem: str = "") -> None:
        """Count one more; a problem is a failure.

        Examples
        --------
        >>> endured = Endured()
        >>> endured.count(); endured.count("NaN at step 2")
        >>> endured.tried, endured.held
        (2, 1)
        """
        self.tried += 1
        if problem:
            self.failures.append(problem)


@cache
def fitted(seed: int = 0, n: int = 200) -> KernelMonteCarloFilter:
    """Return a small filter for model 1a; another seed gives another one."""
    train = MODEL.simulate(n, random_state=seed)
    flt = KernelMonteCarloFilter(MODEL.transition, initial=MODEL.initial, n_particles=100, random_state=seed)
    return flt.fit(train.states, train.observations)
