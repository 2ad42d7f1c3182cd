"""Tables of docs/results/paper.md."""

from collections.abc import Sequence
from statistics import fmean, median, stdev

from .rendering import Row, Table, grouped

INTERVALS = {"short": "2.27 s", "middle": "4.54 s", "long": "6.81 s"}
METHODS = {
    "kmcf": "KMCF",
    "kmcf-low50": "KMCF-low50",
    "kmcf-low100": "KMCF-low100 (n ≥ 200)",
    "kmcf-sub150": "KMCF-sub150 (n ≥ 200)",
    "kmcf-sub300": "KMCF-sub300 (n = 400)",
    "ours": "ours",
    "ours-low50": "ours, rank 50",
    "ours-low100": "ours, rank 100 (n ≥ 200)",
    "knn-pf": "kNN-PF",
    "kbr": "KBR filter",
    "nai": "nearest neighbour (NAI)",
}
ERROR = ("{NAME:.2f} ± {NAME_error:.2f} m", "{NAME:.2f} m")


def by_interval(rows: list[Row]) -> list[Row]:
    """Return, for each method, the means over numbers of examples and draws of them, interval by interval."""
    found = {}
    for first, group in grouped(rows, ["method"]):
        line: Row = {"words": METHODS[first["method"]], "milliseconds": median(row["milliseconds"] for row in group)}
        for name, interval in INTERVALS.items():
            line |= over_draws(name, [row for row in group if row["group"] == interval])
        found[first["method"]] = line
    return [found[name] for name in METHODS if name in found]


def over_draws(name: str, rows: Sequence[Row]) -> Row:
    """Return the mean error over draws, each the mean over numbers of examples, with its standard error."""
    draws = [fmean(row["rmse"] for row in draw) for _, draw in grouped(list(rows), ["repetition"])]
    error = stdev(draws) / len(draws) ** 0.5 if len(draws) > 1 else None
    return {name: fmean(draws), f"{name}_error": error}


TABLES = [
    Table(
        "building",
        "building/folds.parquet",
        (
            ("RMSE of the mode", "{words}"),
            *((interval, tuple(one.replace("NAME", name) for one in ERROR)) for name, interval in INTERVALS.items()),
            ("ms per step, median", "{milliseconds:.1f}"),
        ),
        prepare=by_interval,
    ),
]
