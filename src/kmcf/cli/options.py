"""The words that several commands understand."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

DATA, MOTION, MODEL, OUTPUT = "Data", "Motion", "Filter", "Output"
_SEVERAL = "Repeat it, separate names by commas, or use a pattern: 'rssi_*'."


class Gaps(StrEnum):
    """What to do where time advances by more than one step."""

    KEEP = "keep"
    SPLIT = "split"
    FILL = "fill"
    ERROR = "error"


class Rule(StrEnum):
    """Rules of inference."""

    kbr = "kbr"
    importance = "importance"


class Engine(StrEnum):
    """How the rule is computed."""

    auto = "auto"
    literal = "literal"
    exact = "exact"
    lowrank = "lowrank"
    compressed = "compressed"


class Resampling(StrEnum):
    """How points are picked from a belief."""

    herding = "herding"
    multinomial = "multinomial"
    none = "none"


class Support(StrEnum):
    """Where beliefs live."""

    examples = "examples"
    particles = "particles"


Files = Annotated[
    list[Path], typer.Argument(metavar="FILES...", help="CSV, Parquet or NPZ files with one row per step.")
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="What kmcf fit or flt.save wrote.")]
State = Annotated[
    list[str], typer.Option("--state", "-s", help=f"Columns of the state. {_SEVERAL}", rich_help_panel=DATA)
]
Observation = Annotated[
    list[str], typer.Option("--observation", "-y", help=f"Columns of the observation. {_SEVERAL}", rich_help_panel=DATA)
]
OtherState = Annotated[
    list[str] | None,
    typer.Option("--state", "-s", help="Columns of the state, if not those of the model.", rich_help_panel=DATA),
]
OtherObservation = Annotated[
    list[str] | None,
    typer.Option(
        "--observation", "-y", help="Columns of the observation, if not those of the model.", rich_help_panel=DATA
    ),
]
Control = Annotated[
    list[str] | None,
    typer.Option("--control", "-u", help="Columns of what drove the move to this row.", rich_help_panel=DATA),
]
Time = Annotated[
    str | None,
    typer.Option("--time", "-t", help="Column of the time: numbers or dates, increasing.", rich_help_panel=DATA),
]
Sequence = Annotated[
    str | None,
    typer.Option(
        "--sequence", "--group", help="Column that says which sequence a row belongs to.", rich_help_panel=DATA
    ),
]
Angle = Annotated[
    list[str] | None,
    typer.Option("--angle", help="State columns that are angles in radians.", rich_help_panel=DATA),
]
Encoding = Annotated[str, typer.Option("--encoding", help="Of CSV files.", rich_help_panel=DATA)]
GapsOption = Annotated[
    Gaps,
    typer.Option(
        "--gaps",
        help="Where time advances by more than 1.5 steps: keep the rows as they are, split the sequence, fill in rows "
        "without observation, or stop with an error.",
        rich_help_panel=DATA,
    ),
]

Transition = Annotated[
    str,
    typer.Option(
        "--transition",
        help="How states move, learnt from the sequences: random-walk, constant-velocity, linear-gaussian, odometry, "
        "velocity or jump.",
        rich_help_panel=MOTION,
    ),
]
TransitionSet = Annotated[
    list[str] | None,
    typer.Option(
        "--transition-set",
        metavar="NAME=VALUE",
        help="Fix a parameter of the transition instead of learning it.",
        rich_help_panel=MOTION,
    ),
]
Trim = Annotated[
    float,
    typer.Option("--trim", min=0.0, max=0.49, help="Share of moves to ignore as outliers.", rich_help_panel=MOTION),
]
Recovery = Annotated[
    float | None,
    typer.Option(
        "--recovery",
        min=0.0,
        max=1.0,
        help="Probability per step of a jump to any example state, so that a lost filter recovers.",
        rich_help_panel=MOTION,
    ),
]

_KERNELS = "gaussian, laplace, matern, linear, asinh, learnt, ..., with parameters as in matern:nu=2.5,multiplier=0.7."
StateKernel = Annotated[
    str | None,
    typer.Option("--state-kernel", metavar="NAME", help=f"Similarity of states: {_KERNELS}", rich_help_panel=MODEL),
]
ObservationKernel = Annotated[
    str | None,
    typer.Option(
        "--observation-kernel", metavar="NAME", help=f"Similarity of observations: {_KERNELS}", rich_help_panel=MODEL
    ),
]
Epsilon = Annotated[float | None, typer.Option("--epsilon", help="Regulariser of the prior.", rich_help_panel=MODEL)]
Delta = Annotated[float | None, typer.Option("--delta", help="Regulariser of the correction.", rich_help_panel=MODEL)]
RuleOption = Annotated[
    Rule | None, typer.Option("--rule", help="Kernel Bayes' rule, or importance weighted.", rich_help_panel=MODEL)
]
EngineOption = Annotated[
    Engine | None, typer.Option("--engine", help="How the rule is computed.", rich_help_panel=MODEL)
]
Tolerance = Annotated[
    str | None, typer.Option("--tolerance", help="Of low-rank factors: a number, or auto.", rich_help_panel=MODEL)
]
Rank = Annotated[int | None, typer.Option("--rank", min=1, help="Fixed rank of the factors.", rich_help_panel=MODEL)]
ResamplingOption = Annotated[
    Resampling | None, typer.Option("--resampling", help="How points are resampled.", rich_help_panel=MODEL)
]
NResample = Annotated[
    int | None, typer.Option("--n-resample", min=1, help="Points kept when resampling.", rich_help_panel=MODEL)
]
ResampleThreshold = Annotated[
    float | None,
    typer.Option("--resample-threshold", help="Resample when Σw² exceeds this over n.", rich_help_panel=MODEL),
]
NParticles = Annotated[int | None, typer.Option("--n-particles", min=1, help="Particles.", rich_help_panel=MODEL)]
SupportOption = Annotated[Support | None, typer.Option("--support", help="Where beliefs live.", rich_help_panel=MODEL)]
Background = Annotated[
    float | None,
    typer.Option("--background", min=0.0, help="Worth of any observation at any state.", rich_help_panel=MODEL),
]
NExamples = Annotated[
    int | None,
    typer.Option("--n-examples", min=2, help="Keep only so many representative examples.", rich_help_panel=MODEL),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same result.", rich_help_panel=MODEL)]

Json = Annotated[
    bool, typer.Option("--json", help="Print the result as JSON and nothing else.", rich_help_panel=OUTPUT)
]
Python = Annotated[
    bool,
    typer.Option("--python", help="Print a Python script that does the same; run nothing.", rich_help_panel=OUTPUT),
]
