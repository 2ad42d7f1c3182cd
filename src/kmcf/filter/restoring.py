"""What a filter that comes from a file checks before it goes on."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from kmcf.bayes_rule.cache import LAYOUT
from kmcf.filter.learning import Learnt
from kmcf.kernels import Precomputed
from kmcf.numerics.arrays import Array
from kmcf.numerics.objects import take
from kmcf.support.alerts import RefittedWarning
from kmcf.support.storable import PassedAgainError

PROBES = 8
KERNELS = ("state_kernel", "observation_kernel")


def kernel_probes(learnt: Learnt, names: Iterable[str] = KERNELS) -> dict[str, Array]:
    """Return the similarities of a few examples, by which the kernels can be recognised."""
    examples = {"state_kernel": learnt.all_states.objects, "observation_kernel": learnt.all_observations.objects}
    some = np.unique(np.linspace(0, len(examples["state_kernel"]) - 1, PROBES).astype(np.intp))
    kernels = {name: getattr(learnt, name) for name in names}
    return {
        name: kernel(take(examples[name], some))
        for name, kernel in kernels.items()
        if not isinstance(kernel, Precomputed)
    }


def check_kernels(learnt: Learnt, saved: dict[str, Array], passed: set[str]) -> None:
    """Compare kernels that the user passed again, or parts of them, with those that the filter was saved with."""
    names = {name.partition("__")[0] for name in passed} & set(saved)
    found = kernel_probes(learnt, names)
    for name in sorted(names):
        if not np.allclose(found[name], saved[name], rtol=1e-6, atol=1e-12, equal_nan=True):
            raise PassedAgainError(
                f"the {name} that was passed (or a part of it) is not the one that the filter was saved with: it gives "
                "other similarities of the examples. Pass the same one, fitted if it learns from examples."
            )


def with_cache(state: dict[str, Any]) -> dict[str, Any]:
    """Read what a file kept of a fitted rule, if it has the layout of this version; otherwise there is none."""
    kept = state.get("cache_")
    cache = kept.read() if kept is not None and kept.version == LAYOUT else None
    return {**state, "cache_": cache}


def warn_refitted(*, stacklevel: int) -> None:
    """Say that factors were computed again."""
    warnings.warn(
        "the file was written by another version of kmcf, whose factors have another form; they were computed again "
        "from the examples, so results may differ by rounding. Save the filter anew to load it faster.",
        RefittedWarning,
        stacklevel=stacklevel,
    )
