"""What was seen, beside the example that resembles it most: images as pictures, vectors as numbers."""

from __future__ import annotations

import base64
import io
import weakref
from typing import Any

import numpy as np

from kmcf.live.model import LiveModel
from kmcf.numerics.objects import Objects
from kmcf.support.extras import require

MOST_COMPARED = 5000
"""With more examples, evenly chosen ones are compared."""
LONGEST = 64
"""Vectors with more numbers are not shown."""
_matchers: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


def seen_beside_match(model: LiveModel, observation: Any) -> dict[str, Any] | None:
    """Return what was seen and the most similar example's observation; None if nothing was seen or can be shown.

    Parameters
    ----------
    model : LiveModel
        The filter.
    observation : array, dictionary or None
        As the filter was shown it.
    """
    if observation is None or isinstance(observation, dict) or model.shape is None:
        return None
    seen = np.asarray(observation, dtype=np.float64)
    match = _best_match(model, seen)
    if seen.ndim >= 2 and seen.ndim <= 3:
        return {"image": picture(seen), "match": None if match is None else picture(match)}
    if seen.ndim > 1 or not 2 <= seen.size <= LONGEST:
        return None
    beside = None if match is None else np.ravel(match).tolist()
    return {"values": np.ravel(seen).tolist(), "match": beside, "names": list(model.observations)}


def _best_match(model: LiveModel, seen: Any) -> Any:
    if np.isnan(seen).any():
        return None
    if model not in _matchers:
        _matchers[model] = _matcher(model)
    found = _matchers[model]
    if found is None:
        return None
    observations, kernel = found
    return observations[int(np.argmax(kernel.against(seen.reshape(1, *np.shape(observations[0])))))]


def _matcher(model: LiveModel) -> tuple[Objects, Any] | None:
    """Return some example observations, and the kernel that compares others with them."""
    learnt, kernel = getattr(model.filter, "learnt_", None), getattr(model.filter, "observation_kernel_", None)
    if learnt is None or kernel is None:
        return None
    observations = learnt.all_observations.objects
    if not isinstance(observations, np.ndarray):
        return None
    chosen = observations[:: max(1, -(-len(observations) // MOST_COMPARED))]
    chosen = chosen[np.isfinite(chosen.reshape(len(chosen), -1)).all(axis=1)]
    return (chosen, kernel.on_examples(chosen)) if len(chosen) else None


def picture(image: Any) -> str:
    """Return an image as an address that holds it: a PNG, scaled to the range of its numbers unless they are bytes.

    Examples
    --------
    >>> picture(np.eye(3))[:22]
    'data:image/png;base64,'
    """
    values = np.nan_to_num(np.asarray(image, dtype=np.float64))
    low, high = float(values.min()), float(values.max())
    if not (low >= 0.0 and 1.0 < high <= 255.0):
        values = (values - low) * (255.0 / (high - low) if high > low else 1.0)
    plain = values.astype(np.uint8)
    if plain.ndim == 3 and plain.shape[2] not in (3, 4):
        plain = plain[..., 0]
    buffer = io.BytesIO()
    require("PIL.Image", "live").fromarray(plain).save(buffer, format="PNG")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
