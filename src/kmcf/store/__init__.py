"""Saving and loading: one file per filter, which holds data only."""

from kmcf.store.errors import FileError, PassedAgainError
from kmcf.store.estimates import write_estimates
from kmcf.store.files import describe_file, load, save
from kmcf.store.registry import register
from kmcf.store.runs import load_run, save_run
from kmcf.store.tables import write_table
from kmcf.store.tuning_results import save_tuning

__all__ = [
    "FileError",
    "PassedAgainError",
    "describe_file",
    "load",
    "load_run",
    "register",
    "save",
    "save_run",
    "save_tuning",
    "write_estimates",
    "write_table",
]
