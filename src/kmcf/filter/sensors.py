"""Several sensors at once: reading what they said, and correcting by one after the other.

Sensors are taken to be independent given the state, p(y₁, y₂ | x) = p(y₁ | x) p(y₂ | x). Bayes' rule may then be
applied to one after the other, without a move between them: the posterior of the first is the prior of the next. Each
sensor has a rule of its own, fitted to its own examples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from kmcf.bayes_rule import BayesRule, Posterior, Prior, Sample
from kmcf.bayes_rule.base import NOBODY, SensorUse
from kmcf.bayes_rule.evidence import Evidence
from kmcf.embedding.lazy_weights import WeightSummary
from kmcf.filter.inputs import ObservationReader
from kmcf.herding.resampling import Resampled
from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.objects import Objects, plain


@contextmanager
def noting_sensor(name: str) -> Iterator[None]:
    """Note on any exception which sensor it is about."""
    try:
        yield
    except Exception as error:
        error.add_note(f"(sensor {name!r})")
        raise


def listed(names: Any) -> str:
    """Return names in one line.

    Examples
    --------
    >>> listed(["wifi", "camera"])
    "'wifi', 'camera'"
    """
    return ", ".join(repr(name) for name in names)


@dataclass(frozen=True)
class SensorsReader:
    """Reads what several sensors said, by name."""

    readers: Mapping[str, ObservationReader]
    """One per sensor, in the order of the fit."""

    def one(self, observation: Any) -> dict[str, Objects] | None:
        """Read what the sensors said at one step, in the order of the fit; None if all were silent."""
        if _is_silence(observation):
            return None
        self._check_names(observation)
        spoke: dict[str, Objects] = {}
        for name, reader in self.readers.items():
            with noting_sensor(name):
                read = reader.one(observation.get(name))
            if read is not None:
                spoke[name] = read
        return spoke or None

    def is_batch(self, _observations: Any) -> bool:
        """Say that there is one sequence: batches are lists of sequences, for ``filter_many``."""
        return False

    def sequence(self, observations: Any) -> list[Any]:
        """Read one sequence: a list with a dictionary (or None) per step, or a dictionary of sequences."""
        if isinstance(observations, Mapping):
            return self._together(observations)
        if isinstance(observations, str | bytes | set | np.ndarray) or not hasattr(observations, "__iter__"):
            raise TypeError(
                f"observations must be a list with one dictionary per step, or a dictionary of sequences by sensor "
                f"({listed(self.readers)}), not {type(observations).__name__}."
            )
        steps = list(plain(observations))
        if not steps:
            raise ValueError("a sequence of observations is empty; it must have at least one entry (None if missing).")
        for number, step in enumerate(steps, start=1):
            if not _is_silence(step):
                self._check_names(step, f"step {number}: ")
        return steps

    def _together(self, observations: Mapping[str, Any]) -> list[Any]:
        """Put sequences of several sensors together, step by step."""
        self._check_names(observations)
        read = {}
        for name, values in observations.items():
            if values is None:
                continue
            with noting_sensor(name):
                if self.readers[name].is_batch(values):
                    raise ValueError("a batch of sequences; pass a list of them to filter_many.")
                read[name] = self.readers[name].sequence(values)
        lengths = {name: len(values) for name, values in read.items()}
        if not lengths:
            raise ValueError("every sensor is None: nobody knows how many steps there are.")
        if len(set(lengths.values())) > 1:
            told = ", ".join(f"{count} of {name!r}" for name, count in lengths.items())
            raise ValueError(
                f"the sensors have sequences of different lengths ({told}); each needs one entry per step, None or NaN "
                "where it was silent."
            )
        steps = range(next(iter(lengths.values())))
        return [{name: values[t] for name, values in read.items()} for t in steps]

    def _check_names(self, observation: Any, where: str = "") -> None:
        if not isinstance(observation, Mapping):
            raise TypeError(
                f"{where}this filter has the sensors {listed(self.readers)}: what they said is a dictionary by name "
                f"(None where one was silent), not {type(observation).__name__}."
            )
        unknown = [name for name in observation if name not in self.readers]
        if unknown:
            raise ValueError(f"{where}there is no sensor {unknown[0]!r}; the sensors are {listed(self.readers)}.")


def _is_silence(observation: Any) -> bool:
    """Say whether a whole step is missing: None, or the NaN by which tables say so."""
    return observation is None or (isinstance(observation, Real) and bool(np.isnan(float(observation))))


@dataclass(frozen=True, eq=False)
class SensorsPosterior(Posterior):
    """The posterior of the sensor that was used last, and what became of the others.

    Its coverages are the smallest of the sensors that spoke.
    """

    last: Posterior
    use: SensorUse

    @classmethod
    def after(
        cls, last: Posterior, tried: Sequence[tuple[float, float]], heard: Sequence[Posterior], use: SensorUse
    ) -> SensorsPosterior:
        """Put together the posterior that counts, coverages of all sensors that spoke, evidence of those used."""
        seen, near = (float(np.fmin.reduce(values)) for values in zip(*tried, strict=True))
        return cls(
            rule=last.rule,
            support=last.support,
            weight_sum=last.weight_sum,
            observation_coverage=seen,
            state_coverage=near,
            last=last,
            use=use,
            evidence=Evidence(*(sum(parts) for parts in zip(*(one.evidence for one in heard or [last]), strict=True))),
            contrast=sum(one.contrast for one in heard or [last]),
        )

    @property
    def formed(self) -> bool:  # type: ignore[override]
        """Whether the weights cost nothing."""
        return self.last.formed

    @property
    def usable(self) -> bool:
        """Whether any sensor was used; each was judged by itself."""
        return bool(self.use.used)

    @property
    def sensors(self) -> SensorUse:
        """Which sensors were used, and which were not."""
        return self.use

    def weights(self) -> FloatArray:
        """Form the weights."""
        return self.last.weights()

    def mean(self) -> FloatArray | None:
        """Return the mean state."""
        return self.last.mean()

    def covariance(self) -> FloatArray | None:
        """Return the covariance."""
        return self.last.covariance()

    def expectation(self, function: Callable[[Any], Any]) -> FloatArray | None:
        """Return the expectation of a function."""
        return self.last.expectation(function)

    def sum_of_squares(self) -> float | None:
        """Return Σ w²."""
        return self.last.sum_of_squares()

    def summarise(self, others: Sequence[SensorsPosterior]) -> WeightSummary:
        """Summarise several of these, whose last sensor was the same."""
        return self.last.summarise([other.last for other in others])

    def resample(self, size: int, rng: np.random.Generator) -> Resampled:
        """Resample as the last sensor's rule does."""
        return self.last.resample(size, rng)


