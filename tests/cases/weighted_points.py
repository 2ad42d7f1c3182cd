"""Weighted points that can be resampled, without a rule behind them."""

import numpy as np
from herding_by_hand import algorithm_2, resampling_loss

from kmcf.herding import Herding


class WeightedPoints:
    """What a resampler asks of a posterior; the answers are those of the literal formulas.

    Weights that are None may not be asked for. Sizes that herding was asked for are noted.
    """

    def __init__(self, weights, gram=None):
        self._weights = weights
        self._gram = gram
        self.sizes = []

    def weights(self):
        assert self._weights is not None, "nobody should ask for these weights"
        return self._weights

    def herd(self, size):
        self.sizes.append(size)
        picks = algorithm_2(self.weights(), self._gram, size)
        return Herding(np.array(picks), self.resampling_loss(np.array(picks)))

    def resampling_loss(self, indices):
        return resampling_loss(self.weights(), self._gram, indices.tolist())
