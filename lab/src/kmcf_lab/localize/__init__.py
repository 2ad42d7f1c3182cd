"""Localization from examples, on recorded and simulated data."""
