"""Section 4.3, "Normalization of weights": the filter with and without line 16 of Algorithm 3."""
