"""The paper, computed again: what ``kmcf reproduce`` runs."""
