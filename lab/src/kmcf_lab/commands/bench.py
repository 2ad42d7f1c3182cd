"""``kmcf bench``: how fast, how exact."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from kmcf_lab.commands import bench_defaults, bench_engines, bench_kernels, bench_methods
from kmcf_lab.commands.bench_adaptation import adaptation, transitions
from kmcf_lab.commands.bench_alarms import alarms
from kmcf_lab.commands.bench_endurance import endurance
from kmcf_lab.commands.bench_jax import jax
from kmcf_lab.commands.bench_options import BenchOptions
from kmcf_lab.commands.bench_serve import serve
from kmcf_lab.commands.bench_smoothing import smoothing
from kmcf_lab.commands.bench_windows import windows


class Study(StrEnum):
    """What to measure."""

    engines = "engines"
    curve = "curve"
    fit = "fit"
    defaults = "defaults"
    ranks = "ranks"
    kernels = "kernels"
    rooms = "rooms"
    speeds = "speeds"
    intervals = "intervals"
    calibration = "calibration"
    alarms = "alarms"
    adaptation = "adaptation"
    transitions = "transitions"
    kidnapping = "kidnapping"
    tolerance = "tolerance"
    tuning = "tuning"
    world = "world"
    distributed = "distributed"
    baselines = "baselines"
    peers = "peers"
    smoothing = "smoothing"
    windows = "windows"
    jax = "jax"
    endurance = "endurance"
    serve = "serve"


_STUDIES: dict[Study, Callable[[Console, BenchOptions], None]] = {
    Study.engines: bench_engines.engines,
    Study.curve: bench_engines.curve,
    Study.fit: bench_engines.fit,
    Study.defaults: bench_defaults.defaults,
    Study.ranks: bench_engines.ranks,
    Study.tolerance: bench_engines.tolerance,
    Study.kernels: bench_kernels.kernels,
    Study.rooms: bench_kernels.rooms,
    Study.speeds: bench_kernels.speeds,
    Study.world: bench_engines.world,
    Study.distributed: bench_engines.distributed,
    Study.baselines: bench_methods.baselines,
    Study.peers: bench_methods.peers,
    Study.intervals: bench_methods.intervals,
    Study.calibration: bench_methods.calibration,
    Study.alarms: alarms,
    Study.adaptation: adaptation,
    Study.transitions: transitions,
    Study.kidnapping: bench_methods.kidnapping,
    Study.tuning: bench_methods.tuning,
    Study.smoothing: smoothing,
    Study.windows: windows,
    Study.jax: jax,
    Study.endurance: endurance,
    Study.serve: serve,
}
_HELP = (
    "engines: time per step and difference to the literal formulas over n. "
    "curve: the same over tolerance and rank, for ten-dimensional observations. "
    "fit: memory and time for very many examples. "
    "defaults: what an untuned filter costs and errs on ten to 31 columns. "
    "ranks: error at low rank on the paper's eight models. "
    "kernels: untuned errors with plain and learnt observation kernels on the paper's models. "
    "rooms: the same on recorded and simulated signal strengths, and with poorly covered states. "
    "speeds: time per kernel matrix. "
    "intervals: how often 95 % intervals contain the truth. "
    "calibration: the same before and after calibrate, with widths and rank histograms, beside other methods. "
    "alarms: what they notice, and how often they are false. "
    "adaptation: sensors that have changed: what is noticed, and what adapting repairs. "
    "transitions: their parameters learnt from observations alone. "
    "kidnapping: how soon a filter finds itself again after a jump that no move explains. "
    "tolerance: how posterior means change with it. "
    "tuning: what tuning costs and what it gains. "
    "world: very many examples in a world far larger than what the state kernel sees. "
    "distributed: fits on Dask chunks over numbers of examples and workers. "
    "baselines: errors of all methods on the paper's models. "
    "peers: other packages, where they are installed, on the same data. "
    "smoothing: what later observations gain, beside oracles that know the model. "
    "windows: the last observations as one, on the Bluetooth tracks, with the intervals. "
    "jax: filter steps per second over batch sizes, on the device that JAX finds. "
    "endurance: very long runs, threads, processes, kills, interrupts, damaged files and mutated tables. "
    "serve: kmcf serve under load from many clients, its memory, a kill and a restart (--batch: observations/s)."
)


class EngineFamily(StrEnum):
    """Which array library computes."""

    numpy = "numpy"
    jax = "jax"


def bench(
    study: Annotated[Study, typer.Argument(help=_HELP)] = Study.engines,
    n: Annotated[list[int] | None, typer.Option("--n", min=20, help="Number of examples; repeat for several.")] = None,
    model: Annotated[list[str] | None, typer.Option(help="Model of the paper (1a to 4b); repeat for several.")] = None,
    steps: Annotated[int | None, typer.Option(min=5, help="Steps measured per size.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for the table (JSON) and the figure.")] = Path("bench"),
    learnt: Annotated[bool, typer.Option("--learnt", help="engines, curve: use a learnt observation kernel.")] = False,
    trials: Annotated[int, typer.Option(min=0, help="baselines: trials for tuning every method; 0: untuned.")] = 0,
    engine: Annotated[
        EngineFamily, typer.Option(help="engines: which library computes; jax is the study of that name.")
    ] = EngineFamily.numpy,
    batch: Annotated[list[int] | None, typer.Option(min=1, help="jax: batch size; repeat for several.")] = None,
    path: Annotated[
        Path | None,
        typer.Option(help="kidnapping, transitions: the folder of one MRCLAM data set, to measure on it, too."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A version that takes about a minute.")] = False,
) -> None:
    """Measure time per step and accuracy, interleaved in one run on one thread; print and save a table and a figure."""
    console = Console()
    console.print(f"[dim]measuring: {study}[/dim]")
    if study is Study.engines and engine is EngineFamily.jax:
        study = Study.jax
    _STUDIES[study](console, BenchOptions(n, model, steps, out, learnt, trials, batch, quick, path))
