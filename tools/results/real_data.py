"""Tables of docs/results/real-data.md."""

from functools import partial
from statistics import fmean, median, stdev

from .rendering import Row, Table, Template, each, grouped

METHODS = {"kmcf": "KMCF", "knn": "mean of the five nearest", "knn-pf": "kNN-PF"}


def floors(rows: list[Row]) -> list[Row]:
    """Return errors over steps: of walks on one floor, through several (``val_456_e_3``), of all; and times."""
    named = [row | {"several": len(row["fold"].split("_")[1]) > 1} for row in rows]
    parts = {
        "on one floor": [row for row in named if not row["several"]],
        "through several floors": [row for row in named if row["several"]],
        "all": named,
    }
    return [*(_line(words, part) for words, part in parts.items()), _times(named)]


def _line(words: str, rows: list[Row]) -> Row:
    own = [row for row in rows if row["method"] == "kmcf"]
    errors = {METHODS[first["method"]]: [row["error"] for row in group] for first, group in grouped(rows, ["method"])}
    shown = {name: f"{fmean(found):.2f} / {median(found):.2f} m" for name, found in errors.items()}
    best = min(errors, key=lambda name: fmean(errors[name]))
    return {
        "walks": f"{words} ({len({row['fold'] for row in own})})",
        "steps": len(own),
        **shown,
        best: f"**{shown[best]}**",
    }


def _times(rows: list[Row]) -> Row:
    spent = {
        METHODS[first["method"]]: median(row["processor_milliseconds"] for row in group)
        for first, group in grouped(rows, ["method"])
    }
    return {"walks": "processor time per step", "steps": "", **{name: f"{ms:.1f} ms" for name, ms in spent.items()}}


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
        for data in ("spikes", "spikes-random-walk")
    ),
    Table(
        "wifine",
        "localize/wifine/steps.parquet",
        (("walks", "{walks}"), ("steps", "{steps}"), *each(METHODS.values(), "{@}")),
        prepare=floors,
    ),
]
