"""Localization: find out from examples where somebody or something is, on recorded and simulated data."""
