"""Points that represent an embedding (Algorithms 2 and 4), examples that represent them all (Algorithm 6)."""

from kmcf.herding.continuous import HerdedPoints, herd_continuously
from kmcf.herding.herding import Herding, herd, herd_embedding, herding_loss, resampling_loss
from kmcf.herding.resampling import multinomial, stratified, systematic
from kmcf.herding.subsampling import Subsample, subsample

__all__ = [
    "HerdedPoints",
    "Herding",
    "Subsample",
    "herd",
    "herd_continuously",
    "herd_embedding",
    "herding_loss",
    "multinomial",
    "resampling_loss",
    "stratified",
    "subsample",
    "systematic",
]
