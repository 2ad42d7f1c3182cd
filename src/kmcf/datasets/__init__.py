"""Data to filter: simulators of the paper's models."""

from kmcf.datasets.synthetic import PAPER_MODELS, StateSpaceModel, Trajectory, paper_model

__all__ = ["PAPER_MODELS", "StateSpaceModel", "Trajectory", "paper_model"]
