"""What a file keeps of a filter that applies a Bayes' rule, and what is checked when it is loaded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from kmcf.bayes_rule.cache import LAYOUT, to_cache
from kmcf.filter.explaining import explain_learnt
from kmcf.filter.fitting.augmenting import Pairs
from kmcf.filter.fitting.chunked import summed_over
from kmcf.filter.fitting.gaps import restored_reader, separated
from kmcf.filter.fitting.kernel_choice import KernelChoice
from kmcf.filter.fitting.kernel_fitting import given_kernel
from kmcf.filter.fitting.learnt import LearningSettings, Learnt, examples_for
from kmcf.herding.subsampling import Subsample
from kmcf.kernels import Precomputed
from kmcf.numerics.arrays import Array
from kmcf.numerics.growing import Growing
from kmcf.numerics.objects import Objects, evenly_spaced, is_numeric, take
from kmcf.support.alerts import RefittedWarning, warn_user
from kmcf.support.estimators import clone
from kmcf.support.storable import PassedAgainError, Versioned

PROBES = 8
KERNELS = ("state_kernel", "observation_kernel")


def stored(learnt: Learnt) -> dict[str, Any]:
    """Return what a file keeps: what was learnt, and probes by which kernels that are passed again are recognised."""
    return {**_contents(learnt), "probes_": kernel_probes(learnt)}


def restored(state: dict[str, Any], settings: LearningSettings, passed: set[str]) -> Learnt:
    """Restore what was learnt; check the kernels that were passed again, and warn where factors were recomputed."""
    learnt, refitted = _restored(state, settings)
    check_kernels(learnt, state["probes_"], passed)
    if refitted:
        warn_user(
            "the file was written by another version of kmcf, which stored its factors in another form; they were "
            "computed again from the examples, so results may differ by rounding. Save the filter again to load it "
            "faster.",
            RefittedWarning,
        )
    return learnt


def kernel_probes(learnt: Learnt, names: Iterable[str] = KERNELS) -> dict[str, Array]:
    """Return similarities between a few examples, by which the kernels can be recognised."""
    examples = {"state_kernel": learnt.all_states.objects, "observation_kernel": learnt.all_observations.objects}
    some = evenly_spaced(len(examples["state_kernel"]), PROBES)
    kernels = {name: getattr(learnt, name) for name in names}
    return {
        name: kernel(take(examples[name], some))
        for name, kernel in kernels.items()
        if not isinstance(kernel, Precomputed)
    }


def check_kernels(learnt: Learnt, saved: dict[str, Array], passed: set[str]) -> None:
    """Check that kernels passed again, or parts of them, are those that the filter was saved with."""
    names = {name.partition("__")[0] for name in passed} & set(saved)
    found = kernel_probes(learnt, names)
    for name in sorted(names):
        if not np.allclose(found[name], saved[name], rtol=1e-6, atol=1e-12, equal_nan=True):
            raise PassedAgainError(
                f"the {name} that was passed (or a part of it) is not the one that the filter was saved with: it gives "
                "other similarities between the examples. Pass the same one, fitted if it learns from examples."
            )


def with_cache(state: dict[str, Any]) -> dict[str, Any]:
    """Read what a file kept of a fitted rule; None if another version laid it out differently."""
    kept, sensors = state.get("cache_"), state.get("sensors_")
    cache = kept.read() if kept is not None and kept.version == LAYOUT else None
    several = {"sensors_": {name: with_cache(part) for name, part in dict(sensors).items()}} if sensors else {}
    return {**state, **several, "cache_": cache}


def _contents(learnt: Learnt) -> dict[str, Any]:
    """Return what a file keeps: examples, learnt kernels and numbers, and a cache of the rule."""
    choice, chosen = learnt.kernel_choice, learnt.chosen
    states, observations = learnt.examples
    named = {"columns_": list(learnt.reader.names)} if learnt.reader.names else {}
    return {
        **named,
        "states_": states,
        "observations_": observations,
        "flat_": learnt.reader.flat,
        "filling_": None if learnt.reader.filling is None else list(learnt.reader.filling),
        "numbers_": learnt.numbers,
        "history_": [learnt.learnt_from, learnt.refreshed_at],
        "state_kernel_": learnt.state_kernel,
        "observation_kernel_": learnt.observation_kernel,
        "kernel_choice_": None if choice is None else {"name": choice.name, "scores": choice.scores},
        "epsilon_": learnt.epsilon,
        "delta_": learnt.delta,
        "chosen_": None if chosen is None else {"indices": chosen.indices, "errors": chosen.errors},
        "engine_": learnt.fitted.engine,
        "ranks_": list(learnt.fitted.ranks),
        "trace_errors_": list(learnt.fitted.trace_errors),
        "explanation_": "\n".join(explain_learnt(learnt)),
        "cache_": Versioned(to_cache(learnt.fitted), LAYOUT),
        "summed_": summed_over(learnt),
        **({} if learnt.further is None else {"augmented_": learnt.further._asdict()}),
    }


def _restored(stored: Mapping[str, Any], settings: LearningSettings) -> tuple[Learnt, bool]:
    """Restore what a file kept; also say whether the rule had to be fitted again."""
    learnt_from, refreshed = stored.get("history_") or [len(stored["states_"])] * 2
    reader = restored_reader(stored, given_kernel(settings.observation_kernel, "observation_kernel"))
    incomplete, complete = separated(stored["states_"], stored["observations_"], reader.accepts, learnt_from)
    states, observations = (Growing(part) for part in complete)
    state_kernel, observation_kernel = stored["state_kernel_"], stored["observation_kernel_"]
    further = _restored_pairs(stored.get("augmented_"), complete)
    examples = examples_for(state_kernel, observation_kernel, *complete, further)
    if examples.state_kernel.size != examples.observation_kernel.size:
        raise ValueError(f"{examples.state_kernel.size} states, {examples.observation_kernel.size} observations.")
    chosen = None if stored["chosen_"] is None else Subsample(**stored["chosen_"])
    cache = stored["cache_"]
    if cache is None and stored.get("summed_") is not None:
        raise ValueError(
            "this filter was fitted on more examples than its file holds (Dask chunks), and the sums over them were "
            "written by another version of kmcf: load it with that version, or fit again."
        )
    epsilon, delta = (_number(stored[name], name) for name in ("epsilon_", "delta_"))
    known = examples if chosen is None else examples.subset(chosen.indices)
    choice = stored["kernel_choice_"]
    learnt = Learnt(
        all_states=states,
        all_observations=observations,
        reader=reader,
        state_kernel=state_kernel,
        observation_kernel=observation_kernel,
        kernel_choice=None if choice is None else KernelChoice(clone(observation_kernel), **choice),
        epsilon=epsilon,
        delta=delta,
        chosen=chosen,
        fitted=settings.make_rule(known, epsilon, delta, cache),
        learnt_from=int(_number(learnt_from, "history_")),
        refreshed_at=int(_number(refreshed, "history_")),
        incomplete=incomplete,
        numbers=stored.get("numbers_"),
        further=further,
    )
    return learnt, cache is None


def _restored_pairs(kept: Any, examples: tuple[Objects, Objects]) -> Pairs | None:
    """Read pairs made up, and check that they are of the kind of the examples."""
    if kept is None:
        return None
    pairs = Pairs(kept["states"], kept["observations"])
    for name, own, made in zip(("states", "observations"), examples, pairs, strict=True):
        alike = is_numeric(own) and is_numeric(made) and np.shape(made)[1:] == np.shape(own)[1:]
        if not alike or len(made) != len(pairs.states) or not np.isfinite(made).all():
            raise ValueError(f"the {name} of pairs made up are not of the kind of the examples'.")
    return pairs


def _number(value: Any, name: str) -> float:
    """Return a number from a file; an array, even one with a single element, is none."""
    if np.ndim(value):
        raise ValueError(f"{name} is an array of shape {np.shape(value)}, and should be a number.")
    return float(value)
