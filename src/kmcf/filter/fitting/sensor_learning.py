"""Learning from examples of several sensors: one filter for each, with a kernel on states that they share.

Each sensor has the settings of the whole filter, save those that are given by sensor, and all that a filter learns
from examples: its observation kernel, regularisers, engine, floors and patterns of missing numbers.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from kmcf.filter.fitting.gaps import accepted
from kmcf.filter.fitting.kernel_fitting import given_kernel
from kmcf.filter.fitting.learning import learn
from kmcf.filter.inputs import read_examples
from kmcf.filter.restoring import restored, stored
from kmcf.filter.sensors import listed, noting_sensor
from kmcf.filter.settings import check_angles
from kmcf.kernels import Kernel
from kmcf.numerics.arrays import is_jax
from kmcf.numerics.circles import wrapped_columns
from kmcf.numerics.objects import Objects, describe, is_numeric

if TYPE_CHECKING:
    from kmcf.filter.rule_filter import RuleFilter

BY_SENSOR = ("observation_kernel", "delta", "floor", "n_examples")
"""Settings that may be a dictionary by sensor; a sensor that is not in it has the default."""


def fit_sensors(flt: RuleFilter, examples: Any, observations: Any, seed: int) -> dict[str, RuleFilter]:
    """Fit a filter for every sensor.

    Parameters
    ----------
    flt : filter
        The whole, with its settings.
    examples : mapping
        Name of each sensor to its states and observations.
    observations : None
        What ``fit`` got beside them.
    seed : int
        That of the whole.
    """
    given = read_by_sensor(examples, observations)
    sensors = alone(flt, given)
    for name, sensor in sensors.items():
        with noting_sensor(name):
            sensor._check_settings()
    shared = _shared_state_kernel(sensors, given) if len(sensors) > 1 else None
    for name, sensor in sensors.items():
        with noting_sensor(name):
            sensor._adopt(learn(*given[name], sensor._learning_settings(), shared=shared), seed)
    return sensors


def add_examples(flt: RuleFilter, examples: Any, observations: Any) -> dict[str, RuleFilter]:
    """Return the sensors of a fitted filter, some with further examples; those it has do not change."""
    sensors = dict(flt.sensors_ or {})
    for name, pair in read_by_sensor(examples, observations).items():
        if name not in sensors:
            raise ValueError(f"there is no sensor {name!r}; the filter was fitted with {listed(sensors)}.")
        with noting_sensor(name):
            sensors[name] = copy.copy(sensors[name]).partial_fit(*pair)
    return sensors


def read_by_sensor(examples: Any, observations: Any) -> dict[str, tuple[Any, Any]]:
    """Check that examples are pairs by name."""
    if not isinstance(examples, Mapping) or observations is not None:
        raise TypeError(
            "the examples of several sensors are one dictionary: {'wifi': (states, observations), 'camera': (states, "
            "observations)}, and nothing beside it."
        )
    if not examples:
        raise ValueError("the dictionary of examples is empty: it must name at least one sensor.")
    for name, pair in examples.items():
        if not isinstance(name, str) or not name:
            raise TypeError(f"a sensor is called {name!r}; names must be text.")
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise TypeError(f"the examples of the sensor {name!r} must be a pair (states, observations).")
        if any(is_jax(part) for part in pair):
            raise TypeError(
                "several sensors are filtered with NumPy, not with JAX: pass np.asarray(...), and a transition for "
                "NumPy; or one sensor alone."
            )
    return {name: (pair[0], pair[1]) for name, pair in examples.items()}


def one_sensor(flt: Any, observations: Any) -> None:
    """Refuse what makes sense only for several sensors."""
    if observations is None:
        raise TypeError(
            "fit takes states and observations; or, for several sensors, one dictionary {'wifi': (states, "
            "observations), ...}."
        )
    for name in BY_SENSOR:
        if isinstance(getattr(flt, name), Mapping):
            raise TypeError(f"{name} is given by sensor, but the examples are not: fit({{'wifi': (states, ...)}}).")


def refuse_sensors(flt: Any, what: str, instead: str) -> None:
    """Refuse what filters with several sensors cannot do, and say what to do instead."""
    if getattr(flt, "sensors_", None) is not None:
        raise ValueError(f"{what} does not work with several sensors: {instead}.")


def refuse_several(flt: Any, states: Any) -> None:
    """Refuse examples of several sensors where a filter learns from one."""
    if isinstance(states, Mapping):
        raise TypeError(
            f"{type(flt).__name__} learns from one sensor: pass its states and observations. A dictionary of several "
            "is for KernelMonteCarloFilter and ParticleLikelihoodFilter."
        )


def alone(flt: RuleFilter, names: Any) -> dict[str, RuleFilter]:
    """Return an unfitted filter for each sensor, with its own settings."""
    settings = flt.get_params(deep=False)
    own = {setting: settings[setting] for setting in BY_SENSOR if isinstance(settings[setting], Mapping)}
    for setting, values in own.items():
        unknown = [name for name in values if name not in names]
        if unknown:
            raise ValueError(f"{setting} names the sensor {unknown[0]!r}, but the examples are of {listed(names)}.")
    found = {}
    for name in names:
        chosen = {setting: values.get(name) for setting, values in own.items()}
        found[name] = type(flt)(**{**settings, **chosen})
        found[name]._functions = flt._functions
    return found


def joined(collections: list[Objects]) -> Objects:
    """Put collections of states together; one alone stays as it is."""
    if len(collections) == 1:
        return collections[0]
    if any(not is_numeric(part) for part in collections):
        return [thing for part in collections for thing in part]
    together = np.concatenate(collections)
    together.flags.writeable = False
    return together


def stored_sensors(sensors: Mapping[str, RuleFilter]) -> dict[str, Any]:
    """Return what a file keeps of every sensor."""
    return {"sensors_": {name: stored(sensor.learnt_) for name, sensor in sensors.items()}}


def restored_sensors(flt: RuleFilter, state: Mapping[str, Any], passed: set[str]) -> dict[str, RuleFilter]:
    """Restore the sensors from what a file kept of them."""
    sensors = alone(flt, state["sensors_"])
    for name, sensor in sensors.items():
        with noting_sensor(name):
            sensor._check_settings()
            sensor._adopt(restored(state["sensors_"][name], sensor._learning_settings(), passed), flt.seed_)
    return sensors


def _shared_state_kernel(sensors: Mapping[str, RuleFilter], given: Mapping[str, tuple[Any, Any]]) -> Kernel:
    """Fit the kernel on states to those of all sensors."""
    read = {}
    for name, sensor in sensors.items():
        settings = sensor._learning_settings()
        accepts = accepted(given_kernel(settings.observation_kernel, "observation_kernel"))
        with noting_sensor(name):
            states, _ = read_examples(
                *given[name],
                state_kernel=given_kernel(settings.state_kernel, "state_kernel"),
                observation_kernel=accepts.with_gaps(settings.floor),
            )
            check_angles(settings.angles, states)
        read[name] = wrapped_columns(states, settings.angles)
    (first, expected), *others = read.items()
    for name, states in others:
        if np.shape(states)[1:] != np.shape(expected)[1:] or is_numeric(states) != is_numeric(expected):
            raise ValueError(
                f"the states of the sensor {name!r} are {describe(states)}, those of {first!r} {describe(expected)}: "
                "all sensors must see the same kind of state."
            )
    return settings.fitted_state_kernel(joined(list(read.values())))