@dataclass(frozen=True, eq=False)
class SensorsRule(BayesRule):
    """Corrects by each sensor that spoke, in the order of the fit."""

    rules: Mapping[str, BayesRule]
    rejecting: bool
    """Whether sensors whose correction cannot be trusted are left out."""

    def correct(self, prior: Prior, observation: dict[str, Objects]) -> Posterior:
        """Correct by one sensor after the other; ``observation`` holds those that spoke, at least one."""
        use, tried, heard, last, found = NOBODY, [], [], None, None
        for name, said in observation.items():
            rule = self.rules[name]
            with noting_sensor(name):
                found = rule.correct(prior if last is None else _as_prior(last, rule), said)
            if not np.isfinite(found.weight_sum) or (not self.rejecting and found.vanishes):
                return found  # the step knows what to say about it
            # The first sensor knows how near its examples are to the predicted states; later ones saw other states.
            near = found.state_coverage if last is None else rule.state_coverage(prior)
            tried.append((found.observation_coverage, near))
            if self.rejecting and not found.usable:
                use = use._replace(rejected=(*use.rejected, name))
            else:
                use, last = use._replace(used=(*use.used, name)), found
                heard.append(found)  # log p(y₁) + log p(y₂ | y₁) + …
        assert found is not None
        return SensorsPosterior.after(found if last is None else last, tried, heard, use)

    def suggested(self, observation: dict[str, Objects]) -> Prior | None:
        """Return what the first sensor that spoke, and can tell, makes of what it said alone."""
        found = (self.rules[name].suggested(said) for name, said in observation.items())
        return next((one for one in found if one is not None), None)

    def state_coverage(self, prior: Prior) -> float:
        """Return the smallest of the sensors'."""
        return float(np.fmin.reduce([rule.state_coverage(prior) for rule in self.rules.values()]))


def _as_prior(posterior: Posterior, rule: BayesRule) -> Prior:
    """Return a posterior as the prior of the next sensor; where its kernel mean is enough, in the cheapest form."""
    return posterior.embedded() if rule.by_embedding else Sample(posterior.support, posterior.weights())
