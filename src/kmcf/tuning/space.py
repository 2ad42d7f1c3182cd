"""The search space of a study: what the filter declares and what the user changes in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from sklearn.base import clone

from kmcf.filter.sequential import SequentialFilter
from kmcf.support.search_space import Category, Integer, LogNormal, Parameter
from kmcf.tuning.trials import Proposal


@dataclass(frozen=True)
class Space:
    """Variants of a filter and the parameters of each.

    Attributes
    ----------
    name : str
        The setting in which the variants differ.
    filters : dict
        The variants, with all settings explicit; the first is the default.
    parameters : dict
        For each variant its parameters.
    """

    name: str
    filters: dict[str, SequentialFilter]
    parameters: dict[str, dict[str, Parameter]]

    def default(self) -> Proposal:
        """Return the untuned defaults."""
        first = next(iter(self.filters))
        return Proposal(first, {name: parameter.center for name, parameter in self.parameters[first].items()})

    def names(self) -> list[str]:
        """Return the names of all parameters, and before them that of the choice between variants if there is one."""
        own = list(dict.fromkeys(name for parameters in self.parameters.values() for name in parameters))
        return ([self.name] if len(self.filters) > 1 else []) + own

    def is_category(self, name: str) -> bool:
        """Return whether a setting is one of several options rather than a number."""
        declared = [parameters[name] for parameters in self.parameters.values() if name in parameters]
        return not declared or any(isinstance(parameter, Category) for parameter in declared)

    def described(self, proposal: Proposal) -> dict[str, Any]:
        """Return all settings of a proposal by name, its variant included if there are several."""
        chosen = {self.name: proposal.variant} if len(self.filters) > 1 else {}
        return {**chosen, **proposal.settings}

    def encoded(self, proposal: Proposal) -> dict[str, Any]:
        """Return a proposal as numbers and words that JSON knows; options are given by their position."""
        parameters = self.parameters[proposal.variant]
        settings = {
            name: position(parameters[name], value) if isinstance(parameters[name], Category) else value
            for name, value in proposal.settings.items()
        }
        return {"variant": proposal.variant, "settings": settings}

    def decoded(self, record: Mapping[str, Any]) -> Proposal:
        """Return the proposal that was encoded."""
        parameters = self.parameters[record["variant"]]
        settings = {}
        for name, value in record["settings"].items():
            parameter = parameters[name]
            settings[name] = parameter.options[value] if isinstance(parameter, Category) else value
        return Proposal(record["variant"], settings)


def position(category: Parameter, option: Any) -> int:
    """Return which option of a category this is."""
    assert isinstance(category, Category)
    return next(k for k, known in enumerate(category.options) if known is option or _same(known, option))


def _same(first: Any, second: Any) -> bool:
    return isinstance(first, int | float | str | tuple) and type(first) is type(second) and first == second


def make_space(flt: SequentialFilter, states: Any, observations: Any, user: Mapping[str, Any] | None) -> Space:
    """Ask the filter what may be tuned, and apply the user's changes.

    Parameters
    ----------
    flt : filter
        The filter to tune.
    states, observations : arrays or lists
        The examples, from which the filter makes its defaults explicit.
    user : mapping, optional
        Parameters to add or to replace; None fixes a parameter at its default.
    """
    wanted = _read(user)
    variants = flt.variants(states, observations)
    filters = dict(variants.filters)
    chosen = wanted.get(variants.name)
    if isinstance(chosen, Category) and all(isinstance(o, str) and o in filters for o in chosen.options):
        filters = {option: filters[option] for option in chosen.options}
        del wanted[variants.name]
    whole = {
        name: parameter.center
        for name, parameter in wanted.items()
        if isinstance(parameter, Category) and name in flt.get_params(deep=False)
    }
    if whole:  # the defaults of the rest follow from the first options
        filters = dict(clone(flt).set_params(**whole).variants(states, observations).filters)
    _check_names(wanted, filters)
    parameters = {variant: _parameters(one, wanted, set(whole)) for variant, one in filters.items()}
    if not any(parameters.values()) and len(filters) == 1:
        raise ValueError(
            f"there is nothing to tune: {type(flt).__name__} declares no parameters here; pass space={{name: "
            "LogNormal(...)}."
        )
    return Space(variants.name, filters, parameters)


def _read(user: Mapping[str, Any] | None) -> dict[str, Parameter | None]:
    if user is None:
        return {}
    if not isinstance(user, Mapping):
        raise TypeError(f"space must map names to parameters, not be {type(user).__name__}.")
    for name, parameter in user.items():
        if parameter is not None and not isinstance(parameter, LogNormal | Integer | Category):
            raise TypeError(
                f"space[{name!r}] = {parameter!r}; it must be a LogNormal, Integer or Category of kmcf.tuning, "
                "or None to leave the parameter as it is."
            )
    return dict(user)


def _check_names(wanted: Mapping[str, Any], filters: Mapping[str, SequentialFilter]) -> None:
    known = list(dict.fromkeys(name for one in filters.values() for name in one.get_params(deep=True)))
    for name in wanted:
        if name not in known:
            close = get_close_matches(str(name), known, n=1, cutoff=0.5)
            kind = type(next(iter(filters.values()))).__name__
            hint = f"the nearest is {close[0]!r}" if close else f"it has {', '.join(sorted(known))}"
            raise ValueError(f"space names {name!r}, which {kind} does not have; {hint}.")


def _parameters(flt: SequentialFilter, wanted: Mapping[str, Parameter | None], whole: set[str]) -> dict[str, Parameter]:
    """Return the parameters of one variant; those inside a setting that is exchanged as a whole are dropped."""
    declared = {name: p for name, p in flt.search_space().items() if name.partition("__")[0] not in whole}
    own = flt.get_params(deep=True)
    for name, parameter in wanted.items():
        if parameter is None:
            declared.pop(name, None)
        elif name in own:
            declared[name] = parameter
    return declared
