"""``kmcf bench``: what is typed, printed and saved. The studies themselves have tests of their own."""

import importlib
import json
import math

import pytest
from lab_commands import invoke, succeed

from kmcf_lab.bench import baselines, engines
from kmcf_lab.bench.alarms import AlarmRow
from kmcf_lab.bench.calibration import CalibrationCell
from kmcf_lab.bench.defaults import DefaultsRow
from kmcf_lab.bench.endurance import EnduranceRow
from kmcf_lab.bench.fit import FitRow
from kmcf_lab.bench.intervals import IntervalRow
from kmcf_lab.bench.kernels import KernelRow
from kmcf_lab.bench.kidnapping import KidnappingRow
from kmcf_lab.bench.kidnapping_calm import CalmRow
from kmcf_lab.bench.ranks import RankRow
from kmcf_lab.bench.smoothing import SmoothingRow
from kmcf_lab.bench.smoothing_intervals import CoverageRow
from kmcf_lab.bench.speeds import SpeedRow
from kmcf_lab.bench.tolerance import ToleranceRow
from kmcf_lab.bench.tuning import TuningRow
from kmcf_lab.bench.world import WorldRow
from kmcf_lab.commands.bench import _STUDIES, Study

ERRORS = [KernelRow("1a", "default", 1.5, 0.25), KernelRow("1a", "plain", 2.5, math.nan)]
MEASURED = {
    "fit": ({"fit.measure_fit": FitRow(77, (5, 4), 3.0, 2.0, 0.5, 0.125)}, "77 5, 4 3.00 2.00 1.50 0.50 0.12"),
    "defaults": (
        {
            "defaults.measure_defaults": [
                DefaultsRow("counts", 77, 9, "default", "learnt", "compressed", (5, 4), 3.0, 1.25, 0.5, 0.01)
            ]
        },
        "counts 77 default learnt compressed 5, 4 3.0 1.25 0.5 0.01",
    ),
    "ranks": (
        {"ranks.measure_ranks": [RankRow("1a", None, "features", 1.0, 0.5), RankRow("1a", 10, "features", 2.0, 0.5)]},
        "1a 1.000 ± 0.500 2.000 ± 0.500",
    ),
    "tolerance": (
        {"tolerance.measure_tolerances": [ToleranceRow("1a", 9, 0.1, 0.1, "auto", (2, 2), 0.01, k) for k in (1, 3)]},
        "auto 1.0e-02 3.0e+00",
    ),
    "world": (
        {"world.measure_world": [WorldRow(77, "known", "local", 1.0, 9.5, 2.5, 30.0, 0.75, 0.5)]},
        "77 known local 1.00 9.5 2.50 30 0.75 0.50",
    ),
    "kernels": ({"kernels.measure_models": ERRORS}, "default 1.500 ± 0.250 plain 2.500"),
    "rooms": (
        dict.fromkeys([f"rooms.measure_{name}" for name in ("ble", "dependent", "uncovered")], ERRORS),
        "default 1.500 ± 0.250 plain 2.500",
    ),
    "speeds": ({"speeds.measure_speeds": [SpeedRow("Pose()", "poses", 77, 1.5, 0.25)]}, "Pose() poses 77 1.50 0.2"),
    "intervals": ({"intervals.measure_intervals": [IntervalRow("1a", 77, 0.9, 0.01, 0.8)]}, "1a 77 0.900 0.010 0.800"),
    "endurance": (
        {"endurance.measure_endurance": [EnduranceRow("steps", 77, 76, "1 MB", "NaN at step 3", 2.0)]},
        "steps 77 76 1 MB 2 failed: steps: NaN at step 3",
    ),
    "calibration": (
        {
            "calibration.measure_calibration": [
                CalibrationCell("1a", 77, 0, method, 0.9, 1.25, 0.5, 2.0, 1.0, (1,) * 20)
                for method in ("KMCF", "GP-PF", "oracle")
            ]
        },
        "1a 77 KMCF 0.900 nan 1.25 1.00 1.00",
    ),
    "kidnapping": (
        {
            "kidnapping.measure_kidnapping": [KidnappingRow("1a", "default", 3.0, 0.75, 0.5, 0.001, 4)],
            "kidnapping_calm.measure_calm": [CalmRow("1a", 200, "on examples", 0.8, 0.002, 0.001, 0.001, 20)],
        },
        "1a default 3 75% 0.500 4",
    ),
    "alarms": (
        {"alarms.measure_alarms": [AlarmRow("model 1a", "examples", "alarms", 0.5, 0.25, 3)]},
        "model 1a 0.500 ± 0.250",
    ),
    "smoothing": (
        {
            "smoothing.measure_smoothing": [SmoothingRow("1a", 4, 0.9, 0.6, -0.3, 0.01, 0.6, 0.5, 2.0, 0.25)],
            "smoothing_intervals.measure_coverage": [CoverageRow("1a", 77, 3, 0.9, 0.8, 0.95, 0.94, 0.93, 4.5, 4.0)],
        },
        "1a 0.900 0.600 33.3% -0.300 ± 0.010 1.500 1.200 2.0 25.0%",
    ),
    "tuning": ({"tuning.measure_tuning": [TuningRow("1a", 0, 77, 9, 2, 3.0, 1.5, 1.25)]}, "1a 77 9 2 3.0 1.500 1.250"),
}


