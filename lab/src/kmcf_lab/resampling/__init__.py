"""Section 6.1 of the paper: what resampling does to the estimate of a kernel mean."""
