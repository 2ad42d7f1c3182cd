"""Tables of docs/results/accuracy.md."""

from .rendering import Row, Table, each, means, pivot

START = {"nan": "NaN", "repeat": "repeated"}


def by_rank(rows: list[Row]) -> list[Row]:
    """Put ranks and readings side by side."""
    named = [row | {"way": f"rank {row['rank']}, {row['reading']}" if row["rank"] else "exact"} for row in rows]
    return pivot(named, ["model"], ["way"])


RANKS = ("exact", *(f"rank {rank}, {reading}" for rank in (10, 20) for reading in ("features", "Algorithm 5")))


def beside_oracles(rows: list[Row]) -> list[Row]:
    """Add what smoothing gains, and ratios to the oracles; errors in pixels have fewer digits."""
    found = []
    for row in rows:
        ratios = {
            f"ratio_{kind}": row[kind] / row[f"oracle_{kind}"] if row[f"oracle_{kind}"] else None
            for kind in ("filtered", "smoothed")
        }
        gain = 1 - row["smoothed"] / row["filtered"]
        found.append(row | ratios | {"gain": gain, "digits": 1 if row["filtered"] > 10 else 3})
    return found


def uncalibrated(rows: list[Row]) -> list[Row]:
    """Keep windows without calibration, and say how they begin."""
    return [row | {"start": START[row["fill"]] if row["k"] > 1 else None} for row in rows if row["how"] != "calibrated"]


def calibrated(cells: list[Row]) -> list[Row]:
    """Compare windows before and after calibration on the tracks that all of them have."""
    first = [one for one in cells if one["k"] == 1 or one["fill"] == "repeat"]
    ways = {(one["k"], one["how"]) for one in first if one["how"] in ("as it is", "calibrated")}
    tracks = {way: {one["track_number"] for one in first if (one["k"], one["how"]) == way} for way in ways}
    common = set.intersection(*tracks.values())
    kept = [one for one in first if (one["k"], one["how"]) in ways and one["track_number"] in common]
    return pivot(means(kept, ["k", "how"], "steps"), ["k"], ["how"])


def by_method(rows: list[Row]) -> list[Row]:
    """Put models side by side, with the range of times."""
    found = []
    for row in pivot(rows, ["method"], ["problem"]):
        times = [one["milliseconds"] for one in rows if one["method"] == row["method"]]
        found.append(row | {"fastest": min(times), "slowest": max(times)})
    return found


def with_mean(rows: list[Row]) -> list[Row]:
    """Add the mean over all models."""
    return [*rows, means([row | {"all": "mean"} for row in rows], ["all"])[0] | {"problem": "mean"}]


MODELS = ("1a", "1b", "2a", "2b", "3a", "3b", "4a", "4b")
TABLES = [
    Table(
        "peers",
        "peers/bench_peers.json",
        (
            ("method", "{method}"),
            *each(MODELS, "{@[mean]:.2f} ± {@[standard_error]:.2f}", "–"),
            ("ms per step", "{fastest:.2f} to {slowest:.2f}"),
        ),
        prepare=by_method,
    ),
    Table(
        "smoothing-intervals",
        "smoothing/bench_smoothing_intervals.json",
        (
            ("model", "{problem}"),
            ("filtered", "{filtered:.3f}"),
            ("smoothed", "{smoothed:.3f}"),
            ("calibrated: filtered", "{filtered_calibrated:.3f}"),
            ("smoothed", "{smoothed_calibrated:.3f}"),
            ("lag 3", "{lagging_calibrated:.3f}"),
            ("score: filtered", "{filtered_score:.2f}"),
            ("smoothed", "{smoothed_score:.2f}"),
        ),
        prepare=with_mean,
    ),
    Table(
        "ranks",
        "ranks/bench_ranks.json",
        (("model", "{model}"), *each(RANKS, "{@[mean]:.3f} ± {@[standard_error]:.3f}")),
        prepare=by_rank,
    ),
    Table(
        "smoothing",
        "smoothing/bench_smoothing.json",
        (
            ("problem", "{problem}"),
            ("filtered", "{filtered:.{digits}f}"),
            ("smoothed", "{smoothed:.{digits}f}"),
            ("gain", "{gain:.1%}"),
            ("difference", "{difference:.{digits}f} ± {standard_error:.{digits}f}"),
            ("÷ oracle filter", "{ratio_filtered:.3f}"),
            ("÷ oracle smoother", "{ratio_smoothed:.3f}"),
            ("cost", "{cost:.1f}"),
            ("left alone", "{unsmoothed:.1%}"),
        ),
        prepare=beside_oracles,
    ),
    Table(
        "windows",
        "windows/bench_windows.json",
        (
            ("k", "{k}"),
            ("start", "{start}"),
            ("how", "{how}"),
            ("mean error, m", "{error:.3f}"),
            ("mean of tracks", "{by_track:.3f}"),
            ("first 5 steps", "{first:.3f}"),
            ("inside 95 %", "{inside:.3f}"),
            ("width, m", "{width:.2f}"),
        ),
        prepare=uncalibrated,
    ),
    Table(
        "windows-calibrated",
        "windows/bench_windows.json",
        (
            ("k", "{k}"),
            ("inside 95 %, as it is", "{as it is[inside]:.3f}"),
            ("width, m", "{as it is[width]:.2f}"),
            ("inside 95 %, calibrated", "{calibrated[inside]:.3f}"),
            ("width, m", "{calibrated[width]:.2f}"),
        ),
        rows="cells",
        prepare=calibrated,
    ),
    Table(
        "window-models",
        "windows/bench_window_models.json",
        (
            ("model", "{model}"),
            ("k", "{k}"),
            ("RMSE", "{rmse:.3f}"),
            ("÷ k = 1", "{ratio:.2f} ± {standard_error:.2f}"),
            ("inside 95 %", "{inside:.3f}"),
            ("width", "{width:.2f}"),
            ("calibrated: inside", "{calibrated_inside:.3f}"),
            ("width", "{calibrated_width:.2f}"),
        ),
    ),
]
