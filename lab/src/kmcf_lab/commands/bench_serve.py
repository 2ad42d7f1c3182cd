"""``kmcf bench serve``: the service under load."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from rich.console import Console

from kmcf.cli.showing import command_line
from kmcf_lab.commands.bench_options import BenchOptions
from kmcf_lab.commands.printing import new_table

WORDS = {
    "sent": "observations sent",
    "answered": "answered",
    "refused": "refused",
    "out_of_order": "answered out of order",
    "seconds": "seconds from the first to the last answer",
    "per_second": "answers per second",
    "server_ms": "processor time of the server per observation (ms)",
    "clients_ms": "processor time of the clients per observation (ms)",
    "p50_ms": "latency, median (ms)",
    "p90_ms": "latency, 90 % (ms)",
    "p99_ms": "latency, 99 % (ms)",
    "p100_ms": "latency, largest (ms)",
    "memory_observations": "observations in all",
    "memory_mb": "memory after every tenth of the further ones (MB)",
    "acknowledged_before_kill": "acknowledged before SIGKILL",
    "lost_by_kill": "of these lost",
    "kept_unacknowledged": "kept, though not yet acknowledged",
    "restart_seconds": "seconds to restart",
    "out_of_order_after_restart": "out of order after the restart",
    "load_average": "load of the machine (1, 5, 15 min)",
}


def serve(console: Console, options: BenchOptions) -> None:
    """Put a server under load, watch its memory, kill it; print and save what was measured."""
    from kmcf.support.atomic import write_atomically
    from kmcf.support.plain_json import write_json
    from kmcf_lab.bench.serve import ServeSizes, measure_serve
    from kmcf_lab.versions import versions

    sizes = ServeSizes.quick() if options.quick else ServeSizes()
    if options.n:
        sizes = replace(sizes, examples=options.n[0])
    if options.steps is not None:
        sizes = replace(sizes, total=options.steps)
    if options.batch:
        sizes = replace(sizes, rate=float(options.batch[0]))
    rows = measure_serve(sizes, report=console.print)
    table = new_table("kmcf serve", ("what", "measured"))
    for name, words in WORDS.items():
        table.add_row(words, _shown(rows[name]))
    console.print(table)
    data = options.out / "bench_serve.json"
    write_json(data, {"command": command_line(), **versions(), "sizes": asdict(sizes), "measured": rows})
    page = write_atomically(options.out / "report.md", as_markdown(rows, asdict(sizes), command_line()))
    for path in (data, page):
        console.print(f"saved {path}", soft_wrap=True)


def as_markdown(rows: dict[str, Any], sizes: dict[str, Any], command: str) -> str:
    """Return a page with the table."""
    lines = [
        "# The service under load",
        "",
        f"    {command}",
        "",
        f"Model 1a with {sizes['examples']} examples, calibrated; `kmcf serve --state DIR` with {sizes['processes']}",
        "processes that filter, so every observation is on disk before its answer.",
        f"{sizes['clients']} clients over WebSockets, each with an object of its own, send {sizes['rate']:g}",
        f"observations per second together for {sizes['seconds']:g} s, each when it is due, whether or not those",
        "before have been answered. Latency counts from the moment an observation was due. Clients and server share",
        "the machine. Memory is that of all processes of the server added up; pages that they share count several",
        "times.",
        "",
        "| what | measured |",
        "|---|---|",
    ]
    lines += [f"| {words} | {_shown(rows[name])} |" for name, words in WORDS.items()]
    return "\n".join(lines) + "\n"


def _shown(value: Any) -> str:
    return ", ".join(f"{one:g}" for one in value) if isinstance(value, list) else f"{value}"
