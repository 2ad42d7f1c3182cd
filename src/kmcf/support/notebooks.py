"""How results look in a notebook: one small table each."""

from __future__ import annotations

import html
import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from kmcf.numerics.objects import describe


def html_table(title: str, rows: Mapping[str, Any], note: str = "") -> str:
    """Return an HTML table with one row per entry; everything is escaped.

    Examples
    --------
    >>> "&lt;b&gt;" in html_table("Belief", {"time": "<b>"})
    True
    """
    left = ' style="text-align:left"'
    body = "".join(
        f"<tr><th{left}>{html.escape(name)}</th><td{left}>{html.escape(in_short(value))}</td></tr>"
        for name, value in rows.items()
    )
    note = f"<small>{html.escape(note)}</small>" if note else ""
    return f"<div><strong>{html.escape(title)}</strong><table>{body}</table>{note}</div>"


def in_short(value: Any, longest: int = 160) -> str:
    """Return a value as text of limited length, numbers with four digits, functions by their name.

    Examples
    --------
    >>> in_short(0.123456), in_short(np.array([1.0, 2.5])), in_short(len)
    ('0.1235', '[1.  2.5]', 'len')
    """
    if isinstance(value, bool | int | str):
        text = str(value)
    elif isinstance(value, float | np.floating):
        text = f"{value:.4g}"
    elif isinstance(value, np.ndarray):
        text = np.array2string(value, precision=4, threshold=12)
    elif type(value) is tuple:
        text = f"({', '.join(in_short(item) for item in value)})"
    elif hasattr(value, "__qualname__"):
        text = str(value.__qualname__)
    else:
        text = repr(value)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def spread_of(values: Any) -> str:
    """Describe numbers by their median and range.

    Examples
    --------
    >>> spread_of(np.array([3.0, np.nan, 1.0, 2.0]))
    'median 2 (from 1 to 3)'
    """
    finite = np.asarray(values)[np.isfinite(values)]
    if finite.size == 0:
        return "none"
    return f"median {np.median(finite):.3g} (from {finite.min():.3g} to {finite.max():.3g})"


def settings_and_learnt(estimator: Any, examples: Any) -> tuple[dict[str, Any], str]:
    """Return the rows of a filter's table: settings that are not the default, and short learnt values.

    Parameters
    ----------
    estimator : scikit-learn estimator
        The filter.
    examples : collection or None
        What it was fitted to; None if it is not fitted.
    """
    defaults = {name: p.default for name, p in inspect.signature(type(estimator).__init__).parameters.items()}
    settings = estimator.get_params(deep=False)
    changed = {name: value for name, value in settings.items() if in_short(value) != in_short(defaults[name])}
    if examples is None:
        return changed, "not fitted"
    learnt = {name: value for name, value in vars(estimator).items() if name.endswith("_") and _is_short(value)}
    return {**changed, "examples": describe(examples), **learnt}, ""


def _is_short(value: Any) -> bool:
    """Return whether a learnt value fits into a row of a table: numbers, words, pairs, kernels."""
    return isinstance(value, int | float | str) or type(value) is tuple or hasattr(type(value), "_get_param_names")
