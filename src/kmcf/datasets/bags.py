"""Recorded ROS 2 bags (MCAP files) as tables: one row per message of one topic, beside it what the others last said."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from kmcf.datasets.columns import NamedColumns
from kmcf.support.extras import require

LONGEST = 5000
"""Lists of more numbers, such as images, are left out."""
TIME = "time"


def read_bag(path: Path, rows: str | None = None) -> NamedColumns:
    """Read the numbers in a bag as columns, named by topic and field: ``/odom:pose.pose.position.x``.

    A list of numbers, such as the ranges of a laser scan, is a group of columns: ``/scan:ranges`` stands for
    ``/scan:ranges_0``, ``/scan:ranges_1``, ... Times are seconds since 1970, in the column ``time``.

    Parameters
    ----------
    path : Path
        An MCAP file with ROS 2 messages.
    rows : str, optional
        The topic whose messages are the rows. None: the one with most numbers in a message. Columns of other topics
        hold what these had said last, NaN before their first message.
    """
    last: dict[str, float] = {}
    found: list[dict[str, float]] = []
    groups: dict[str, list[str]] = {}
    basis = rows or _richest(path)
    for topic, seconds, message in _messages(path):
        said = dict(_numbers(message, f"{topic}:", groups))
        last |= said
        if topic == basis:
            found.append({TIME: seconds, **last})
    if not found:
        raise ValueError(f"{path} has no message of the topic {basis}.")
    names = list(dict.fromkeys(name for row in found for name in row))
    columns = {name: np.array([row.get(name, np.nan) for row in found]) for name in names}
    return NamedColumns(columns, path.name, groups, lambda row: f"message {row + 1} of {basis}")


def _richest(path: Path) -> str:
    """Return the topic whose first message has most numbers."""
    counts: dict[str, int] = {}
    for topic, _, message in _messages(path):
        if topic not in counts:
            counts[topic] = sum(1 for _ in _numbers(message, "", {}))
    if not counts:
        raise ValueError(f"{path} holds no messages.")
    return max(counts, key=lambda topic: counts[topic])


def _messages(path: Path) -> Iterator[tuple[str, float, Any]]:
    """Yield topic, time and content of all messages, in the order of their times."""
    reading, errors = require("mcap.reader", "mcap"), require("mcap.exceptions", "mcap")
    decoders = require("mcap_ros2.decoder", "mcap")
    try:
        with path.open("rb") as file:
            reader = reading.make_reader(file, decoder_factories=[decoders.DecoderFactory()])
            for _, channel, message, content in reader.iter_decoded_messages():
                yield channel.topic, message.log_time * 1e-9, content
    except (errors.McapError, ValueError, EOFError, struct.error) as error:
        raise ValueError(f"{path} cannot be read as an MCAP file of ROS 2 messages: {error}.") from None


def _numbers(message: Any, prefix: str, groups: dict[str, list[str]]) -> Iterator[tuple[str, float]]:
    """Yield the numbers of a message by name; note which lists stand for several."""
    for field in message.__slots__:
        value, name = getattr(message, field), prefix + field
        if isinstance(value, bool | int | float):
            yield name, float(value)
        elif hasattr(value, "__slots__"):
            yield from _numbers(value, f"{name}.", groups)
        elif isinstance(value, list | tuple | bytes) or hasattr(value, "typecode"):
            plain = list(value[: LONGEST + 1])
            if 0 < len(plain) <= LONGEST and isinstance(plain[0], bool | int | float):
                named = [f"{name}_{j}" for j in range(len(plain))]
                if len(named) > len(groups.get(name, ())):
                    groups[name] = named
                yield from zip(named, (float(one) for one in plain), strict=True)
