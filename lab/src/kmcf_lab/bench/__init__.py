"""Time per step, memory and accuracy: what ``kmcf bench`` measures."""
