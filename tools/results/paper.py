"""Tables of docs/results/paper.md."""

from statistics import fmean, stdev

from .rendering import Row, Table, grouped

METHODS = {
    "kmcf": "KMCF",
    "kmcf-low50": "KMCF-low50",
    "kmcf-low100": "KMCF-low100 (n ≥ 200)",
    "kmcf-sub150": "KMCF-sub150 (n ≥ 200)",
    "kmcf-sub300": "KMCF-sub300 (n = 400)",
    "knn-pf": "kNN-PF",
    "kbr": "KBR filter",
    "nai": "nearest neighbour (NAI)",
}


def over_folds(rows: list[Row]) -> list[Row]:
    """Return means over folds, each the mean of its repetitions, with their standard errors over folds."""
    found = {}
    for first, group in grouped(rows, ["method"]):
        folds = [fold for _, fold in grouped(group, ["fold"])]
        line: Row = {"words": METHODS[first["method"]]}
        for name in ("rmse", "mean", "milliseconds"):
            values = [fmean(row[name] for row in fold) for fold in folds]
            line |= {name: fmean(values), f"{name}_error": stdev(values) / len(values) ** 0.5}
        found[first["method"]] = line
    return [found[name] for name in METHODS]


TABLES = [
    Table(
        "building",
        "building/folds.csv",
        (
            ("method", "{words}"),
            ("RMSE", "{rmse:.2f} ± {rmse_error:.2f} m"),
            ("mean error", "{mean:.2f} ± {mean_error:.2f} m"),
            ("ms per step", "{milliseconds:.1f}"),
        ),
        prepare=over_folds,
    ),
]
