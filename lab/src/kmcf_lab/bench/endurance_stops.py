"""Programs that are killed, or interrupted by Ctrl-C, at any moment."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import kmcf
from kmcf_lab.bench.endurance_cases import MODEL, Endured, fitted
from kmcf_lab.quiet import quiet

STOPPED = 130
PATIENCE = 20.0
"""Seconds after which a program that was interrupted must have stopped."""
WITHOUT_END = 10**6
FORKS = "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"


def killed_saves(kills: int) -> Endured:
    """Kill programs that save two models in turn to one file; it must hold one of them, whole."""
    endured, rng = Endured(), np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.kmcf"
        fitted(0).save(path)
        drafts = 0
        for number in range(kills):
            _stopped(_save_for_ever, (path,), signal.SIGKILL, rng.uniform(0.001, 0.06))
            drafts += len(list(Path(folder).glob(".*.part")))
            endured.count(_whole(path, number))
        fitted(0).save(path)
        left = len(list(Path(folder).glob(".*.part")))
        endured.measured = f"{drafts} drafts seen after kills, {left} left by the next save"
        if left:
            endured.failures.append(f"{left} drafts were not cleaned up")
    return endured


def stopped_studies(stops: int) -> Endured:
    """Kill and interrupt a study in turn, and compare its trials with those of a study that nobody stopped."""
    endured, rng = Endured(), np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.jsonl"
        for number in range(stops):
            stop = signal.SIGKILL if number % 2 else signal.SIGINT
            code = _stopped(_tune_for_ever, (path,), stop, rng.uniform(0.01, 0.5))
            problem = "" if stop == signal.SIGKILL or code == STOPPED else f"Ctrl-C ended the program with code {code}"
            endured.count(problem or _unreadable(path))
        lines = path.read_text().splitlines() if path.exists() else []
        kept = [json.loads(line) for line in lines[1:] if line.endswith("}")]
        whole = _tune(len(kept), None).trials if kept else ()
        wrong = [t["number"] for t, other in zip(kept, whole, strict=True) if not _same(t, other)]
        endured.failures += [f"trial {number} differs from that of an uninterrupted study" for number in wrong]
        endured.measured = f"{len(kept)} trials kept, {len(wrong)} different from an uninterrupted study"
    return endured


def interrupted_runs(interrupts: int) -> Endured:
    """Interrupt programs that filter; they must stop as interrupted, whatever they were doing."""
    endured, rng, slowest = Endured(), np.random.default_rng(2), 0.0
    for _ in range(interrupts):
        wait = rng.uniform(0.001, 0.1)
        began = time.perf_counter()
        code = _stopped(_filter_for_ever, (), signal.SIGINT, wait)
        slowest = max(slowest, time.perf_counter() - began - wait)
        endured.count("" if code == STOPPED else f"the program ended with code {code}")
    endured.measured = f"stopped after at most {slowest:.2f} s, start included"
    return endured


def _stopped(work: Callable[..., None], given: tuple[Any, ...], stop: signal.Signals, wait: float) -> int | None:
    """Start a program, send it a signal after a while, and return its exit code."""
    context: Any = multiprocessing.get_context(FORKS)
    started = context.Event()
    program = context.Process(target=_program, args=(work, given, started))
    program.start()
    started.wait(PATIENCE)
    time.sleep(wait)
    if program.pid is not None and program.is_alive():
        os.kill(program.pid, stop)
    program.join(PATIENCE)
    if program.exitcode is None:
        program.kill()
        program.join()
        return None
    return int(program.exitcode)


def _program(work: Callable[..., None], given: tuple[Any, ...], started: Any) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        started.set()
        with quiet():
            work(*given)
    except KeyboardInterrupt:
        os._exit(STOPPED)
    except BaseException:
        os._exit(1)
    os._exit(0)


def _save_for_ever(path: Path) -> None:
    while True:
        for seed in (0, 1):
            fitted(seed).save(path)


def _filter_for_ever() -> None:
    observations = MODEL.simulate(50, random_state=3).observations
    while True:
        fitted().filter(observations)


def _tune_for_ever(path: Path) -> None:
    _tune(WITHOUT_END, path)


def _tune(trials: int, path: Path | None) -> kmcf.TuningResult:
    data = MODEL.simulate(40, random_state=0)
    flt = kmcf.KernelMonteCarloFilter(MODEL.transition, initial=MODEL.initial, n_particles=40)
    return kmcf.tune(flt, data.states, data.observations, n_trials=trials, random_state=0, study=path)


def _whole(path: Path, number: int) -> str:
    try:
        seed = kmcf.load(path, transition=MODEL.transition, initial=MODEL.initial).seed_
    except (kmcf.store.FileError, kmcf.store.PassedAgainError, OSError) as error:
        return f"after kill {number + 1}: {error}"
    return "" if seed in (0, 1) else f"after kill {number + 1}: a file with the seed {seed}"


def _unreadable(path: Path) -> str:
    """Say what is wrong with the whole lines of a study file; the last one may be cut short."""
    if not path.exists():
        return ""
    for number, line in enumerate(path.read_text().split("\n")[:-1]):
        try:
            trial = json.loads(line)
        except ValueError:
            return f"line {number + 1} is not whole"
        if number and (trial["number"] != number - 1 or trial["status"] == "failed"):
            return f"line {number + 1} holds trial {trial['number']}, {trial['status']}"
    return ""


def _same(kept: dict[str, Any], trial: Any) -> bool:
    value = trial.value if np.isfinite(trial.value) else None
    return bool(kept["number"] == trial.number and kept["status"] == trial.status and kept["value"] == value)
