"""Files of format 1, written by version 0.1, which held the attributes of a filter's classes.

What matters is still read: settings, examples, learnt kernels, the seed. Factors are computed again. Files in which
shared parts were mixed up, and fitted filters of other classes, are refused with an explanation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from kmcf.store.errors import FileError

FILTER, ON_PARTICLES = "KernelMonteCarloFilter", "ParticleLikelihoodFilter"
ON_PARTICLES_SETTINGS = (
    "transition", "initial", "state_kernel", "observation_kernel", "delta", "background", "tolerance", "rank",
    "resample_threshold", "n_particles", "n_examples", "angles", "random_state",
)  # fmt: skip
AGAIN = "was saved by kmcf 0.1 in a form that this version cannot read; fit it again and save it"


def upgraded(root: dict[str, Any]) -> dict[str, Any]:
    """Return the description of an object of format 1 as the current format has it."""
    _check_shared(root)
    if root["object"] == FILTER:
        return _filter(root)
    if "seed_" in root["state"]:
        raise FileError(f"its {root['object']} {AGAIN}.")
    return root


def _check_shared(root: dict[str, Any]) -> None:
    """Refuse ambiguous references: format 1 could give an object and one of its parts the same number."""
    nodes = list(_nodes(root))
    defined = Counter(node["number"] for node in nodes if "object" in node)
    if any(defined[node["same"]] > 1 for node in nodes if "same" in node):
        raise FileError(f"a part of its {root['object']} occurs twice, and it {AGAIN}.")


def _nodes(node: Any) -> Iterator[dict[str, Any]]:
    """Yield a node and all nodes inside it, except parts that are computed again."""
    if isinstance(node, list):
        for item in node:
            yield from _nodes(item)
    elif isinstance(node, dict) and "versioned" not in node:
        yield node
        for item in node.values():
            yield from _nodes(item)


def _filter(root: dict[str, Any]) -> dict[str, Any]:
    state = root["state"]
    on_particles = state["support"] == "particles" and state.get("background", 0.0) > 0.0
    names = [name for name in state if name.strip("_") == name and name != "background"]
    settings = {name: state[name] for name in (ON_PARTICLES_SETTINGS if on_particles else names)}
    if on_particles and state["resampling"] == "none":
        settings["resampling"] = "none"
    name = ON_PARTICLES if on_particles else FILTER
    if "seed_" not in state:
        return {**root, "object": name, "state": settings}
    choice, indices = state["kernel_choice_"], state["example_indices_"]
    learnt = {
        "states_": state["_all_states"]["state"]["objects"],
        "observations_": state["_all_examples"]["state"]["objects"],
        "flat_": state["_reader"]["state"]["flat"],
        **{part: state[part] for part in ("state_kernel_", "observation_kernel_", "epsilon_", "delta_", "seed_")},
        "kernel_choice_": None if choice is None else _part(choice, "name", "scores"),
        "chosen_": None if indices is None else _dict({"indices": indices, "errors": [state["subsample_error_"]]}),
        "_functions": state["_functions"],
        "probes_": state["_probes"],
        "cache_": None,
    }
    if not on_particles:
        learnt["_precision"] = state.get("_precision")
    return {**root, "object": name, "state": {**settings, **learnt}}


def _part(node: dict[str, Any], *names: str) -> dict[str, Any]:
    return _dict({name: node["state"][name] for name in names})


def _dict(items: dict[str, Any]) -> dict[str, Any]:
    return {"dict": [list(items), list(items.values())]}
