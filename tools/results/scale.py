"""Tables of docs/results/scale.md."""

from .rendering import Row, Table


def with_ratio(rows: list[Row]) -> list[Row]:
    """Compare the time of a fit with that of its matrix products."""
    return [row | {"ratio": row["seconds"] / row["products_seconds"]} for row in rows]


def in_words(rows: list[Row]) -> list[Row]:
    """Say what no workers mean."""
    return [row | {"workers": row["workers"] or "in memory"} for row in rows]


def telling(rows: list[Row]) -> list[Row]:
    """Leave out most of the small batches."""
    small, most = rows[0]["n"], max(row["batch"] for row in rows)
    largest = max(row["n"] for row in rows)

    def chosen(row: Row) -> bool:
        double = row["dtype"] == "float64"
        return row["batch"] == most or (double and (row["n"] == small or (row["n"] == largest and row["batch"] == 1)))

    return [row for row in rows if chosen(row)]


TABLES = [
    Table(
        "fit",
        "fit/bench_fit.json",
        (
            ("n", "{n}"),
            ("p, q", "{ranks}"),
            ("fit, s", "{seconds:.2f}"),
            ("its matrix products alone, s", "{products_seconds:.2f}"),
            ("ratio", "{ratio:.1f}"),
            ("peak memory, GB", "{peak_gigabytes:.2f}"),
            ("ms/step", "{milliseconds_per_step:.2f}"),
        ),
        prepare=with_ratio,
    ),
    Table(
        "world",
        "world/bench_world.json",
        (
            ("n", "{n}"),
            ("start", "{start}"),
            ("engine", "{engine}"),
            ("fit, s", "{fit_seconds:.2f}"),
            ("first step, ms", "{first_milliseconds:.0f}"),
            ("ms/step", "{milliseconds_per_step:.2f}"),
            ("examples solved for", "{solved_for:.0f}"),
            ("mean error, m", "{error:.2f}"),
            ("peak memory, GB", "{peak_gigabytes:.2f}"),
        ),
    ),
    Table(
        "distributed",
        "distributed/bench_distributed.json",
        (
            ("n", "{n:,}"),
            ("workers", "{workers}"),
            ("fit, s", "{fit_seconds:.0f}"),
            ("peak, GB", "{peak_gigabytes:.2f}"),
            ("moved, MB", "{moved_megabytes:.1f}"),
            ("p, q", "{ranks}"),
            ("examples kept", "{kept:,}"),
            ("RMSE, 200 steps", "{error:.3f}"),
            ("ms per step", "{milliseconds_per_step:.2f}"),
        ),
        prepare=in_words,
    ),
    Table(
        "jax-variants",
        "jax/bench_jax.json",
        (
            ("what", "{what}"),
            ("n", "{n:,}"),
            ("batch", "{batch}"),
            ("steps/s", "{steps_per_second:,.0f}"),
            ("NumPy", "{numpy_steps_per_second:,.0f}"),
            ("first call, s", "{first_seconds:.1f}"),
        ),
        rows="variants",
    ),
    Table(
        "jax",
        "jax/bench_jax.json",
        (
            ("n", "{n:,}"),
            ("p, q", "{ranks}"),
            ("precision", "{dtype}"),
            ("batch", "{batch}"),
            ("filter steps/s", "{steps_per_second:,.0f}"),
            ("ms per step of all", "{milliseconds_per_step:.3f}"),
            ("through `filter`", "{through_filter:,.0f}"),
            ("NumPy", "{numpy_steps_per_second:,.0f}"),
        ),
        rows="speed",
        prepare=telling,
    ),
]
