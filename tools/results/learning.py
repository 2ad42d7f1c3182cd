"""Tables of docs/results/learning.md and of adaptation/README.md."""

from functools import partial

from .rendering import Row, Table, Template, each, means, pivot

ERROR = ("{@[mean]:.3f} ± {@[standard_error]:.3f}", "{@[mean]:.3f}")
KERNELS = ("default", "examples alone", "plain", "learnt", "learnt, importance-weighted rule", "on particles")
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


def false_alarms(rows: list[Row]) -> list[Row]:
    """Put numbers of examples side by side, as counts; add all models."""
    counted = [row | {"model": row["problem"].removeprefix("model "), "size": f"n{row['n']}"} for row in rows]
    for size in dict.fromkeys(row["size"] for row in counted):
        some = [row for row in counted if row["size"] == size]
        (mean,) = means([row | {"model": "all"} for row in some], ["model", "size"])
        counted.append(mean | {"runs": sum(row["runs"] for row in some)})
    for row in counted:
        row["share"] = row["noticed"] if row["model"] == "all" else None
        row["reported"] = round(row["noticed"] * row["runs"])
    return pivot(counted, ["model"], ["size"])


def shares_at(n: int) -> list[tuple[str, Template]]:
    """Return the columns for one number of examples."""
    count = f"{{n{n}[reported]}} of {{n{n}[runs]}}"
    unchanged = (f"n = {n}: unchanged", (f"{count} ({{n{n}[share]:.1%}})", count))
    return [unchanged, ("shifted", f"{{n{n}[shifted]:.0%}}"), ("doubled", f"{{n{n}[doubled]:.0%}}")]


def inside(rows: list[Row]) -> list[Row]:
    """Count the intervals that hold the truth."""
    counted = []
    for row in rows:
        held = row["inside"] if row["inside"] is None else round(row["inside"] * row["data_sets"])
        counted.append(row | {"held": held, "named": row["method"].replace("|", "\\|")})
    return counted


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
    Table(
        "false-alarms",
        "adaptation/bench_adaptation.json",
        (
            ("model", "{model}"),
            *(column for n in (100, 300, 1000) for column in shares_at(n)),
        ),
        rows="false_alarms",
        prepare=false_alarms,
    ),
    Table(
        "transitions",
        "adaptation/bench_transitions.json",
        (
            ("problem", "{problem}"),
            ("parameter", "{parameter}"),
            ("truth", "{truth:.2f}"),
            ("method", "{named}"),
            ("mean", "{mean:.2f}"),
            ("sd", ("{sd:.2f}", "–")),
            ("root mean square error", "{rmse:.2f}"),
            ("in 95 % interval", ("{held} of {data_sets}", "–")),
            ("data sets", "{data_sets}"),
        ),
        prepare=inside,
    ),
]
