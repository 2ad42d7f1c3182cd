"""A service, and a page on which a person sees a filter work: ``kmcf serve`` and ``kmcf watch`` (``kmcf[live]``)."""

from kmcf.live.model import LiveModel
from kmcf.live.run import serve, watch

__all__ = ["LiveModel", "serve", "watch"]
