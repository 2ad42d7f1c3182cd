"""Writes the tables of docs/results from the raw numbers beside them (`make results`)."""
