"""What the tests of the commands share: made-up walks as files, and a way to run commands."""

import csv
import json
import os
import sys

import numpy as np

import kmcf

RNG = np.random.default_rng(5)


def invoke(*words, **settings):
    """Run a command in this process."""
    from typer.testing import CliRunner

    from kmcf.cli.app import app

    return CliRunner().invoke(app, [str(word) for word in words], prog_name="kmcf", **settings)


def succeed(*words, **settings):
    result = invoke(*words, **settings)
    assert result.exit_code == 0, result.output + repr(result.exception)
    return result


def fail(*words, code=1, **settings):
    """Run a command that must fail with one sentence on stderr; return the sentence."""
    result = invoke(*words, **settings)
    assert result.exit_code == code, result.output + repr(result.exception)
    (line,) = [line for line in result.stderr.splitlines() if not line.startswith("note:")]
    assert line.startswith("kmcf ")
    assert line.endswith((".", "?"))
    return line.partition(": ")[2]


def command(*words):
    """Return the words that run a command in another process."""
    return [sys.executable, "-m", "kmcf", *map(str, words)]


def environment():
    return {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": ""}


def walk(steps, seed):
    """Return a random walk in the plane and three noisy distances to it."""
    rng = np.random.default_rng(seed)
    states = np.cumsum(rng.normal(scale=0.3, size=(steps, 2)), axis=0)
    posts = np.array([[0.0, 3.0], [3.0, -1.0], [-3.0, -2.0]])
    distances = np.linalg.norm(states[:, None] - posts, axis=2)
    return states, distances + 0.1 * rng.normal(size=distances.shape)


def write_csv(path, states, observations, **more):
    """Write a walk; ``more`` are further columns."""
    columns = {
        "t": np.arange(len(states)) * 0.5,
        "x": states[:, 0],
        "y": states[:, 1],
        **{f"d{j}": observations[:, j] for j in range(observations.shape[1])},
        **more,
    }
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def read_csv(path_or_text):
    text = path_or_text if isinstance(path_or_text, str) else path_or_text.read_text()
    return list(csv.DictReader(text.splitlines()))


def numbers(rows, *names):
    """Return columns of what was written, (n, d)."""
    return np.array([[float(row[name] or "nan") for name in names] for row in rows])


def by_hand(train, timed=True, **settings):
    """Fit what ``kmcf fit -s x,y -y d* -t t`` should have fitted (or without ``-t``), with the Python API only."""
    states, observations = (np.concatenate(part) for part in zip(*train, strict=True))
    times = [0.5 * np.arange(len(one[0])) for one in train] if timed else None
    transition = kmcf.transitions.GaussianRandomWalk().fit([one[0] for one in train], times=times)
    flt = kmcf.KernelMonteCarloFilter(transition, random_state=0, **settings)
    return flt.fit(states, observations)


TRAIN = [walk(70, 0), walk(50, 1)]
TEST = walk(25, 2)


def write_training(folder):
    return [write_csv(folder / f"train{k}.csv", *one) for k, one in enumerate(TRAIN)]


FIT = ("-s", "x,y", "-y", "d*", "-t", "t")


def fit_model(folder, *words):
    """Fit the usual model; return its path and what was told."""
    model = folder / "model.kmcf"
    result = succeed("fit", *write_training(folder), *FIT, "-o", model, "--json", *words)
    return model, json.loads(result.stdout)
