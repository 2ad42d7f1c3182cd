"""Whether an estimate can be believed: signals that something is wrong, and thresholds on them."""
