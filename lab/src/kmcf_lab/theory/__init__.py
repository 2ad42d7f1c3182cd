"""Section 5 of the paper: its theorems and corollaries, measured."""
