"""Saving and loading: one file per filter, which holds data only."""

from kmcf.store.errors import FileError, PassedAgainError
from kmcf.store.files import describe_file, load, save
from kmcf.store.registry import register

__all__ = ["FileError", "PassedAgainError", "describe_file", "load", "register", "save"]
