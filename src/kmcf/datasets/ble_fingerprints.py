"""Bluetooth fingerprints: what twelve receivers hear from a beacon standing still, shipped with the package (CC0)."""

from __future__ import annotations

import gzip
import json
from typing import Any

import numpy as np

from kmcf.datasets.ble import NO_SIGNAL, packaged_folder
from kmcf.datasets.recording import Recording
from kmcf.numerics.arrays import FloatArray


def ble_fingerprints(number: int = 1, samples: int = 20, random_state: Any = 0) -> Recording:
    """Load the fingerprints of one recording day: examples for the tracks of :func:`~kmcf.datasets.ble_tracks`.

    At each of 81 (set 1) or 45 (set 2) positions every receiver's strengths are stored as a histogram. Examples are
    drawn from these, receivers independently. The examples are not a sequence; ``time`` counts them.

    Parameters
    ----------
    number : {1, 2}
        Which set.
    samples : int
        Examples drawn per position.
    random_state : int, Generator or None
        Seed of the draws.

    Examples
    --------
    >>> ble_fingerprints(2, samples=10).observations.shape
    (450, 12)
    """
    if number not in (1, 2):
        raise ValueError(f"number = {number!r}; it must be 1 or 2.")
    if not (isinstance(samples, int | np.integer) and samples >= 1):
        raise ValueError(f"samples = {samples!r}; it must be a positive integer.")
    file = packaged_folder() / f"fingerprints_set_{number}.hst.gz"
    sections = dict(line.split(":", 1) for line in gzip.decompress(file.read_bytes()).decode().splitlines() if line)
    edges = np.array(json.loads(sections["Bins"]))
    receivers = sorted(json.loads(sections["Dongles"]))
    rng = np.random.default_rng(random_state)
    states, observations = [], []
    for place, heard in json.loads(sections["Fingerprints"]).items():
        position = [float(number) for number in place.strip("()").split(",")][:2]
        columns = [_draws(heard.get(receiver, {}), edges, samples, rng) for receiver in receivers]
        states.append(np.tile(position, (samples, 1)))
        observations.append(np.stack(columns, axis=1))
    joined = np.concatenate(states)
    return Recording(
        f"fingerprints {number}",
        np.arange(len(joined), dtype=np.float64),
        joined,
        np.concatenate(observations),
        units={"time": "example", "states": "m", "observations": "dBm"},
        names={"states": ("x", "y"), "observations": tuple(receivers)},
    )


def _draws(histograms: dict[str, list[float]], edges: FloatArray, samples: int, rng: np.random.Generator) -> FloatArray:
    """Draw strengths from a receiver's histogram (there is only one beacon), at the left edges of its bins."""
    weights = np.sum(list(histograms.values()) or [[0.0]], axis=0)
    if not weights.sum() > 0:
        return np.full(samples, NO_SIGNAL)
    return rng.choice(edges[:-1], size=samples, p=weights / weights.sum())
