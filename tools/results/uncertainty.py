"""Tables of docs/results/uncertainty.md."""

from statistics import fmean

from .rendering import Row, Table, Template, grouped, pivot

KIDNAPPING = (
    ("data", "{problem}"),
    ("method", "{method}"),
    ("observations until back, median", "{median:g}"),
    ("back within 30", "{back:.0%}"),
    ("mean error without a jump", "{error:.3f}"),
    ("looks elsewhere without a jump", "{looks:.2%}"),
    ("jumps", "{jumps}"),
)
RECORDED = {"ble": "Bluetooth tracks", "mrclam": "robots among posts", "spikes": "spikes on a linear track"}
HELD = {"within": "intervals", "inside": "ellipse"}
PARTLY = ", examples at |x| ≤ 2"
ROOM = {
    "flagged_before_large_error": "flagged before a large error, %",
    "flagged_at_all": "flagged at all, %",
    "alarms_inside": "alarms while inside, %",
    "in_intervals_inside": "states in their intervals, both coordinates, while inside, %",
    "in_intervals_beyond": "beyond the examples, %",
}


def both(quantity: str, *, error: bool = True) -> Template:
    """Return the template for a share in per cent: on examples / on particles."""
    ends = ("value", "standard_error") if error else ("value",)
    sides = (f"{quantity} {side}".strip() for side in ("examples", "particles"))
    return " / ".join(" ± ".join(f"{{{side}[{end}]!p:.1f}}" for end in ends) for side in sides), "– / –"


def calibrated(rows: list[Row]) -> list[Row]:
    """Put the filter as fitted and calibrated side by side."""
    return [row for row in pivot(rows, ["model", "n"], ["method"]) if row["KMCF, calibrated"]]


def recorded(rows: list[Row]) -> list[Row]:
    """Return a line for each recorded data set: means over sequences, as fitted and calibrated."""
    found = []
    for first, group in grouped(rows, ["data"]):
        kinds = {row["intervals"]: [one for one in group if one["intervals"] == row["intervals"]] for row in group}
        line: Row = {
            f"{what} {kind}": fmean(one[what] for one in some) for kind, some in kinds.items() for what in HELD
        }
        line |= {f"{what} least": min(one[what] for one in kinds["calibrated"]) for what in HELD}
        steps = sum(int(one["steps"]) for one in kinds["calibrated"])
        found.append({**line, "data": RECORDED[first["data"]], "sequences": len(kinds["calibrated"]), "steps": steps})
    return found


def other_methods(rows: list[Row]) -> list[Row]:
    """Keep the numbers of examples at which other methods were measured."""
    return [row for row in pivot(rows, ["model", "n"], ["method"]) if row["GP-PF"]]


def alarms(rows: list[Row]) -> list[Row]:
    """Keep whole models and the tracks, the latter last."""
    kept = [row for row in rows if not row["problem"].endswith(PARTLY) and not row["problem"].startswith("room")]
    named = [row | {"problem": row["problem"].removeprefix("model ")} for row in kept]
    return pivot(named, ["problem"], ["quantity", "filter"])


def partly_covered(rows: list[Row]) -> list[Row]:
    """Keep the models whose examples cover a part of the states only."""
    kept = [row for row in rows if row["problem"].endswith(PARTLY)]
    named = [row | {"problem": row["problem"].removeprefix("model ").removesuffix(PARTLY)} for row in kept]
    return pivot(named, ["problem"], ["quantity", "filter"])


def room(rows: list[Row]) -> list[Row]:
    """Keep the room, a line for each quantity."""
    kept = [row for row in rows if row["problem"].startswith("room") and row["quantity"] in ROOM]
    found = {row["quantity"]: row for row in pivot(kept, ["quantity"], ["filter"])}
    return [found[name] | {"words": words} for name, words in ROOM.items()]


TABLES = [
    Table(
        "intervals",
        "intervals/bench_intervals.json",
        (
            ("model", "{model}"),
            ("n", "{n}"),
            ("95 % interval", "{interval:.3f} ± {standard_error:.3f}"),
            ("mean ± 1.96 sd", "{normal_band:.3f}"),
        ),
    ),
    Table(
        "calibration",
        "calibration/bench_calibration.json",
        (
            ("model", "{model}"),
            ("n", "{n}"),
            ("as fitted", "{KMCF[inside]:.3f} ± {KMCF[spread]:.3f}"),
            ("width", "{KMCF[width]:.2f}"),
            ("calibrated", "{KMCF, calibrated[inside]:.3f} ± {KMCF, calibrated[spread]:.3f}"),
            ("width", "{KMCF, calibrated[width]:.2f}"),
            ("CRPS, as fitted → calibrated", "{KMCF[crps]:.2f} → {KMCF, calibrated[crps]:.2f}"),
        ),
        prepare=calibrated,
    ),
    Table(
        "calibration-others",
        "calibration/bench_calibration.json",
        (
            ("model", "{model}"),
            *((name, f"{{{name}[inside]:.3f}}, {{{name}[width]:.2f}}") for name in ("kNN-PF", "GP-PF", "oracle")),
        ),
        prepare=other_methods,
    ),
    Table(
        "calibration-recorded",
        "localize/calibrated/folds.csv",
        (
            ("data", "{data}"),
            ("sequences", "{sequences}"),
            ("steps", "{steps}"),
            *(
                column
                for what, words in HELD.items()
                for column in (
                    (f"in 95 % {words}, as fitted", f"{{{what} as fitted!p:.1f}} %"),
                    ("calibrated", f"{{{what} calibrated!p:.1f}} %"),
                    ("the least of a sequence", f"{{{what} least!p:.1f}} %"),
                )
            ),
        ),
        prepare=recorded,
    ),
    Table(
        "alarms",
        "alarms/bench_alarms.json",
        (
            ("data", "{problem}"),
            ("alarms, %", both("alarms")),
            ("where covered, %", both("alarms_where_covered")),
            ("well inside, %", both("alarms_well_inside")),
            ("shift within 20, %", both("shift_within_20", error=False)),
            ("within 50, %", both("shift_within_50", error=False)),
        ),
        prepare=alarms,
    ),
    Table(
        "alarms-partly-covered",
        "alarms/bench_alarms.json",
        (
            (r"examples at \|x\| ≤ 2", "{problem}"),
            ("states beyond 3 with an alarm, %", both("beyond_3")),
            ("by the effective sample size alone, %", both("beyond_3_by_ess")),
            ("alarms within 2, %", both("within_2")),
            ("beyond 3 in their intervals, %", both("in_intervals_beyond_3")),
            ("within 2 in theirs, %", both("in_intervals_within_2")),
        ),
        prepare=partly_covered,
    ),
    Table("alarms-room", "alarms/bench_alarms.json", (("room", "{words}"), ("", both(""))), prepare=room),
    Table("kidnapping", "kidnapping/bench_kidnapping.json", KIDNAPPING),
    Table(
        "kidnapping-calm",
        "kidnapping/bench_kidnapping_calm.json",
        (
            ("model", "{model}"),
            ("n", "{n}"),
            *(
                column
                for where in ("on examples", "on particles")
                for column in (
                    (f"RMSE {where}", f"{{{where}[error]:.3f}}"),
                    ("changed by, %", f"{{{where}[loss]!p:.2f}} ± {{{where}[loss_error]!p:.2f}}"),
                    ("looks, %", f"{{{where}[looks]!p:.2f}}"),
                )
            ),
        ),
        prepare=lambda rows: pivot(rows, ["model", "n"], ["method"]),
    ),
]
