"""A report with one of everything, used by the tests that look at it in a browser."""

from __future__ import annotations

import struct
import zlib
from datetime import UTC, datetime

import numpy as np

from kmcf import report


def tiny_png(width=60, height=40):
    """A gradient, written byte by byte."""
    lines = ([channel for x in range(width) for channel in (4 * x % 256, 6 * y % 256, 120)] for y in range(height))
    rows = b"".join(b"\0" + bytes(line) for line in lines)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def sample_report():
    return report.Report(
        "Localisation of a person by radio",
        "kmcf reproduce synthetic --models 1a 2a 3a --n 100 200 400 800 --repetitions 20 --jobs 2 --out results",
        [
            report.Section(
                "Errors",
                [
                    report.Text("Lines are means over `20` repetitions.\n\nBars: standard errors."),
                    error_chart(),
                    error_table(),
                ],
            ),
            report.Section("Checked statements", [statements()]),
            report.Section(
                "Kinds of charts", [report.SideBySide([stem_chart(), bar_chart(), band_chart(), picture()])]
            ),
            report.Section("Map", [map_chart(), player()]),
        ],
        summary="KMCF follows the state with a mean error of 1.05 m, which is 0.3 m less than the next best.",
        versions={"kmcf": "0.2.0", "NumPy": "2.1.0", "Python": "3.12.1", "seed": "0"},
        date=datetime(2026, 1, 2, 3, 4, tzinfo=UTC),
    )


def error_chart():
    sizes = np.array([100, 200, 400, 800])
    names = ("KMCF", "kNN-PF", "GP-PF", "KBR filter", "oracle particle filter")
    series = []
    for k, name in enumerate(names):
        mean = 0.8 + (0.12 * k + 0.1) * (100 / sizes) ** 0.5
        series.append(report.Series(name, sizes, mean, mean - 0.02, mean + 0.02, dashed=k == 4))
    return report.Chart(
        "RMSE over the number of examples",
        report.Axis("number of examples n", log=True),
        report.Axis("RMSE of the posterior mean", "m"),
        series,
        caption="Model 1a. Bars: one standard error of 20 repetitions.",
    )


def error_table():
    rows = [
        ["1a", report.Estimate(0.896, 0.012), report.Estimate(1.045, 0.02), report.Estimate(0.847, 0.01), 12.3],
        ["2a", report.Estimate(1.289, 0.03), report.Estimate(1.574, 0.02), report.Estimate(2.341, 0.1), 7.0],
        ["3a", report.Estimate(0.875, 0.01), report.Estimate(1.428, 0.02), None, 100.5],
    ]
    return report.Table(
        ["model", "KMCF", "kNN-PF", "GP-PF", "time per step (ms)"],
        rows,
        caption="RMSE ± standard error; the lowest of each row is marked.",
        best="lowest",
        within="row",
    )


def statements():
    verdict = report.Verdict
    return report.Statements(
        [
            report.Statement(
                "KMCF is better than kNN-PF on all models.", verdict.HOLDS, "0.896 < 1.045 (p = 0.001)", "Section 6.2"
            ),
            report.Statement("GP-PF is best on 2a.", verdict.FAILS, "2.341 ± 0.10 against 1.289 ± 0.03", "Section 6.2"),
            report.Statement("The curves cross at n = 400.", verdict.UNCLEAR, "difference 0.01 ± 0.02"),
        ]
    )


def stem_chart():
    x = np.linspace(-3, 3, 25)
    return report.Chart(
        "Weights",
        report.Axis("state x"),
        report.Axis("weight"),
        [
            report.Series("weights", x, np.sin(2 * x) * np.exp(-(x**2) / 4), kind="stems"),
            report.Series("points", x[::3], 0.1 * x[::3], kind="points"),
        ],
    )


def bar_chart():
    return report.Chart(
        "Time per step",
        report.Axis("method", categories=["KMCF", "low20", "sub50", "kNN-PF"]),
        report.Axis("time per step", "ms", log=True),
        [
            report.Series("n = 200", range(4), [1.2, 0.4, 0.2, 3.0], kind="bars"),
            report.Series("n = 400", range(4), [5.1, 0.8, 0.2, 3.1], kind="bars"),
        ],
    )


def band_chart():
    t = np.arange(200.0)
    y = np.sin(t / 20)
    return report.Chart(
        "Error over time",
        report.Axis("time", "s"),
        report.Axis("error", "m"),
        [
            report.Series("estimate", t, y, y - 0.3, y + 0.3, spread="band"),
            report.Series("truth", t, np.cos(t / 20), dashed=True),
        ],
    )


def picture():
    return report.Image(tiny_png(), "A colour gradient", "What the camera saw", "At the worst moment.")


WALLS = [[0, 0, 12, 0], [12, 0, 12, 7], [12, 7, 0, 7], [0, 7, 0, 0], [4, 0, 4, 3], [8, 7, 8, 4]]


def walk(length=60):
    angle = np.linspace(0, 2 * np.pi, length)
    return np.column_stack([6 + 4.5 * np.cos(angle), 3.5 + 2.4 * np.sin(angle)])


def map_chart():
    truth = walk()
    estimate = truth + 0.25 * np.random.default_rng(0).normal(size=truth.shape)
    error = np.linalg.norm(truth - estimate, axis=1)
    times = np.arange(len(truth)) * 1.0
    covariances = np.tile([[0.06, 0.02], [0.02, 0.03]], (len(truth), 1, 1))
    examples = np.random.default_rng(1).uniform([0.3, 0.3], [11.7, 6.7], size=(150, 2))
    return report.MapChart(
        "True and estimated path",
        [
            report.MapPath("KMCF", estimate, times, error, covariances),
            report.MapPath("truth", truth, times, dashed=True),
        ],
        walls=WALLS,
        points={"examples": examples},
        caption="Ellipses hold 95 % of the belief.",
    )


def player(frames=12):
    rng = np.random.default_rng(2)
    examples = rng.uniform([0.3, 0.3], [11.7, 6.7], size=(150, 2))
    made = []
    for t, truth in enumerate(walk(frames)):
        weights = np.exp(-np.sum((examples - truth) ** 2, axis=1)) - 0.005
        weights /= weights.sum()
        herded = examples[np.argsort(-weights)[:8]]
        made.append(
            report.Frame(
                f"t = {t} s, error 0.{t} m",
                examples,
                weights,
                truth + rng.normal(size=(60, 2)),
                herded,
                truth,
                weights @ examples,
            )
        )
    return report.Player(
        "The belief, step by step", made, walls=WALLS, milliseconds=40, caption="The area of a disc is its weight."
    )
