"""Tables of docs/results/speed.md."""

from .rendering import Row, Table, each, grouped

ENGINES = (
    ("n", "{n}"),
    ("method", "{label}"),
    ("p, q", "{ranks}"),
    ("ms/step", "{milliseconds:.2f}"),
    ("speed-up", "{speed_up:.1f}"),
    ("median difference", "{median_difference:.0e}"),
    ("largest", "{largest_difference:.0e}"),
    ("in posterior sd", "{difference_in_sd:.0e}"),
)


def engines(rows: list[Row]) -> list[Row]:
    """Say which engine "auto" chose, and leave out ranks where nothing is truncated."""
    return [
        row
        | {
            "label": f"auto ({row['engine']})" if row["method"] == "auto" else row["method"],
            "ranks": None if row["engine"] in ("literal", "exact") else row["ranks"],
        }
        for row in rows
    ]


def worst(rows: list[Row]) -> list[Row]:
    """Return the largest numbers of each tolerance over all models and settings."""
    names = ("median", "largest")
    return [
        one | {name: max(row[name] for row in group) for name in names} for one, group in grouped(rows, ["tolerance"])
    ]


def digits(rows: list[Row]) -> list[Row]:
    """Show errors in pixels with fewer digits."""
    return [row | {"digits": 1 if row["error"] > 10 else 3} for row in rows]


TABLES = [
    *(
        Table(name, f"{name}/bench.json", ENGINES, prepare=engines)
        for name in ("engines-1a", "engines-3a", "curve-3a", "curve-3a-learnt")
    ),
    Table(
        "speeds",
        "speeds/bench_speeds.json",
        (
            ("kernel", "`{kernel}`"),
            ("objects", "{objects}"),
            ("1000 × 1000 matrix, s", "{matrix_seconds:.2f}"),
            ("one new object against 1000, ms", "{step_milliseconds:.1f}"),
        ),
    ),
    Table(
        "defaults",
        "defaults/bench_defaults.json",
        (
            *each(("problem", "n", "tolerance", "kernel", "engine"), "{@}"),
            ("p, q", "{ranks}"),
            ("fit, s", "{fit_seconds:.1f}"),
            ("ms/step", "{milliseconds:.2f}"),
            ("RMSE", "{error:.{digits}f} ± {standard_error:.{digits}f}"),
        ),
        prepare=digits,
    ),
    Table(
        "tolerance",
        "tolerance/bench_tolerance.json",
        (
            ("tolerance", "{tolerance}"),
            ("largest median", "{median:.1e}"),
            ("largest of all steps", "{largest:.1e}"),
        ),
        prepare=worst,
    ),
]
