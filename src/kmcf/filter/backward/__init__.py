"""What later observations say about earlier states: smoothing, paths, a fixed lag."""
