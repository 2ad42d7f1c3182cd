"""Experiments: what the command line runs. Nothing in the package imports them."""
