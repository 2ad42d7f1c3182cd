"""Filters fitted on Dask chunks: which settings they can have, and what they cannot do afterwards."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kmcf.bayes_rule import CompressedRule
from kmcf.filter.fitting.learnt import Learnt
from kmcf.filter.support import OnExamples, Support


def check_chunked(flt: Any, support: Support) -> Support:
    """Return the settings by which chunks are learnt from, always by the compressed engine; refuse others."""
    if type(support) is not OnExamples or support.engine not in ("auto", "compressed") or support.rule != "kbr":
        raise ValueError(
            "Dask chunks are fitted by the compressed engine, with support='examples' and rule='kbr': what it needs of "
            "the examples is a sum over them. Other settings need all examples in memory."
        )
    if flt.n_examples is not None:
        raise ValueError("n_examples chooses among examples in memory: leave it at None to fit Dask chunks.")
    if flt.floor is not None:
        raise ValueError("floor fills in missing numbers of examples in memory: fill them in before you pass chunks.")
    return replace(support, engine="compressed")


def summed_over(learnt: Learnt) -> int | None:
    """Return how many examples the sums run over, if they are more than there are in memory."""
    rule = learnt.fitted.rule
    return rule.size if isinstance(rule, CompressedRule) and rule.share < 1.0 else None


def summed_in_words(learnt: Learnt) -> str:
    """Say how many examples such a filter has seen, and how many it keeps; nothing about other filters."""
    count = summed_over(learnt)
    return "" if count is None else f"{count} examples, of which {len(learnt.states)} are kept"


def refuse_chunked(learnt: Learnt, what: str) -> None:
    """Refuse what would need the examples that were left where they are."""
    if summed_over(learnt) is not None:
        raise ValueError(f"{what} needs all examples, but those of the Dask chunks are not in memory: fit again.")
