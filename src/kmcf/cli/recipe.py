"""From words to a filter: what ``kmcf fit`` and ``kmcf tune`` make of their options, as objects or as code."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kmcf.cli.code import Expression, call
from kmcf.cli.group import note

if TYPE_CHECKING:
    from kmcf.datasets import Recording
    from kmcf.filter import KernelMonteCarloFilter
    from kmcf.kernels import Kernel
    from kmcf.transitions import Transition

KERNELS = ("state_kernel", "observation_kernel")
ROBOTS = ("odometry", "velocity")


@dataclass(frozen=True)
class Source:
    """Files and what their columns are."""

    files: Sequence[Path]
    state: Sequence[str] = ()
    observation: Sequence[str] = ()
    control: Sequence[str] = ()
    time: str | None = None
    sequence: str | None = None
    angles: Sequence[str] = ()
    gaps: str = "keep"
    step: float | None = None
    encoding: str = "utf-8"
    assumed: frozenset[str] = frozenset()
    """Roles that the user did not name: a file may do without the column of the time or of the sequence."""

    def fitting(self, names: Sequence[str], file: str) -> Source:
        """Return the same without assumed columns that a file does not have."""
        absent = [
            role for role in ("time", "sequence") if role in self.assumed and getattr(self, role) not in (None, *names)
        ]
        for role in absent if names else ():  # of an empty file another message tells
            note(f"{file} has no column {getattr(self, role)!r}, so it is read without {role}.")
        return replace(
            self,
            time=None if "time" in absent else self.time,
            sequence=None if "sequence" in absent else self.sequence,
        )

    def read(self) -> list[Recording]:
        """Read the files."""
        from kmcf.datasets import read_tables

        return read_tables(list(self.files), **self._arguments())

    def code(self) -> str:
        """Return the code that reads them."""
        arguments = {
            name: list(value) if isinstance(value, tuple) else value for name, value in self._arguments().items()
        }
        return f"recordings = {call('kmcf.datasets.read_tables', list(self.files), **arguments)}"

    def _arguments(self) -> dict[str, Any]:
        """Return what is not as it is by default."""
        fields = self.__dataclass_fields__
        given = {name: getattr(self, name) for name in fields if name not in ("files", "assumed")}
        return {name: value for name, value in given.items() if value and value != fields[name].default}


@dataclass(frozen=True)
class Motion:
    """A built-in transition and how it is learnt."""

    name: str = "random-walk"
    fixed: dict[str, Any] = field(default_factory=dict)
    trim: float = 0.0
    recovery: float | None = None

    def learnt(self, recordings: Sequence[Recording], states: Any) -> Transition:
        """Return the transition, learnt from recordings."""
        from kmcf.transitions import named, with_recovery

        start = named(self.name, **self._start(recordings))
        unknown = [name for name in self.fixed if name not in start.get_params(deep=False)]
        if unknown:
            raise ValueError(
                f"the transition {self.name!r} has no parameter {unknown[0]!r}; it has {', '.join(start.parameters())}."
            )
        transition = start.fit(recordings, trim=self.trim).set_params(**self.fixed)
        if self.recovery:
            return with_recovery(transition, states, probability=self.recovery)
        return transition

    def code(self, *, angles: bool, timed: bool) -> list[str]:
        """Return the lines that do the same."""
        start: dict[str, Any] = {"angles": Expression("recordings[0].angles")} if angles and self._turns() else {}
        if self._paced(timed):
            start["step"] = Expression('kmcf.datasets.columns_of(recordings)["step"]')
        how = {"trim": self.trim} if self.trim else {}
        made = call("kmcf.transitions.named", self.name, **start)
        lines = [f"transition = {made}.{call('fit', Expression('recordings'), **how)}"]
        if self.fixed:
            lines.append(f"transition.{call('set_params', **self.fixed)}")
        if self.recovery:
            arguments = (Expression("transition"), Expression("states"))
            lines.append(
                f"transition = {call('kmcf.transitions.with_recovery', *arguments, probability=self.recovery)}"
            )
        return lines

    def _start(self, recordings: Sequence[Recording]) -> dict[str, Any]:
        from kmcf.datasets import columns_of

        angles = recordings[0].angles
        if self.name in ROBOTS and not angles:
            raise ValueError(f"the transition {self.name!r} turns a heading: name its column with --angle.")
        start: dict[str, Any] = {"angles": angles} if angles and self._turns() else {}
        if self._paced(bool(recordings[0].names["time"])):
            start["step"] = columns_of(recordings)["step"]
        return start

    def _turns(self) -> bool:
        return self.name in ("random-walk", "jump")

    def _paced(self, timed: bool) -> bool:
        return timed and self.name == "constant-velocity" and "step" not in self.fixed


@dataclass(frozen=True)
class Recipe:
    """All that makes a filter, but the examples."""

    source: Source
    motion: Motion
    settings: dict[str, Any]
    seed: int

    def filter(self, recordings: Sequence[Recording], states: Any) -> KernelMonteCarloFilter:
        """Return the filter, not fitted, with a transition learnt from recordings."""
        from kmcf.filter import KernelMonteCarloFilter

        settings = {name: read_kernel(value) if name in KERNELS else value for name, value in self.settings.items()}
        transition = self.motion.learnt(recordings, states)
        return KernelMonteCarloFilter(transition, angles=recordings[0].angles, random_state=self.seed, **settings)

    def code(self) -> list[str]:
        """Return the lines that read the files and make the same filter."""
        settings = {name: kernel_code(value) if name in KERNELS else value for name, value in self.settings.items()}
        angles = {"angles": Expression("recordings[0].angles")} if self.source.angles else {}
        made = call(
            "kmcf.KernelMonteCarloFilter", Expression("transition"), **settings, **angles, random_state=self.seed
        )
        return [
            "import kmcf",
            "",
            self.source.code(),
            "states, observations = kmcf.datasets.examples(recordings)",
            *self.motion.code(angles=bool(self.source.angles), timed=self.source.time is not None),
            f"flt = {made}",
        ]


def given(**options: Any) -> dict[str, Any]:
    """Return the options that were given, as plain values.

    Examples
    --------
    >>> given(rank=None, tolerance="1e-6", epsilon=0.1)
    {'tolerance': 1e-06, 'epsilon': 0.1}
    """
    found = {name: getattr(value, "value", value) for name, value in options.items() if value is not None}
    if found.get("tolerance", "auto") != "auto":
        found["tolerance"] = _tolerance(found["tolerance"])
    return found


def _tolerance(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"--tolerance {text}: it must be a number or auto.") from None


def assignments(words: Sequence[str], option: str) -> dict[str, Any]:
    """Read ``NAME=VALUE`` words; values are numbers, lists of numbers or text.

    Examples
    --------
    >>> assignments(["scale=[0.1, 0.2]", "step=1"], "--set")
    {'scale': [0.1, 0.2], 'step': 1}
    """
    found = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name.strip().isidentifier():
            raise ValueError(f"{option} {word}: it must be NAME=VALUE.")
        try:
            found[name.strip()] = ast.literal_eval(value.strip())
        except (ValueError, SyntaxError):
            found[name.strip()] = value.strip()
    return found


def kernel_words(text: str) -> tuple[str, dict[str, Any]]:
    """Read ``matern:nu=2.5,multiplier=0.7``.

    Examples
    --------
    >>> kernel_words("matern:nu=2.5,multiplier=0.7")
    ('matern', {'nu': 2.5, 'multiplier': 0.7})
    """
    name, _, rest = text.partition(":")
    return name.strip(), assignments([part for part in rest.split(",") if part.strip()], f"the kernel {text!r} has")


def read_kernel(text: str) -> Kernel:
    """Return the kernel that was named."""
    from kmcf.kernels import named

    name, parameters = kernel_words(text)
    return named(name, **parameters)


def kernel_code(text: str) -> Expression:
    """Return the code that makes it."""
    name, parameters = kernel_words(text)
    return call("kmcf.kernels.named", name, **parameters)
