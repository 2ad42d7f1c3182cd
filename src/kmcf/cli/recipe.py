"""From words to a filter: the statements by which ``kmcf fit`` and ``kmcf tune`` make one."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import typer

from kmcf.cli.options import ExampleOptions, FilterOptions, TransitionOptions
from kmcf.cli.script import Code, as_code, call
from kmcf.cli.sensors import sensor_words
from kmcf.cli.table_files import TableFiles
from kmcf.cli.windows import read_window

KERNEL_SETTINGS = ("state_kernel", "observation_kernel")
ANGULAR_TRANSITIONS = ("random-walk", "recorded-moves", "jump")
"""Transitions that are told which states are angles."""
STEPPING_TRANSITIONS = ("constant-velocity", "velocity")
"""Transitions whose step is 1 unless they are told."""
WORDS = {"true": True, "false": False, "none": None}
"""Values of settings that are words, in upper or lower case."""
POSE_TRANSITIONS = ("odometry", "velocity")
"""Transitions of a pose, which know that its last column is an angle."""


def example_files(options: ExampleOptions, *, windows: bool = True) -> TableFiles:
    """Return the files that hold examples; their windows, unless these are yet to be chosen."""
    window = read_window(options.window, timed=options.time is not None) if windows else None
    if bool(options.observation) == bool(options.sensor):
        raise typer.BadParameter(
            "name the columns of the observation, or those of several sensors by --sensor NAME=COLUMNS, and not both.",
            param_hint="'--observation' / '-y'",
        )
    if options.sensor and options.window:
        raise typer.BadParameter("windows are of one sensor: name its columns by -y.", param_hint="'--window'")
    return TableFiles(
        options.files,
        options.state,
        options.observation or (),
        options.control or (),
        options.time,
        options.sequence,
        options.angle or (),
        options.gaps.value,
        encoding=options.encoding,
        window=None if window is None else window.code,
        sensors=sensor_words(options.sensor),
        excluded=options.excluded or (),
        velocities=options.velocities,
    )


def filter_statements(files: TableFiles, motion: TransitionOptions, settings: FilterOptions, seed: int) -> list[str]:
    """Return the statements that learn ``transition`` from ``recordings`` and make the filter ``flt``.

    Where a lost filter is to recover, they need the example ``states``.
    """
    given = settings.given()
    given |= {name: _kernels(given[name], files.sensors) for name in KERNEL_SETTINGS if name in given}
    if files.window is not None and isinstance(given.get("floor"), list):  # one per column of one observation
        given["floor"] = Code(f"{as_code(given['floor'])} * window.length")
    angles = {"angles": Code("recordings[0].angles")} if files.angles else {}
    kind = _kind_of_filter(given)
    made = call(f"kmcf.{kind}", Code("transition"), **given, **angles, random_state=seed)
    return [*transition_statements(files, motion), f"flt = {made}"]


def _kind_of_filter(given: dict[str, Any]) -> str:
    """Name the class that has the settings; a filter on particles is a class of its own."""
    from kmcf.filter import ParticleLikelihoodFilter

    if given.get("support") != "particles":
        if "background" in given:
            raise ValueError("--background needs --support particles.")
        return "KernelMonteCarloFilter"
    del given["support"]
    known = inspect.signature(ParticleLikelihoodFilter).parameters
    unknown = [f"--{name.replace('_', '-')}" for name in given if name not in known]
    if unknown:
        raise ValueError(f"with --support particles there is no {' and no '.join(unknown)}.")
    return "ParticleLikelihoodFilter"


def transition_statements(files: TableFiles, motion: TransitionOptions) -> list[str]:
    """Return the statements that learn ``transition`` from ``recordings``."""
    fixed = assignments(motion.transition_set or [], "--transition-set")
    _check_transition(motion.transition, fixed, turning=bool(files.angles))
    start: dict[str, Any] = {}
    if files.angles and motion.transition in ANGULAR_TRANSITIONS:
        start["angles"] = Code("recordings[0].angles")
    if files.time is not None and motion.transition in STEPPING_TRANSITIONS:
        start["step"] = Code("kmcf.datasets.columns_of(recordings)['step']")
    if "neighbours" in fixed:  # by which the noise is learnt
        start["neighbours"] = fixed["neighbours"]
    how: dict[str, Any] = {"trim": motion.trim} if motion.trim else {}
    if fixed.get("step") is not None:
        start["step"] = fixed["step"]
        if files.time is None:  # then a row is one step
            how["times"] = Code(f"[{as_code(fixed['step'])} * recording.time for recording in recordings]")
    made = call("kmcf.transitions.named", motion.transition, **start)
    statements = [f"transition = {made}.{call('fit', Code('recordings'), **how)}"]
    if fixed:
        statements.append(call("transition.set_params", **fixed))
    if motion.recovery:
        jumping = call(
            "kmcf.transitions.with_recovery", Code("transition"), Code("states"), probability=motion.recovery
        )
        statements.append(f"transition = {jumping}")
    return statements


def _check_transition(name: str, fixed: dict[str, Any], *, turning: bool) -> None:
    from kmcf.transitions import named

    named(name, **fixed)  # which complains about unknown names and wrong types
    if name in POSE_TRANSITIONS and not turning:
        raise ValueError(f"the transition {name!r} turns a heading: name its column with --angle.")


def _kernels(text: str, sensors: Mapping[str, Any]) -> Code | dict[str, Code]:
    """Return the code for a kernel, or for one of each sensor that is named."""
    pairs = [part.partition("=") for part in text.split(";")]
    if all(name.strip() in sensors for name, _, _ in pairs):
        return {name.strip(): kernel(named.strip()) for name, _, named in pairs}
    return kernel(text)


def kernel(text: str) -> Code:
    """Return the code for a kernel that was named as in ``matern:nu=2.5,multiplier=0.7``.

    Examples
    --------
    >>> kernel("matern:nu=2.5,multiplier=0.7")
    "kmcf.kernels.named('matern', nu=2.5, multiplier=0.7)"
    """
    from kmcf.kernels import named

    name, _, rest = text.partition(":")
    parameters = assignments([part for part in rest.split(",") if part.strip()], f"the kernel {text!r} has")
    named(name.strip(), **parameters)  # which complains about unknown names
    return call("kmcf.kernels.named", name.strip(), **parameters)


def assignments(words: Sequence[str], option: str) -> dict[str, Any]:
    """Read ``NAME=VALUE`` words; values are numbers, lists of numbers, true, false, none or text.

    Examples
    --------
    >>> assignments(["scale=[0.1, 0.2]", "step=1", "normalize=false"], "--set")
    {'scale': [0.1, 0.2], 'step': 1, 'normalize': False}
    """
    found = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name.strip().isidentifier():
            raise ValueError(f"{option} {word}: it must be NAME=VALUE.")
        found[name.strip()] = _value(value.strip())
    return found


def _value(text: str) -> Any:
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
