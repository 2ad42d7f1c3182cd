"""Section 6.1 of the paper: what resampling does to a kernel mean, computed again."""
