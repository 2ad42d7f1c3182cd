"""What a file keeps of a filter that applies a Bayes' rule, and what is checked when it is loaded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from kmcf.bayes_rule.cache import LAYOUT
from kmcf.filter.learning import LearningSettings, Learnt
from kmcf.kernels import Precomputed
from kmcf.numerics.arrays import Array
from kmcf.numerics.objects import take
from kmcf.support.alerts import RefittedWarning, warn_user
from kmcf.support.storable import PassedAgainError

PROBES = 8
KERNELS = ("state_kernel", "observation_kernel")


def stored(learnt: Learnt) -> dict[str, Any]:
    """Return what a file keeps: what was learnt, and probes by which kernels that are passed again are recognised."""
    return {**learnt.stored(), "probes_": kernel_probes(learnt)}


def restored(state: dict[str, Any], settings: LearningSettings, passed: set[str]) -> Learnt:
    """Restore what was learnt; check the kernels that were passed again, and warn where factors were recomputed."""
    learnt, refitted = Learnt.restored(state, settings)
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
    some = np.unique(np.linspace(0, len(examples["state_kernel"]) - 1, PROBES).astype(np.intp))
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
    kept = state.get("cache_")
    cache = kept.read() if kept is not None and kept.version == LAYOUT else None
    return {**state, "cache_": cache}
