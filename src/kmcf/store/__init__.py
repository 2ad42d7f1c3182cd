"""Saving and loading: one file per filter, which holds data only."""

from kmcf.store.errors import FileError, PassedAgainError
from kmcf.store.files import describe_file, load, save
from kmcf.store.registry import register
from kmcf.store.runs import load_run, save_run
from kmcf.store.tables import write_table

__all__ = [
    "FileError",
    "PassedAgainError",
    "describe_file",
    "load",
    "load_run",
    "register",
    "save",
    "save_run",
    "write_table",
]
