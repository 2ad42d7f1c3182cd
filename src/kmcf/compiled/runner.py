"""Running batches, as many sequences at a time as the devices have room for, spread over a mesh."""

# mypy: disable-error-code=no-untyped-call
# JAX leaves some of its classes without types.

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from kmcf.compiled.compiling import announcing, compiled
from kmcf.compiled.held import HeldResults, may_stay
from kmcf.compiled.inputs import Batch
from kmcf.compiled.memory import bytes_per_sequence, free_bytes, plan
from kmcf.compiled.records import FilterState, Model, StepResult, StepSettings
from kmcf.compiled.step import advance, initial_state
from kmcf.filter.clock import Drive


class BatchRunner:
    """The compiled loop over time for a batch of filters, one per mesh.

    Parameters
    ----------
    model : Model
        The fitted numbers.
    settings : StepSettings
        Everything else.
    """

    def __init__(self, model: Model, settings: StepSettings) -> None:
        self._model = model
        self._settings = settings
        self._by_mesh: dict[Mesh | None, tuple[Any, ...]] = {}

    def run(self, batch: Batch, *, mesh: Mesh | None = None, start: FilterState | None = None) -> HeldResults:
        """Filter a batch, as many sequences at a time as the device has room for; return arrays (B, T, ...)."""
        size, steps = batch.observations.shape[:2]
        devices = 1 if mesh is None else mesh.size
        device = jax.local_devices()[0] if mesh is None else mesh.local_devices[0]
        observation_bytes = int(np.prod(batch.observations.shape[2:])) * self._settings.dtype.itemsize
        width, piece = plan(
            size,
            steps,
            devices,
            lambda length: bytes_per_sequence(self._model, self._settings, length, observation_bytes),
            free_bytes(device),
        )
        if (width, piece) == (size, steps) and mesh is None:
            results = self._run_part((batch.observations, batch.drives), np.arange(size), piece, None, start, stay=True)
            return HeldResults(results if may_stay(device) else jax.device_get(results))
        parts = []
        for first in range(0, size, width):
            rows = np.minimum(np.arange(first, first + width), size - 1)  # the last part is padded
            some = jax.tree.map(lambda array, rows=rows: array[rows], (batch.observations, batch.drives))
            part = self._run_part(some, rows, piece, mesh, start)
            parts.append(jax.tree.map(lambda array, first=first: array[: size - first], part))
        return HeldResults(jax.tree.map(lambda *arrays: np.concatenate(arrays), *parts))

    def _run_part(
        self,
        inputs: Any,
        streams: Any,
        piece: int,
        mesh: Mesh | None,
        start: FilterState | None,
        *,
        stay: bool = False,
    ) -> Any:
        """Run some sequences to their end, piece by piece; bring the results to the host if they may not stay."""
        model, scan, initial, put, fetch = self.compiled_for(mesh)
        if start is None:
            state = initial(model, put(np.asarray(streams, np.uint32)))
        else:
            state = jax.tree.map(lambda array: array[None], start)
        steps = inputs[0].shape[1]
        pieces = []
        for begin in range(0, steps, piece):
            observations, drives = jax.tree.map(lambda array, begin=begin: array[:, begin : begin + piece], inputs)
            with announcing(f"the loop over {piece} steps of {observations.shape[0]} sequences"):
                state, results = scan(model, state, put(observations), put(drives))
            pieces.append(results if stay else fetch(results))
        return pieces[0] if len(pieces) == 1 else jax.tree.map(lambda *arrays: np.concatenate(arrays, axis=1), *pieces)

    def compiled_for(self, mesh: Mesh | None) -> tuple[Any, ...]:
        """Return the model, the compiled loop and initial draw, and functions that move arrays to and from a mesh."""
        if mesh not in self._by_mesh:
            self._by_mesh[mesh] = self._compile(mesh)
        return self._by_mesh[mesh]

    def _compile(self, mesh: Mesh | None) -> tuple[Any, ...]:
        """Place the model on the mesh and compile the functions."""
        scan = partial(_scan_batch, settings=self._settings)
        initial = jax.vmap(partial(initial_state, settings=self._settings), in_axes=(None, 0))
        if mesh is None:
            return self._model, compiled(scan), compiled(initial), lambda tree: tree, jax.device_get
        whole, split = PartitionSpec(), PartitionSpec(mesh.axis_names)
        # Each device runs its own filters: nothing is exchanged.
        scan = jax.shard_map(scan, mesh=mesh, in_specs=(whole, split, split, split), out_specs=split, check_vma=False)
        initial = jax.shard_map(initial, mesh=mesh, in_specs=(whole, split), out_specs=split, check_vma=False)
        model = place(self._model, NamedSharding(mesh, whole))
        return (
            model,
            compiled(scan),
            compiled(initial),
            lambda tree: place(tree, NamedSharding(mesh, split)),
            gather,
        )


def place(tree: Any, sharding: NamedSharding) -> Any:
    """Put arrays onto a mesh; on several hosts each one puts its own part of the same arrays."""
    if sharding.is_fully_addressable:
        return jax.device_put(tree, sharding)

    def placed(array: Any) -> Any:
        host = np.asarray(array)
        return jax.make_array_from_callback(host.shape, sharding, lambda index: host[index])

    return jax.tree.map(placed, tree)


def gather(tree: Any) -> Any:
    """Bring arrays to this host, including the parts that other hosts computed."""
    if all(leaf.is_fully_addressable for leaf in jax.tree.leaves(tree)):
        return jax.device_get(tree)
    from jax.experimental import multihost_utils

    return multihost_utils.process_allgather(tree, tiled=True)


def _scan_batch(
    model: Model, states: FilterState, observations: Any, drives: Drive, settings: StepSettings
) -> tuple[FilterState, StepResult]:
    """Run B filters over T steps: the batch inside, the time outside."""

    def one(state: FilterState, observations: Any, drives: Drive) -> tuple[FilterState, StepResult]:
        def step(state: FilterState, inputs: Any) -> tuple[FilterState, StepResult]:
            observation, drive = inputs
            return advance(model, state, observation, drive, settings)

        return lax.scan(step, state, (observations, drives))

    return jax.vmap(one)(states, observations, drives)
