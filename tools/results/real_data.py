"""Tables of docs/results/real-data.md."""

from .rendering import Row, Table, each, means

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


TABLES = [
    Table(
        "wifine",
        "wifine/folds.csv",
        each(("walks", "steps", *METHODS.values()), "{@}"),
        prepare=floors,
    ),
]