@pytest.fixture(autouse=True)
def _fewer_examples_in_the_room(monkeypatch):
    """The figure of ``bench alarms`` is drawn from filters that are fitted for it."""
    monkeypatch.setattr("kmcf_lab.bench.alarm_room.EXAMPLES", 40)


@pytest.mark.parametrize("study", MEASURED)
def test_rows_are_printed_and_saved(study, monkeypatch, tmp_path):
    functions, line = MEASURED[study]
    for place, rows in functions.items():
        module, name = place.split(".")
        found = importlib.import_module(f"kmcf_lab.bench.{module}")
        monkeypatch.setattr(found, name, lambda *_, rows=rows, **__: rows)
    result = succeed("bench", study, "--n", "77", "--out", tmp_path)
    assert line in " ".join(result.output.split())
    saved = json.loads((tmp_path / f"bench_{study}.json").read_text())
    assert saved["command"].startswith("kmcf")
    assert len(saved["rows"]) >= 1


def test_engines_are_measured_printed_and_saved(monkeypatch, tmp_path):
    some = {name: engines.ENGINE_VARIANTS[name] for name in ("literal", "compressed")}
    monkeypatch.setattr(engines, "ENGINE_VARIANTS", some)
    result = succeed("bench", "--n", "50", "--model", "1a", "--steps", "5", "--out", tmp_path)
    assert "compressed" in result.output
    assert "where the time of a step goes" in result.output
    assert (tmp_path / "bench.json").exists()
    assert (tmp_path / "bench.png").exists()


def test_baselines_are_measured_printed_and_saved(monkeypatch, tmp_path):
    monkeypatch.setattr(baselines, "LENGTH", 5)
    monkeypatch.setattr(baselines, "TRANSITIONS", 50)
    result = succeed("bench", "baselines", "--quick", "--n", "30", "--model", "1a", "--out", tmp_path)
    assert "kNN-PF" in result.output
    assert "n = 30, untuned" in " ".join(result.output.split())
    saved = json.loads((tmp_path / "bench_baselines.json").read_text())
    assert len(saved["rows"]) == 8


def test_jax_is_printed_and_saved(monkeypatch, tmp_path):
    pytest.importorskip("jax", reason="JAX (the extra kmcf[jax]) is not installed")
    from kmcf_lab.bench import jax as study
    from kmcf_lab.bench import jax_variants

    variant = jax_variants.VariantRow("smoothing", 77, 100, "float64", 3, 5, 1.0, 0.1, 150.0, 20.0)
    monkeypatch.setattr(jax_variants, "measure_variants", lambda *_, **__: [variant])
    speed = study.JaxRow(77, (5, 4), "float64", 3, "plain herding", 1.0, 1234.0, 0.5, 900.0, 100.0)
    monkeypatch.setattr(study, "measure_speed", lambda *_, **__: [speed])
    monkeypatch.setattr(study, "measure_algebras", lambda *_, **__: [speed])
    monkeypatch.setattr(study, "measure_parts", lambda n, batch, report: [study.PartRow("solve", batch, 1.0)])
    monkeypatch.setattr(study, "measure_precision", lambda n, steps: study.PrecisionRow(n, 1e-6, 1e-5, 0.5, 0.5))
    first = study.FirstRow(77, (5, 4), 100, 3, 2.5, 0.5)
    monkeypatch.setattr(study, "measure_first", lambda *_, **__: first)
    result = succeed("bench", "--engine", "jax", "--n", "77", "--batch", "3", "--out", tmp_path)
    assert "77 5, 4 float64 3 1,234 0.500 900 100 1.0" in " ".join(result.output.split())
    saved = json.loads((tmp_path / "bench_jax.json").read_text())
    assert {"device", "versions", "speed", "ways", "parts", "first", "variants", "precision"} <= set(saved)
    assert "the first call took 2.5 s" in " ".join(result.output.split())
    assert saved["parts"][0]["batch"] == 3


def test_every_study_has_a_function():
    assert set(_STUDIES) == set(Study)


@pytest.mark.parametrize("words", [("moon",), ("--n", "5"), ("--steps", "1"), ("--trials", "-1")])
def test_bad_words_are_refused(words, tmp_path):
    assert invoke("bench", *words, "--out", tmp_path).exit_code == 2
    assert not list(tmp_path.iterdir())
