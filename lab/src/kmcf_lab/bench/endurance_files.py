"""Files and tables that were damaged by accident or changed on purpose."""

from __future__ import annotations

import hashlib
import io
import json
import tempfile
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

import kmcf
from kmcf.datasets import read_tables
from kmcf.store import FileError, PassedAgainError
from kmcf.store.container import FORMAT, MANIFEST, SEAL_LENGTH
from kmcf.support.alerts import RefittedWarning
from kmcf_lab.bench.endurance_cases import MODEL, Endured, fitted

JUNK: tuple[Any, ...] = (
    None,
    -1,
    10**30,
    1e300,
    "",
    "__class__",
    [],
    {},
    {"object": "Gaussian"},
    {"array": "array_0"},
    {"same": 0},
)
CELLS = ("", "nan", "inf", "-1e999", "NaT", "1,5", '"', "é", "\x1b[2J", "\x00", "2020-01-01", "1e308", "x" * 50)


def damaged_files(count: int) -> Endured:
    """Damage a saved filter; each time loading must refuse it."""
    endured, rng = Endured(), np.random.default_rng(3)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.kmcf"
        whole = _saved(path)
        while endured.tried < count:
            data = damaged(whole, rng)
            if data != whole:  # zeros over zeros
                path.write_bytes(data)
                problem = _loading(path)
                endured.count("it was loaded" if problem == "" else problem.removeprefix("refused"))
        endured.measured = f"a filter of {len(whole) / 1000:.0f} kB"
    return endured


def sealed_files(count: int) -> Endured:
    """Change what a file holds and seal it again; loading must refuse it, or give a filter that can be looked at."""
    endured, rng, refused = Endured(), np.random.default_rng(4), 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.kmcf"
        whole = _saved(path)
        for number in range(count):
            path.write_bytes(_changed_manifest(whole, rng) if number % 2 else _sealed(damaged(whole, rng)))
            problem = _loading(path)
            refused += problem == "refused"
            endured.count(problem.removeprefix("refused"))
    endured.measured = f"{refused} refused, {count - refused} loaded"
    return endured


def mutated_tables(count: int) -> Endured:
    """Mutate a CSV file and an NPZ archive; reading must give recordings, or say in a sentence what is wrong."""
    endured, rng, refused = Endured(), np.random.default_rng(5), 0
    data = MODEL.simulate(40, random_state=0)
    columns: dict[str, Any] = {"t": np.arange(40.0), "x": data.states[:, 0], "y": data.observations[:, 0]}
    archive = io.BytesIO()
    np.savez(archive, **columns)
    table = "t,x,y\n" + "".join(f"{t},{x},{y}\n" for t, x, y in zip(*columns.values(), strict=True))
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            npz = number % 3 == 2
            path = Path(folder) / ("walk.npz" if npz else "walk.csv")
            mutated = _mutated_cells(table, rng).encode() if number % 3 == 0 else damaged(table.encode(), rng)
            path.write_bytes(damaged(archive.getvalue(), rng) if npz else mutated)
            gaps = ("keep", "fill", "split")[int(rng.integers(3))]
            try:
                read_tables(path, state="x", observation="y", time="t", gaps=gaps)
            except ValueError:
                refused += 1
                endured.count()
            except Exception as error:
                endured.count(f"{type(error).__name__}: {error}")
            else:
                endured.count()
    endured.measured = f"{refused} refused, {count - refused} read"
    return endured


def damaged(whole: bytes, rng: np.random.Generator) -> bytes:
    """Return bytes after one of the accidents that happen to files.

    Examples
    --------
    >>> damaged(bytes(range(200)), np.random.default_rng(0)) == bytes(range(200))
    False
    """
    data = bytearray(whole)
    start, size = int(rng.integers(len(data))), int(rng.integers(1, 600))
    match rng.integers(5):
        case 0:  # bits flip
            for place in rng.integers(len(data), size=rng.integers(1, 4)):
                data[place] ^= 1 << int(rng.integers(8))
        case 1:  # the end is missing
            del data[start:]
        case 2:  # a block is lost
            del data[start : start + size]
        case 3:  # a block is zero
            data[start : start + size] = bytes(len(data[start : start + size]))
        case _:  # something is added
            data[start:start] = rng.bytes(size)
    return bytes(data)


def _saved(path: Path) -> bytes:
    fitted(0, n=25).save(path)
    return path.read_bytes()


def _loading(path: Path) -> str:
    """Load a file and ask what it holds: "" if that works, "refused", or what else happened."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RefittedWarning)  # a file may claim another layout
            repr(kmcf.load(path, transition=MODEL.transition, initial=MODEL.initial))
    except (FileError, PassedAgainError):
        return "refused"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _sealed(data: bytes) -> bytes:
    """Put the right checksum at the end, as someone who means harm can."""
    body = data[: max(len(data) - SEAL_LENGTH, 0)]
    return body + f"kmcf-format {FORMAT:06d} sha256 {hashlib.sha256(body).hexdigest()}".encode()


def _changed_manifest(whole: bytes, rng: np.random.Generator) -> bytes:
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(members[MANIFEST])
    manifest["root"] = _mangled(manifest["root"], rng)
    members[MANIFEST] = json.dumps(manifest).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
        archive.comment = b" " * SEAL_LENGTH
    return _sealed(buffer.getvalue())


def _mangled(node: Any, rng: np.random.Generator) -> Any:
    """Replace some part of a JSON tree by something else."""
    if isinstance(node, dict) and node and rng.random() < 0.9:
        key = list(node)[int(rng.integers(len(node)))]
        return {**node, key: _mangled(node[key], rng)}
    if isinstance(node, list) and node and rng.random() < 0.9:
        place = int(rng.integers(len(node)))
        return [*node[:place], _mangled(node[place], rng), *node[place + 1 :]]
    return JUNK[int(rng.integers(len(JUNK)))]


def _mutated_cells(table: str, rng: np.random.Generator) -> str:
    """Replace some cells by odd words, double or drop rows, or change the header."""
    rows = [line.split(",") for line in table.splitlines()]
    for _ in range(int(rng.integers(1, 4))):
        row = int(rng.integers(len(rows)))
        match rng.integers(3):
            case 0:
                rows[row][int(rng.integers(len(rows[row])))] = CELLS[int(rng.integers(len(CELLS)))]
            case 1:
                rows.insert(row, list(rows[row]))
            case _:
                rows[row] = rows[row][: int(rng.integers(1, 4))]
    return "\n".join(",".join(row) for row in rows) + "\n"
