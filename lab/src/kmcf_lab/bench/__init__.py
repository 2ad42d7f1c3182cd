"""What ``kmcf bench`` measures: time per step, memory, accuracy; one module per study."""
