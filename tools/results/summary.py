"""What each page says in short, at its top and in docs/results/README.md, with the numbers of the tables."""

import re
import textwrap
from math import exp, log
from statistics import fmean

from .pages import RESULTS
from .real_data import by_method
from .rendering import Row, cell, read

WIDTH = 118
QUESTIONS = {
    "speed": "How fast is a step?",
    "scale": "How far does it scale?",
    "accuracy": "How accurate is it?",
    "learning": "What does learning gain?",
    "uncertainty": "Can its uncertainty be believed?",
    "real-data": "How well does it work on recorded data?",
    "paper": "Does the paper hold?",
    "operation": "Does it hold up in operation?",
}


def rows(source: str, part: str = "rows", **where: object) -> list[Row]:
    """Return the rows of a file with these values."""
    return [row for row in read(RESULTS / source, part) if all(row[name] == value for name, value in where.items())]


def one(source: str, part: str = "rows", **where: object) -> Row:
    """Return the only row with these values."""
    (row,) = rows(source, part, **where)
    return row


def said(page: str, pattern: str) -> re.Match[str]:
    """Return what another page says, whose line breaks do not matter."""
    found = re.search(pattern, " ".join((RESULTS / page).read_text().split()))
    if not found:
        raise ValueError(f"{page} does not say {pattern!r} any more; mend the summary in tools/results/summary.py")
    return found


def geometric_mean(values: list[float]) -> float:
    """Return the geometric mean.

    Examples
    --------
    >>> geometric_mean([1.0, 4.0])
    2.0
    """
    return exp(fmean(map(log, values)))


def span(shares: list[float]) -> str:
    """Return the smallest and the largest of some shares, in per cent.

    Examples
    --------
    >>> span([0.5, 0.25, 0.3]), span([0.944, 0.94])
    ('25 to 50', '94')
    """
    return " to ".join(dict.fromkeys(f"{100 * share:.0f}" for share in (min(shares), max(shares))))


def speed() -> str:
    """Return time per step with 1000 examples."""
    plain = one("engines-1a/bench.json", n=1000, method="auto")
    many = one("engines-3a/bench.json", n=1000, method="auto, tolerance auto")
    return f"""
        With 1000 examples a step takes {plain["milliseconds"]:.2f} ms where an observation is one number,
        {plain["speed_up"]:.0f} times less than with the literal formulas (the ratio varies between runs); where it is
        ten, with `tolerance="auto"`, {many["milliseconds"]:.1f} ms, {many["speed_up"]:.0f} times less, and posterior
        means change by {many["difference_in_sd"]:.0e} standard deviations (median)."""


def scale() -> str:
    """Return time and memory with a million examples, and speed on a GPU."""
    fit, world = one("fit/bench_fit.json", n=10**6), one("world/bench_world.json", n=10**6, start="unknown")
    fastest = max(row["steps_per_second"] for row in rows("jax/bench_jax.json", "speed", dtype="float64"))
    return f"""
        A million examples are fitted in {fit["seconds"]:.0f} s and {fit["peak_gigabytes"]:.2f} GB, and a step still
        takes {fit["milliseconds_per_step"]:.2f} ms; in a world of a million places
        {world["milliseconds_per_step"]:.1f} ms. One H200 makes {fastest / 1e6:.1f} million filter steps per second in
        double precision."""


def accuracy() -> str:
    """Return what smoothing and windows gain, and what a low rank costs."""
    gains = {row["problem"]: 1 - row["smoothed"] / row["filtered"] for row in rows("smoothing/bench_smoothing.json")}
    models = [gain for name, gain in gains.items() if len(name) == len("1a")]
    alone, three = (one("windows/bench_windows.json", k=k, fill="nan", how="as it is")["by_track"] for k in (1, 3))
    ranks = {(row["model"], row["rank"]): row["mean"] for row in rows("ranks/bench_ranks.json", reading="features")}
    change = max(abs(mean / ranks[model, None] - 1) for (model, rank), mean in ranks.items() if rank == 20)
    return f"""
        Smoothing lowers the error by {span(models)} % on the paper's models and by {100 * gains["BLE tracks"]:.0f} %
        on Bluetooth tracks; there, the last three observations as one lower it from {alone:.2f} to {three:.2f} m, but
        windows cost accuracy where observations are independent given the states. Rank 20 changes the errors of the
        eight models by at most {100 * change:.1f} %."""


def learning() -> str:
    """Return errors with plain and with learnt kernels, what tuning gains, and what adapting repairs."""
    kernels = rows("kernels/bench_kernels.json", problem="geometric mean")
    means = {(row["n"], row["method"]): row["mean"] for row in kernels}
    ratios = [row["tuned"] / row["untuned"] for row in rows("tuning/bench_tuning.json")]
    off = one("adaptation/bench_adaptation.json", change="one receiver -20 dB")
    return f"""
        With 200 examples of the paper's models the untuned error is {means[200, "default"]:.2f} times that of a
        particle filter that knows the likelihood ({means[200, "plain"]:.2f} with plain kernels), with 500
        {means[500, "default"]:.2f} times ({means[500, "plain"]:.2f}). Tuning gains nothing there (tuned ÷ untuned:
        {geometric_mean(ratios):.3f}). Adapting to a Bluetooth receiver that is off by 20 dB, without labels, repairs
        {100 * off["repaired"]:.0f} % of the damage."""


