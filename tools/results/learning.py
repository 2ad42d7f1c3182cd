"""Tables of docs/results/learning.md and of adaptation/README.md."""

from functools import partial

from .rendering import Row, Table, each, means, pivot

ERROR = ("{@[mean]:.3f} ± {@[standard_error]:.3f}", "{@[mean]:.3f}")
KERNELS = ("default", "plain", "learnt", "learnt, importance-weighted rule", "on particles")
UNCOVERED = ", |x| <= 2"


def of_size(n: int, rows: list[Row]) -> list[Row]:
    """Put the methods side by side, for one number of examples."""
    return pivot([row for row in rows if row["n"] == n], ["problem"], ["method"])


def rooms(rows: list[Row]) -> list[Row]:
    """Leave out the models whose examples cover a part of the states only."""
    return [row for row in rows if not row["problem"].endswith(UNCOVERED)]


def uncovered(rows: list[Row]) -> list[Row]:
    """Keep only these."""
    kept = [row for row in rows if row["problem"].endswith(UNCOVERED)]
    return pivot([row | {"model": row["problem"].removesuffix(UNCOVERED)} for row in kept], ["model"], ["method"])


def noticed(rows: list[Row]) -> list[Row]:
    """Say in words whether the change was noticed."""
    return [row | {"noticed": {0.0: "no", 1.0: "yes"}.get(row["noticed"])} for row in rows]


TABLES = [
    *(
        Table(
            f"kernels-models-{n}",
            "kernels/bench_kernels.json",
            ((f"n = {n}", "{problem}"), *each(KERNELS, *ERROR)),
            prepare=partial(of_size, n),
        )
        for n in (200, 500)
    ),
    Table(
        "kernels-rooms",
        "rooms/bench_rooms.json",
        (("problem", "{problem}"), ("method", "{method}"), ("error", "{mean:.3f} ± {standard_error:.3f}")),
        prepare=rooms,
    ),
    Table(
        "kernels-uncovered",
        "rooms/bench_rooms.json",
        (("model", "{model}"), *each(("on examples", "on particles"), *ERROR)),
        prepare=uncovered,
    ),
    Table(
        "tuning",
        "tuning/bench_tuning.json",
        (
            ("model", "{model}"),
            ("seconds per study", "{seconds:.0f}"),
            ("trials pruned", "{pruned:.0f}"),
            ("untuned", "{untuned:.3f}"),
            ("tuned", "{tuned:.3f}"),
        ),
        prepare=partial(means, by=["model"]),
    ),
    Table(
        "adaptation",
        "adaptation/bench_adaptation.json",
        (
            ("problem", "{problem}"),
            ("change", "{change}"),
            ("data sets", "{data_sets}"),
            ("clean", "{clean:.2f}"),
            ("damaged", "{damaged:.2f}"),
            ("without labels", "{unlabelled:.2f}"),
            ("repaired", ("{repaired:.0%}", "–")),
            ("worst ratio", "{worse:.2f}"),
            ("adapted", "{adapted:.0%}"),
            ("30 pairs", "{labelled:.2f}"),
            ("repaired", ("{repaired_labelled:.0%}", "–")),
            ("noticed", ("{noticed}", "–")),
        ),
        prepare=noticed,
    ),
]
