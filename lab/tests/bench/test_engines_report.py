"""The files of the study of engines, from rows written by hand."""

import json
import math

import kmcf
from kmcf_lab.bench.engines import EngineRow
from kmcf_lab.bench.engines_report import save_engines


def row(method, n, milliseconds, difference):
    shares = {"kernel": 0.2, "solve": 0.8}
    return EngineRow(
        "1a", n, method, method, (5, 4), milliseconds, 1.0, difference, difference, difference, 1.0, shares
    )


def test_results_are_saved_with_what_made_them(tmp_path):
    rows = [row("literal", n, 0.1 * n, 0.0) for n in (50, 100)] + [row("exact", 50, 2.0, 1e-9)]
    rows += [row("kNN-PF", 100, 1.0, math.nan)]
    data, figure = save_engines(rows, tmp_path / "new", "kmcf bench")
    saved = json.loads(data.read_text())
    assert saved["about"]["command"] == "kmcf bench"
    assert saved["about"]["kmcf"] == kmcf.__version__
    assert [(one["method"], one["n"]) for one in saved["rows"]] == [(one.method, one.n) for one in rows]
    assert saved["rows"][-1]["difference_in_sd"] is None
    assert figure.read_bytes().startswith(b"\x89PNG")
    assert figure.stat().st_size > 10_000
