"""What a filter returns: beliefs, and runs of them."""
