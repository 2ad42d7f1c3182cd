"""``kmcf serve`` under load: many clients at once, very many observations, a kill and a restart."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kmcf_lab.bench.serve_process import ServerProcess, model_file, processor_seconds, resident_megabytes

AT_ONCE = 1e6
"""Observations per second, for clients that send as fast as they can."""
PATIENCE = 600.0
"""Seconds that clients wait for the last answers."""


@dataclass(frozen=True)
class ServeSizes:
    """How much of everything."""

    clients: int = 50
    rate: float = 1000.0
    """Observations per second, of all clients together."""
    seconds: float = 60.0
    total: int = 100_000
    """Observations after which memory is compared with that after a tenth of them."""
    examples: int = 1000
    processes: int = 2

    @classmethod
    def quick(cls) -> ServeSizes:
        """Return sizes that take some seconds."""
        return cls(clients=8, rate=100.0, seconds=2.0, total=600, examples=100, processes=1)


@dataclass
class Client:
    """One client with an object of its own: what it sent, and what it was told."""

    name: str
    answered_before: int = 0
    """Steps made in an earlier connection."""
    sent: int = 0
    answered: int = 0
    out_of_order: int = 0
    refused: int = 0
    waits: list[float] = field(default_factory=list)
    """Seconds from the moment an observation was due to its answer."""

    async def run(self, url: str, observations: Any, interval: float, late: float) -> None:
        """Send observations, each when it is due, whether or not those before have been answered."""
        from websockets.asyncio.client import connect

        due: dict[int, float] = {}
        async with connect(url, compression=None, max_queue=None, ping_interval=None) as socket:
            reading = asyncio.create_task(self._read(socket, due, len(observations)))
            start = time.perf_counter() + late
            try:
                for number, y in enumerate(observations):
                    at = start + number * interval
                    if (ahead := at - time.perf_counter()) > 0:
                        await asyncio.sleep(ahead)
                    step = self.answered_before + number + 1
                    due[step] = at
                    await socket.send(json.dumps({"object": self.name, "observation": [y], "step": step}))
                    self.sent += 1
                await asyncio.wait_for(reading, PATIENCE)
            finally:
                reading.cancel()
                await asyncio.gather(reading, return_exceptions=True)

    async def _read(self, socket: Any, due: dict[int, float], count: int) -> None:
        expected = self.answered_before + 1
        for _ in range(count):
            told = json.loads(await socket.recv())
            if "error" in told:
                self.refused += 1
                continue
            self.out_of_order += told["step"] != expected
            expected = told["step"] + 1
            self.answered += 1
            self.waits.append(time.perf_counter() - due[told["step"]])


async def load(port: int, clients: list[Client], each: int, rate: float, seed: int) -> float:
    """Let all clients send ``each`` observations at a rate; return how many seconds it took."""
    observations = 2.0 * np.random.default_rng(seed).normal(size=(len(clients), each))
    url, interval = f"ws://127.0.0.1:{port}/v1/stream", len(clients) / rate
    began = time.perf_counter()
    runs = [
        client.run(url, rows.tolist(), interval, interval * k / len(clients))
        for k, (client, rows) in enumerate(zip(clients, observations, strict=True))
    ]
    await asyncio.gather(*runs)
    return time.perf_counter() - began


def measure_serve(sizes: ServeSizes, report: Callable[[str], None] = print) -> dict[str, Any]:
    """Measure everything; return the numbers by name.

    Parameters
    ----------
    sizes : ServeSizes
        How much.
    report : callable
        Gets a line before each part.
    """
    with tempfile.TemporaryDirectory(prefix="serve-") as folder:
        model = model_file(Path(folder) / "model.kmcf", sizes.examples)
        state = Path(folder) / "state"
        with ServerProcess(model, state, sizes.processes) as server:
            report(f"{sizes.rate:g} observations/s from {sizes.clients} clients for {sizes.seconds:g} s")
            rows = _under_load(server, sizes)
            report(f"memory up to {sizes.total} observations")
            rows |= _memory(server, sizes, rows["answered"])
        report("kill and restart")
        rows |= _killed(model, Path(folder) / "killed", sizes)
    return {"load_average": [round(value, 1) for value in os.getloadavg()], **rows}


def _under_load(server: ServerProcess, sizes: ServeSizes) -> dict[str, Any]:
    clients = [Client(f"client-{k}") for k in range(sizes.clients)]
    each = int(sizes.rate * sizes.seconds / sizes.clients)
    before, mine = processor_seconds(server.process.pid), time.process_time()
    took = asyncio.run(load(server.port, clients, each, sizes.rate, seed=1))
    used, mine = processor_seconds(server.process.pid) - before, time.process_time() - mine
    waits = 1e3 * np.concatenate([client.waits for client in clients])
    answered = sum(client.answered for client in clients)
    return {
        "sent": sum(client.sent for client in clients),
        "answered": answered,
        "refused": sum(client.refused for client in clients),
        "out_of_order": sum(client.out_of_order for client in clients),
        "seconds": round(took, 1),
        "per_second": round(answered / took),
        "server_ms": round(1e3 * used / max(answered, 1), 2),
        "clients_ms": round(1e3 * mine / max(answered, 1), 2),
        **{f"p{level:g}_ms": round(float(np.percentile(waits, level)), 1) for level in (50, 90, 99, 100)},
    }


def _memory(server: ServerProcess, sizes: ServeSizes, made: int) -> dict[str, Any]:
    """Go on as fast as answers come, looking at the server's memory at every tenth."""
    sizes_seen = []
    clients = [Client(f"memory-{k}") for k in range(sizes.clients)]
    part = max(1, sizes.total // (10 * sizes.clients))
    for tenth in range(10):
        asyncio.run(load(server.port, clients, part, AT_ONCE, seed=tenth))
        for client in clients:
            client.answered_before = client.answered
        sizes_seen.append(round(resident_megabytes(server.process.pid), 1))
    observations = sum(client.answered for client in clients)
    return {"memory_observations": observations + made, "memory_mb": sizes_seen}


def _killed(model: Path, state: Path, sizes: ServeSizes) -> dict[str, Any]:
    """Kill the server while clients send, restart it, and go on."""
    clients = [Client(f"killed-{k}") for k in range(sizes.clients)]
    with ServerProcess(model, state, sizes.processes) as server:

        async def until_killed() -> None:
            running = asyncio.create_task(load(server.port, clients, 10_000, sizes.rate, seed=3))
            await asyncio.sleep(min(5.0, sizes.seconds))
            server.kill(signal.SIGKILL)
            await asyncio.gather(running, return_exceptions=True)
            await asyncio.sleep(0.5)

        asyncio.run(until_killed())
    acknowledged = {client.name: client.answered for client in clients}
    began = time.perf_counter()
    with ServerProcess(model, state, sizes.processes) as server:
        took = time.perf_counter() - began
        kept = {name: server.steps(name) for name in acknowledged}
        lost = sum(max(0, acknowledged[name] - kept[name]) for name in acknowledged)
        again = [Client(name, answered_before=kept[name]) for name in acknowledged]
        asyncio.run(load(server.port, again, 20, sizes.rate, seed=4))
    return {
        "acknowledged_before_kill": sum(acknowledged.values()),
        "lost_by_kill": lost,
        "kept_unacknowledged": sum(kept.values()) - sum(acknowledged.values()) + lost,
        "restart_seconds": round(took, 1),
        "out_of_order_after_restart": sum(client.out_of_order for client in again),
    }
