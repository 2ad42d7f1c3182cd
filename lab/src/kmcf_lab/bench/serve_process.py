"""The server process that is put under load, and its memory."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Self

import kmcf


def model_file(path: Path, examples: int) -> Path:
    """Fit model 1a, calibrate it, and save it."""
    train = kmcf.datasets.paper_model("1a").simulate(examples, random_state=0)
    transition = kmcf.transitions.LinearGaussian().fit([train.states])
    flt = kmcf.KernelMonteCarloFilter(transition, random_state=0).fit(train.states, train.observations)
    flt.calibrate(train.states, train.observations)
    flt.save(path)
    return path


class ServerProcess:
    """``kmcf serve`` in a process of its own; use it in a ``with`` block.

    Parameters
    ----------
    model : Path
        What is served.
    state : Path
        Folder for the state.
    processes : int
        How many share the objects.
    """

    def __init__(self, model: Path, state: Path, processes: int) -> None:
        words = ["serve", str(model), "--port", "0", "--state", str(state), "--processes", str(processes)]
        single = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "kmcf", *words], stderr=subprocess.PIPE, env={**os.environ, **single}
        )
        assert self.process.stderr is not None
        line = self.process.stderr.readline().decode()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
        if found is None:
            raise RuntimeError(f"the server did not start: {line}{self.process.stderr.read().decode()}")
        self.port = int(found[1])

    def steps(self, name: str) -> int:
        """Return how many steps an object has made; 0 if it is not tracked."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/v1/objects/{name}") as answer:
                return int(json.load(answer)["step"])
        except urllib.error.HTTPError:
            return 0

    def kill(self, number: signal.Signals) -> None:
        """Send a signal to the server and the processes that it started."""
        for pid in (*children_of(self.process.pid), self.process.pid):
            os.kill(pid, number)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        assert self.process.stderr is not None
        self.process.stderr.read()
        self.process.stderr.close()
        self.process.wait(60)


def children_of(pid: int) -> list[int]:
    """Return the processes that a process started (on Linux)."""
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def processor_seconds(pid: int) -> float:
    """Return the processor time that a process and those it started have used (on Linux)."""
    total = 0.0
    for one in (pid, *children_of(pid)):
        words = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        total += (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
    return total


def resident_megabytes(pid: int) -> float:
    """Return the memory that a process and those it started hold (on Linux)."""
    total = 0
    for one in (pid, *children_of(pid)):
        found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{one}/status").read_text())
        total += int(found[1]) if found else 0
    return total / 1024.0
