"""The filter on JAX arrays: one compiled step, scanned over time and batched over sequences."""

from kmcf.compiled.belief import DeviceBelief
from kmcf.compiled.engine import CompiledFilter

__all__ = ["CompiledFilter", "DeviceBelief"]