def uncertainty() -> str:
    """Return shares inside intervals, and what alarms notice."""
    few, many = ([row["interval"] for row in rows("intervals/bench_intervals.json", n=n)] for n in (100, 1000))
    after = [row["inside"] for row in rows("calibration/bench_calibration.json", method="KMCF, calibrated", n=100)]
    usual, beyond = (
        [row["value"] for row in rows("alarms/bench_alarms.json", quantity=name, filter="examples")]
        for name in ("alarms", "beyond_3")
    )
    return f"""
        As fitted, 95 % intervals hold {span(few)} % of the states with 100 examples of models 1a and 1b, and
        {span(many)} % with 1000; after `flt.calibrate`, {span(after)} % with 100 examples of the eight models. Alarms
        mark {span(usual)} % of the steps of usual data, and {span(beyond)} % of those far beyond the examples."""


def real_data() -> str:
    """Return errors beside those of the best rival; what is said of other versions is typed here."""

    def compared(data: str, measure: str, digits: str) -> str:
        lines = by_method(rows(f"localize/{data}/folds.csv"))
        own, *others = sorted(lines, key=lambda line: line["method"] != "KMCF")
        best = (max if measure == "share" else min)(others, key=lambda line: line[measure])
        return f"{own[measure]:{digits}} and {best[measure]:{digits}}".replace("%", " %")

    spikes, far = (
        {
            name: fmean(row[measure] for row in rows("localize/spikes/folds.csv", method=name))
            for name in ("kmcf-defaults", "poisson-chosen")
        }
        for measure in ("median", "mean")
    )
    wifi = {
        name: fmean(row["error"] for row in rows("localize/wifine/steps.parquet", method=name))
        for name in ("kmcf", "knn")
    }
    return f"""
        Mean errors of KMCF and of the best other method, untuned: {compared("ble", "mean", ".2f")} m on Bluetooth
        tracks ({compared("ble-tuned", "mean", ".2f")} m with means over several seconds, chosen on training tracks),
        {compared("mrclam", "mean", ".2f")} m for robots among posts (MRCLAM 6; 0.34 m where posts are not
        placed in the world, which the others cannot do). Laser scans, errors below a metre:
        {compared("intel", "share", ".0%")} (Intel), {compared("freiburg", "share", ".0%")} (Freiburg; tuned and
        without placing 77 and 58 %). WiFi scans of three floors: {wifi["kmcf"]:.2f} and {wifi["knn"]:.2f} m (the mean
        of the five nearest); three walks through lifts, which no example covers, carry a third of the errors. On the
        spikes of a rat (transition: its recorded moves) KMCF's median error is
        {spikes["kmcf-defaults"]:.1f} px, that of a filter that knows that spikes are Poisson
        {spikes["poisson-chosen"]:.1f} px (mean {far["kmcf-defaults"]:.0f} and {far["poisson-chosen"]:.0f} px)."""


def paper() -> str:
    """Return how many of the paper's statements hold."""
    first = said("../reproduce.md", r"All (\w+) sentences hold")
    theory = said("../reproduce.md", r"Of (\d+) statements (\d+) hold, (\d+) do not")
    images = said("paper.md", r"Of (\d+) statements of Section 6.3 (\d+) hold, (\d+) do not")
    models = said("synthetic/README.md", r"Of (\d+) checks of Section 6.2, (\d+) hold, (\d+) do not")
    return f"""
        Of Section 6.1 all {first[1]} sentences that were checked hold; of Section 5 {theory[2]} of {theory[1]}
        ({theory[3]} do not); of Section 6.2 {models[2]} of {models[1]} ({models[3]} do not); of Section 6.3, in a
        simulated building, {images[2]} of {images[1]} ({images[3]} do not). The others cannot be decided."""


def operation() -> str:
    """Return what was endured, the service under load, and the time to import."""
    endured = rows("endurance/bench_endurance.json")
    tried, failed = sum(row["tried"] for row in endured), sum(row["tried"] - row["held"] for row in endured)
    shown = cell("{tried:,}", {"tried": tried})
    served = one("serve/bench_serve.json", "measured")
    seconds = one("release/release.json", "seconds")["kmcf.KernelMonteCarloFilter"]
    return f"""
        Of {shown} trials (long runs, kills, interrupts, damaged files) {failed or "none"} failed, after a fault that
        they found had been mended. The service answers {served["per_second"]} observations per second, 99 % within
        {served["p99_ms"]:.0f} ms, and when it is killed loses {served["lost_by_kill"] or "none"} of
        {served["acknowledged_before_kill"]} acknowledged ones. Importing the filter takes {seconds:.2f} s of processor
        time."""


def in_short() -> dict[str, str]:
    """Return the summary of each page."""
    return {
        "speed": speed(),
        "scale": scale(),
        "accuracy": accuracy(),
        "learning": learning(),
        "uncertainty": uncertainty(),
        "real-data": real_data(),
        "paper": paper(),
        "operation": operation(),
    }


def paragraphs() -> dict[str, str]:
    """Return what stands below each marker ``<!-- in short: name -->``; that of README.md lists all pages."""
    short = in_short()
    lines = [f"- **[{question}]({name}.md)** {short[name]}" for name, question in QUESTIONS.items()]
    everything = "\n".join(filled(line, indent="  ") for line in lines)
    return {"all": everything} | {name: filled(words) for name, words in short.items()}


def filled(words: str, indent: str = "") -> str:
    """Break a paragraph into lines, but not between a number and its unit.

    Examples
    --------
    >>> filled(114 * "a" + " 12 % of").splitlines()[1]
    '12 % of'
    """
    joined = re.sub(r"\d (?:%|(?:GB|ms?|s)\b)", lambda found: found[0].replace(" ", "\u00a0"), " ".join(words.split()))
    lines = textwrap.fill(joined, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return lines.replace("\u00a0", " ")
