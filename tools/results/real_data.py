"""Tables of docs/results/real-data.md."""

from functools import partial
from statistics import fmean, stdev

from .rendering import Row, Table, Template, each, grouped, means

METHODS = {"kmcf": "KMCF", "knn": "mean of the five nearest", "knn-pf": "kNN-PF"}


def floors(rows: list[Row]) -> list[Row]:
    """Return mean errors over steps: of walks on one floor, through several (``val_456_e_3``), of all."""
    named = [row | {"several": len(row["fold"].split("_")[1]) > 1} for row in rows]
    parts = {
        "on one floor": [row for row in named if not row["several"]],
        "through several floors": [row for row in named if row["several"]],
        "all": named,
    }
    return [_line(words, part) for words, part in parts.items()]


def _line(words: str, rows: list[Row]) -> Row:
    own = [row for row in rows if row["method"] == "kmcf"]
    errors = {METHODS[one["method"]]: one["mean"] for one in means(rows, ["method"], "steps")}
    shown = {name: f"{error:.2f} m" for name, error in errors.items()}
    best = min(errors, key=errors.__getitem__)
    count = "" if words == "all" else f" ({len(own)})"
    steps = sum(int(row["steps"]) for row in own)
    return {"walks": words + count, "steps": steps, **shown, best: f"**{shown[best]}**"}


NAMES = {"kmcf": "KMCF", "knn-pf": "kNN-PF", "kbr": "KBR filter", "knn": "k-NN mean", "nai": "nearest example (NAI)"}
SPIKES = NAMES | {
    "kmcf": "KMCF, settings below",
    "kmcf-defaults": "KMCF, defaults",
    "knn": "mean of the five nearest",
    "poisson": "Poisson filter (place fields of 12 px, 2000 particles)",
    "poisson-chosen": "Poisson filter (width of the place fields chosen, 2000 particles)",
}
MEASURES = ("mean", "median", "share", "inside", "milliseconds")


def by_method(rows: list[Row], best: str = "mean", names: dict[str, str] = NAMES) -> list[Row]:
    """Return means over folds and repetitions with standard errors; the best by one measure is printed bold."""
    found = []
    for first, group in grouped(rows, ["method"]):
        line: Row = {"method": names[first["method"]]}
        for name in MEASURES:
            values = [row[name] for row in group]
            line[name], line[f"{name}_error"] = fmean(values), stdev(values) / len(values) ** 0.5
        found.append(line)
    winner = max(found, key=lambda line: line[best] if best == "share" else -line[best])
    return [line | {"shown": f"**{line['method']}**" if line is winner else line["method"]} for line in found]


COLUMNS: tuple[tuple[str, Template], ...] = (
    ("method", "{shown}"),
    ("mean error, m", "{mean:.3f} ± {mean_error:.3f}"),
    ("median, m", "{median:.3f} ± {median_error:.3f}"),
    ("share < 1 m", "{share:.1%}"),
    ("in 95 % ellipse", "{inside:.1%}"),
    ("ms per step", "{milliseconds:.1f}"),
)
TABLES = [
    *(
        Table(f"localize-{data}", f"localize/{data}/folds.csv", COLUMNS, prepare=partial(by_method, best=best))
        for data, best in (("ble", "mean"), ("mrclam", "mean"), ("intel", "share"), ("freiburg", "share"))
    ),
    Table("localize-ble-tuned", "localize/ble-tuned/folds.csv", COLUMNS[:-1], prepare=by_method),
    *(
        Table(
            f"localize-{data}",
            f"localize/{data}/folds.csv",
            (
                ("method", "{shown}"),
                ("median error, px", "{median:.1f} ± {median_error:.1f}"),
                ("mean error, px", "{mean:.1f} ± {mean_error:.1f}"),
                ("share < 50 px", "{share:.0%}"),
                ("in 95 % ellipse", "{inside:.0%}"),
            ),
            prepare=partial(by_method, best="median", names=SPIKES),
        )
        for data in ("spikes-velocity", "spikes")
    ),
    Table(
        "wifine",
        "wifine/folds.csv",
        each(("walks", "steps", *METHODS.values()), "{@}"),
        prepare=floors,
    ),
]
