"""The tables of docs/results are what their raw numbers say."""

import doctest
import importlib
import json
import re
import shutil
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "docs" / "results"
PAGES = sorted(str(page.relative_to(RESULTS)) for page in RESULTS.rglob("*.md"))
pytest.importorskip("kmcf_lab", reason="the laboratory is not installed")


@pytest.fixture(scope="module")
def tool():
    """Return the module of this name in tools/results."""
    sys.path.insert(0, str(ROOT))
    yield lambda name: importlib.import_module(f"tools.results.{name}")
    sys.path.remove(str(ROOT))


@pytest.fixture(scope="module")
def rewritten(tool):
    tables, paragraphs = tool("specifications").TABLES, tool("summary").paragraphs()
    return lambda page: tool("pages").rewritten(page, tables, paragraphs)


@pytest.mark.parametrize("page", PAGES)
def test_every_table_is_written_from_its_raw_numbers(page, rewritten):
    assert rewritten(RESULTS / page) == (RESULTS / page).read_text(), "run `make results`"


def test_a_report_with_another_number_of_tables_is_refused(tool):
    study, report = tool("reports").study, tool("reports").STUDIES["abc"]
    with pytest.raises(ValueError, match="has 1 tables, the report of kmcf reproduce abc 2"):
        study("abc", report, "# Page\n\n| a |\n|---|\n| 1 |\n")


def test_every_table_has_one_place_and_every_page_its_summary(tool):
    pages = tool("pages")
    found = Counter(name for page in pages.PAGES for name in pages.names(page))
    described = [table.name for table in tool("specifications").TABLES]
    assert found == Counter([*described, *tool("by_hand").BY_HAND])
    shown = Counter(name for page in pages.PAGES for name in re.findall(r"<!-- in short: (.+) -->", page.read_text()))
    assert shown == Counter(list(tool("summary").paragraphs()))  # each once
    for name, question in tool("summary").QUESTIONS.items():
        assert (RESULTS / f"{name}.md").read_text().startswith(f"# {question}\n\n<!-- in short: {name} -->\n")


def test_another_raw_number_gives_another_table(tool, tmp_path):
    """Change one number, and see exactly this one change."""
    (table,) = [one for one in tool("specifications").TABLES if one.name == "intervals"]
    shutil.copytree(RESULTS / "intervals", tmp_path / "intervals")
    path = tmp_path / "intervals" / "bench_intervals.json"
    data = json.loads(path.read_text())
    data["rows"][1]["normal_band"] = 0.12345
    path.write_text(json.dumps(data))
    old, new = (table.render(folder).splitlines() for folder in (RESULTS, tmp_path))
    (line,) = [number for number, (one, other) in enumerate(zip(old, new, strict=True)) if one != other]
    assert line == 3  # heading, rule, first row, this one
    assert old[line].split(" | ")[:-1] == new[line].split(" | ")[:-1]
    assert new[line].split(" | ")[-1] == "0.123 |"


@pytest.mark.parametrize(
    ("above", "sentence"),
    [("Some words.", "has no marker"), ("<!-- nobody knows -->", "nothing says how to write the table 'nobody knows'")],
)
def test_tables_that_nothing_describes_are_refused(above, sentence, rewritten, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"# Page\n\n{above}\n| a | b |\n|---|---|\n| 1 | 2 |\n")
    with pytest.raises(ValueError, match=sentence):
        rewritten(page)


def test_checking_changes_nothing_and_says_so(tool, tmp_path, monkeypatch, capsys):
    main, page = tool("__main__"), tmp_path / "page.md"
    page.write_text(
        (RESULTS / "serve" / "README.md").read_text().replace("| answered | 60000 |", "| answered | 59999 |")
    )
    monkeypatch.setattr(main, "PAGES", [page])
    monkeypatch.setattr(main, "RESULTS", tmp_path)
    assert main.main(check=True) == 1
    assert "differs: page.md" in capsys.readouterr().out
    assert "59999" in page.read_text()
    assert main.main(check=False) == 0
    assert page.read_text() == (RESULTS / "serve" / "README.md").read_text()
    assert main.main(check=True) == 0


@pytest.mark.parametrize("name", ["rendering", "summary"])
def test_examples_run(name, tool):
    assert doctest.testmod(tool(name)).failed == 0
