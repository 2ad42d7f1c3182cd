"""The options that several commands share, each defined once.

A dataclass here is a group of options: a command takes it as one parameter, and ``option_groups.py`` makes its fields
options of the command. A new setting of the filter is a new field of :class:`FilterOptions`, and thereby an option of
``kmcf fit`` and ``kmcf tune``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from kmcf.cli.option_words import (
    EngineName,
    GapTreatment,
    ResamplingName,
    RuleName,
    SupportName,
    read_floor,
    read_n_examples,
    read_rank,
    read_threshold,
    read_tolerance,
)

DATA, MOTION, MODEL, OUTPUT = "Data", "Motion", "Filter", "Output"
_SEVERAL = "Repeat it, separate names by commas, or use a pattern: 'rssi_*'."
_KERNELS = "gaussian, laplace, matern, linear, asinh, learnt, ..., with parameters as in matern:nu=2.5."


FilesArgument = Annotated[
    list[Path], typer.Argument(metavar="FILES...", help="CSV, Parquet, NPZ or Excel files with one row per step.")
]
ModelArgument = Annotated[Path, typer.Argument(metavar="MODEL", help="What kmcf fit or flt.save wrote.")]
StateOption = Annotated[
    list[str], typer.Option("--state", "-s", help=f"Columns of the state. {_SEVERAL}", rich_help_panel=DATA)
]
ObservationOption = Annotated[
    list[str] | None,
    typer.Option("--observation", "-y", help=f"Columns of the observation. {_SEVERAL}", rich_help_panel=DATA),
]
SensorOption = Annotated[
    list[str] | None,
    typer.Option(
        "--sensor",
        metavar="NAME=COLUMNS",
        help="Columns of one of several sensors, as in wifi='rssi_*', instead of --observation. Repeat it for each.",
        rich_help_panel=DATA,
    ),
]
OtherStateOption = Annotated[
    list[str] | None,
    typer.Option("--state", "-s", help="Columns of the state, if not those of the model.", rich_help_panel=DATA),
]
OtherObservationOption = Annotated[
    list[str] | None,
    typer.Option(
        "--observation", "-y", help="Columns of the observation, if not those of the model.", rich_help_panel=DATA
    ),
]
ExcludedOption = Annotated[
    list[str] | None,
    typer.Option(
        "--not",
        metavar="COLUMNS",
        help="Columns that a pattern of -y or -u matches but is not to.",
        rich_help_panel=DATA,
    ),
]
ControlOption = Annotated[
    list[str] | None,
    typer.Option("--control", "-u", help="Columns of what drove the move to this row.", rich_help_panel=DATA),
]
TimeOption = Annotated[
    str | None,
    typer.Option(
        "--time",
        "-t",
        help="Column of the time: numbers or dates, increasing. States move by as much as time passes.",
        rich_help_panel=DATA,
    ),
]
SequenceOption = Annotated[
    str | None,
    typer.Option(
        "--sequence", "--group", help="Column that says which sequence a row belongs to.", rich_help_panel=DATA
    ),
]
EncodingOption = Annotated[str, typer.Option("--encoding", help="Encoding of CSV files.", rich_help_panel=DATA)]
GapsOption = Annotated[
    GapTreatment,
    typer.Option(
        "--gaps",
        help="Where time advances by more than 1.5 steps: keep the rows (one long move), split the sequence, fill in "
        "rows without observation, or stop with an error.",
        rich_help_panel=DATA,
    ),
]
WindowOption = Annotated[
    str | None,
    typer.Option(
        "--window",
        metavar="K",
        help="Take the last K observations as one, or those of the last seconds: 3, 5s. Where there are fewer, what is "
        "there is used; 3:repeat repeats it, which is quicker. kmcf tune chooses among several: 1,3,5.",
        rich_help_panel=DATA,
    ),
]
SeedOption = Annotated[
    int, typer.Option("--seed", min=0, help="The same seed gives the same result.", rich_help_panel=MODEL)
]
CalibrateOption = Annotated[
    bool,
    typer.Option(
        "--calibrate",
        help="Make 95 % intervals hold 95 %, measured on rows that are left out in turn; takes five to ten more fits.",
        rich_help_panel=MODEL,
    ),
]
SmoothOption = Annotated[
    bool, typer.Option("--smooth", help="Use the observations after each row, too; needs the whole file.")
]
LagOption = Annotated[
    int | None, typer.Option("--lag", min=0, help="Use so many rows after each; with - estimates come so much later.")
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print the result as JSON and nothing else.", rich_help_panel=OUTPUT)
]
PythonOption = Annotated[
    bool,
    typer.Option("--python", help="Print the Python script that this runs; run nothing.", rich_help_panel=OUTPUT),
]


def _setting(text: str, **settings: Any) -> Any:
    return typer.Option(help=text, rich_help_panel=MODEL, **settings)


@dataclass(frozen=True)
class ExampleOptions:
    """Files of examples, and what their columns are."""

    files: FilesArgument
    state: StateOption
    observation: ObservationOption = None
    sensor: SensorOption = None
    excluded: ExcludedOption = None
    control: ControlOption = None
    time: TimeOption = None
    sequence: SequenceOption = None
    angle: Annotated[
        list[str] | None,
        typer.Option("--angle", help="State columns that are angles in radians.", rich_help_panel=DATA),
    ] = None
    velocities: Annotated[
        bool,
        typer.Option(
            "--velocities",
            help="Append the velocities of the state columns, derived from them, to the state; the transition "
            "constant-velocity needs velocities.",
            rich_help_panel=DATA,
        ),
    ] = False
    encoding: EncodingOption = "utf-8"
    gaps: GapsOption = GapTreatment.SPLIT
    window: WindowOption = None


@dataclass(frozen=True)
class ColumnOptions:
    """What the columns of files to be filtered are, where they are not those of the model."""

    observation: OtherObservationOption = None
    sensor: SensorOption = None
    excluded: ExcludedOption = None
    control: ControlOption = None
    time: TimeOption = None
    sequence: SequenceOption = None
    encoding: EncodingOption = "utf-8"
    gaps: GapsOption = GapTreatment.KEEP
    window: WindowOption = None


@dataclass(frozen=True)
class TransitionOptions:
    """A built-in transition, and how it is learnt."""

    transition: Annotated[
        str,
        typer.Option(
            "--transition",
            help="How states move, learnt from the sequences: random-walk, constant-velocity, linear-gaussian, "
            "odometry, velocity, recorded-moves or jump.",
            rich_help_panel=MOTION,
        ),
    ] = "random-walk"
    transition_set: Annotated[
        list[str] | None,
        typer.Option(
            "--transition-set",
            metavar="NAME=VALUE",
            help="Fix a parameter of the transition instead of learning it.",
            rich_help_panel=MOTION,
        ),
    ] = None
    trim: Annotated[
        float,
        typer.Option("--trim", min=0.0, max=0.49, help="Share of moves to ignore as outliers.", rich_help_panel=MOTION),
    ] = 0.0
    recovery: Annotated[
        float | None,
        typer.Option(
            "--recovery",
            min=0.0,
            max=1.0,
            help="Probability per step of a jump to any example state, so that a lost filter recovers.",
            rich_help_panel=MOTION,
        ),
    ] = None


READERS: dict[str, Callable[[str], Any]] = {
    "tolerance": read_tolerance,
    "rank": read_rank,
    "resample_threshold": read_threshold,
    "n_examples": read_n_examples,
    "floor": read_floor,
}
"""Settings that are typed as words and become numbers."""


@dataclass(frozen=True)
class FilterOptions:
    """Settings of the filter; those that are not given are the filter's own choice."""

    state_kernel: Annotated[str | None, _setting(f"Similarity of states: {_KERNELS}", metavar="NAME")] = None
    observation_kernel: Annotated[
        str | None,
        _setting(
            f"Similarity of observations: {_KERNELS} With several sensors a and b 'a=asinh;b=learnt' sets both.",
            metavar="NAME",
        ),
    ] = None
    epsilon: Annotated[float | None, _setting("Regulariser of the prior.")] = None
    delta: Annotated[float | None, _setting("Regulariser of the correction.")] = None
    rule: Annotated[RuleName | None, _setting("Kernel Bayes' rule, or its variant with importance weights.")] = None
    engine: Annotated[EngineName | None, _setting("How the rule is computed.")] = None
    tolerance: Annotated[str | None, _setting("Tolerance of low-rank factors: a number, or auto.")] = None
    rank: Annotated[
        str | None,
        _setting(
            "Largest rank of the factors, or the share of the kernel matrices' trace to keep, as in 0.99; 10,none sets "
            "those of states and observations.",
            metavar="RANK",
        ),
    ] = None
    resampling: Annotated[ResamplingName | None, _setting("How points are resampled.")] = None
    n_resample: Annotated[int | None, _setting("Number of points kept when resampling.", min=1)] = None
    resample_threshold: Annotated[
        str | None,
        _setting(
            "Resample when Σw² exceeds this divided by n; bound: when it lowers the bound on the prediction's error.",
            metavar="NUMBER",
        ),
    ] = None
    n_particles: Annotated[int | None, _setting("Number of particles.", min=1)] = None
    support: Annotated[SupportName | None, _setting("Where beliefs live.")] = None
    background: Annotated[
        float | None, _setting("Likelihood of any observation at any state, with --support particles.", min=0.0)
    ] = None
    n_examples: Annotated[
        str | None,
        _setting(
            "Keep only this many representative examples, or, below 1, as many as come so near to all of them.",
            metavar="NUMBER",
        ),
    ] = None
    reject: Annotated[
        bool | None,
        _setting("Keep the prediction where a correction cannot be trusted: the default, but for engine literal."),
    ] = None
    relocate: Annotated[
        bool | None,
        _setting(
            "Look for the state among all examples where two or more observations contradict the prediction; by "
            "default yes, except with the engines literal and local."
        ),
    ] = None
    augment: Annotated[
        bool | None,
        _setting(
            "Make up pairs beside the examples, at their states and a little beyond; by default if posteriors of "
            "left-out examples become better by it."
        ),
    ] = None
    floor: Annotated[
        str | None,
        _setting(
            "What empty cells of the observation stand for: a number, auto, or one of these per column, as in "
            "-100,auto,none; with several sensors also 'a=-100;b=none'.",
            metavar="FLOOR",
        ),
    ] = None

    def given(self) -> dict[str, Any]:
        """Return the settings that were given, as plain values.

        Examples
        --------
        >>> FilterOptions(tolerance="1e-6", rule=RuleName.KBR).given()
        {'rule': 'kbr', 'tolerance': 1e-06}
        """
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        for name, read in READERS.items():
            if found[name] is not None:
                found[name] = read(found[name])
        return {
            name: value.value if isinstance(value, Enum) else value
            for name, value in found.items()
            if value is not None
        }
