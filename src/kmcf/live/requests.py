"""What clients send: observations of tracked objects, read from JSON with sentences about what is wrong."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NamedTuple

import numpy as np

NAME = re.compile(r"[A-Za-z0-9_.:@-]{1,64}")
"""What an object may be called."""
FIELDS = ("observation", "control", "time", "step")


class Refusal(Exception):  # noqa: N818 — an answer, not a fault
    """A request that is answered with a sentence, and changes nothing.

    Parameters
    ----------
    status : int
        As in HTTP.
    message : str
        A sentence.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message

    def __reduce__(self) -> Any:
        return Refusal, (self.status, self.message)


class Observed(NamedTuple):
    """One observation of one object, as a client sent it."""

    object: str
    observation: Any = None
    control: Any = None
    time: float | None = None
    step: int | None = None
    """The number that this step is to have: a request that is sent again is then answered again, not used twice."""


def read_name(name: Any) -> str:
    """Check what an object is called.

    Examples
    --------
    >>> read_name("robot-7")
    'robot-7'
    """
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise Refusal(422, "an object's id consists of 1 to 64 letters, digits and characters of _.:@-")
    return name


def read_json(body: bytes | str) -> Any:
    """Read JSON; NaN and Infinity, which are none, are refused.

    Examples
    --------
    >>> read_json('{"observation": [1.0, null]}')
    {'observation': [1.0, None]}
    """
    try:
        return json.loads(body, parse_constant=_no_number)
    except RecursionError:
        raise Refusal(400, "the JSON is nested too deeply.") from None
    except ValueError as error:
        raise Refusal(400, f"this is not JSON: {error}.") from None


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is no number in JSON; write null where a number is missing")


def read_observed(name: str, given: Any) -> Observed:
    """Read one observation of an object.

    Examples
    --------
    >>> read_observed("a", {"observation": [1, None], "time": 2})
    Observed(object='a', observation=[1, None], control=None, time=2.0, step=None)
    """
    if not isinstance(given, dict):
        raise Refusal(422, 'an observation is a JSON object: {"observation": [...], "control": null, "time": null}.')
    unknown = [key for key in given if key not in FIELDS]
    if unknown:
        raise Refusal(422, f"there is no field {unknown[0][:40]!r}; the fields are {', '.join(FIELDS)}.")
    if "observation" not in given:
        raise Refusal(422, 'the field "observation" is missing; null says that nothing was observed.')
    time, step = given.get("time"), given.get("step")
    if time is not None and not _is_finite(time):
        raise Refusal(422, "the time must be a finite number, or null.")
    if step is not None and not (_is_finite(step) and step == int(step) and 1 <= step < 2**53):
        raise Refusal(422, "the step must be a positive integer, or null.")
    clock, number = None if time is None else float(time), None if step is None else int(step)
    return Observed(read_name(name), given["observation"], given.get("control"), clock, number)


def _is_finite(value: Any) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def numbers(value: Any, what: str) -> Any:
    """Turn nested lists of numbers into an array, null into NaN; a dictionary by sensor, each of its values.

    Examples
    --------
    >>> numbers([1, None], "observation")
    array([ 1., nan])
    """
    if value is None:
        return None
    if isinstance(value, dict):
        return {name: numbers(part, f"{what} of {name[:40]!r}") for name, part in value.items()}
    try:
        if not _plain(value):
            raise ValueError
        return np.asarray(value, dtype=np.float64)
    except (ValueError, TypeError, OverflowError):
        raise Refusal(
            422, f"the {what} must be a number, or a list of numbers (of equal length where nested) and nulls."
        ) from None


def _plain(value: Any, depth: int = 0) -> bool:
    if isinstance(value, list):
        return depth < 4 and all(_plain(part, depth + 1) for part in value)
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))
