"""Section 6.2 of the paper: all methods on the eight synthetic models."""
