"""Results of Section 6.2, made up so that the truth is known."""

import numpy as np

from kmcf.datasets import PAPER_MODELS
from kmcf_lab.cells import Cell, Result
from kmcf_lab.synthetic.methods import METHODS
from kmcf_lab.synthetic.scaling import ALGORITHM_5, STABLE_STEP, WHOLE_STEP
from kmcf_lab.synthetic.times import NO_HERDING, OUR_KBR, PRINTED_KBR, timed_names


def cell(method, trials=0, model="1a", n=40, repetition=0):
    where = {"model": model, "n": n, "repetition": repetition, "steps": 100, "seed": 0}
    return Cell("accuracy", {**where, "method": method, "trials": trials})


def made_up(errors, models=PAPER_MODELS, sizes=(100, 200), repetitions=12, times=None):
    """Give every method its mean error by ``errors(model, n, method)``, with common and own noise."""
    rng, results = np.random.default_rng(0), []
    for model in models:
        for n in sizes:
            for repetition in range(repetitions):
                common = rng.normal(scale=0.2)
                for method in METHODS:
                    value = errors(model, n, method) * np.exp(common + 0.02 * rng.normal())
                    row = {"rmse": value, "fit_seconds": 1.0, "rejected": 0, "broken": 0}
                    results.append(Result(cell(method, 0, model, n, repetition), (row,), 1.0, "0"))
    for model in ("1a", "1b", "3a") if times else ():
        for n in sizes:
            for repetition in range(3):
                rows = [
                    {"method": name, "milliseconds": times(model, n, name) * np.exp(0.01 * rng.normal())}
                    for name in timed_names(list(METHODS))
                ]
                where = Cell("times", {"model": model, "n": n, "repetition": repetition})
                results.append(Result(where, tuple(rows), 1.0, "0"))
    if times:
        for n in (1000, 4000, 16000):
            for repetition in range(3):
                rows = [
                    {"method": name, "milliseconds": times("1a", n, name) * np.exp(0.01 * rng.normal())}
                    for name in (ALGORITHM_5, WHOLE_STEP, STABLE_STEP)
                ]
                where = Cell("scaling", {"model": "1a", "n": n, "repetition": repetition})
                results.append(Result(where, tuple(rows), 1.0, "0"))
    return results


def as_the_paper_says(model, n, method):
    level = 0.8 if model.endswith("b") and method != "KBR" else 1.3 if model.endswith("b") else 1.0
    linear, vector = model in ("1a", "1b"), model in ("3a", "3b")
    factors = {
        "GP-PF": 0.9 if linear else 2.0,
        "KBR": 1.3,
        "kNN-PF": 1.5,
        "KMCF-low10": 30.0,
        "KMCF-sub50": 1.5 if vector else 1.12,
        "KMCF-sub100": 1.3 if vector else 1.02,
        "KMCF-low20": 1.3 if vector else 1.02,
        "oracle": 0.5,
    }
    return level * factors.get(method, 1.0)


def times_as_the_paper_says(model, n, method):
    if "sub" in method or method == "kNN-PF":
        return 1.0
    if "low" in method:
        return n / 100
    rest = {NO_HERDING: 0.3, "KBR": 0.8, PRINTED_KBR: 0.8, OUR_KBR: 0.8}
    return (n / 50) ** 2 * rest.get(method, 1.0)
