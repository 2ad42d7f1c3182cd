"""The Markdown form of a report."""

from pathlib import Path

from sample_report import sample_report

from kmcf.report import Estimate, Report, Section, SideBySide, Statement, Statements, Table, Text, Verdict
from kmcf.report.markdown import markdown


def test_tables_statements_and_texts_are_written():
    table = Table(["method", "error", "n"], [["KMCF", Estimate(1.234, 0.05), 3], ["a|b", 0.5, None]], "Two methods.")
    statement = Statement("Herding is better.", Verdict.HOLDS, "1 < 2")
    sections = [Section("Result", [Text("Read on."), SideBySide([table]), Statements([statement])])]
    lines = markdown(Report("Trial", "kmcf demo", sections, "In short."), [Path("there/error-curves.png")]).splitlines()
    assert lines[0] == "# Trial"
    for expected in (
        "    kmcf demo",
        "In short.",
        "## Result",
        "Read on.",
        "Two methods.",
        "| method | error | n |",
        "|---|---|---|",
        "| KMCF | 1.234 ± 0.050 | 3 |",
        "| a\\|b | 0.5 |  |",
        "| holds | Herding is better. | 1 < 2 |",
        "![error curves](error-curves.png)",
    ):
        assert expected in lines, expected


def test_what_only_a_page_can_show_is_left_out(tmp_path):
    path = sample_report().write_markdown(tmp_path / "report.md")
    written = path.read_text()
    assert "<" not in written.replace("<=", "").replace(" < ", "")
    titles = [line for line in written.splitlines() if line.startswith("## ")]
    assert titles
    assert set(titles) <= {f"## {section.title}" for section in sample_report().sections}
