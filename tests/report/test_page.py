"""The page as a file."""

import os
import re
import subprocess
import sys

import pytest
from markup_reader import HOSTILE, read
from sample_report import sample_report

from kmcf.report import Report, Section, Text, write_atomically


def test_nothing_is_loaded_from_elsewhere():
    reader = read(sample_report().html())
    for attributes in reader.attributes:
        for name in ("src", "href"):
            assert (attributes.get(name) or "#").startswith(("#", "data:"))
    plain = Report("r", "c", []).html()
    assert "url(" not in plain
    assert "@import" not in plain


def test_a_page_is_below_three_megabytes_and_has_the_library_once():
    page = sample_report().html()
    assert len(page.encode()) < 3e6
    assert page.count("BEGIN bokeh.min.js") == 1


def test_ids_are_unique_and_links_lead_to_them():
    texts = [Text("t")]
    titles = ["Results", "Results", "results 2", "Content", "Summary", "1", "?"]
    reader = read(Report("r", "c", [Section(title, texts) for title in titles], summary="s").html())
    ids = [one["id"] for one in reader.attributes if "id" in one]
    assert len(ids) == len(set(ids))
    links = [one["href"] for one in reader.attributes if (one.get("href") or "").startswith("#")]
    assert len(links) == 1 + len(titles)
    assert {link[1:] for link in links} <= set(ids)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_words_stay_words(hostile):
    report = Report(hostile, hostile, [Section(hostile, [])] * 2, summary=hostile, versions={hostile: hostile})
    reader = read(report.html())
    assert reader.tags.count("script") == 1
    assert "img" not in reader.tags


def test_header_names_title_date_command_and_versions():
    words = " ".join(read(sample_report().html()).words)
    for expected in ("Localisation of a person", "2026-01-02 03:04 UTC", "kmcf reproduce synthetic", "NumPy 2.1.0"):
        assert expected in words


def test_pages_without_drawings_are_small():
    assert len(Report("r", "c", []).html()) < 40_000


def test_writing_replaces_the_file_and_leaves_nothing_beside_it(tmp_path):
    path = tmp_path / "new" / "report.html"
    for words in ("first", "second"):
        Report("r", "c", [Section(words, [])]).write(path)
    assert re.search("second", path.read_text())
    assert os.listdir(path.parent) == ["report.html"]


class Broken:
    def html(self, name):
        raise RuntimeError("drawing failed")


def test_a_failure_leaves_the_old_report(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("old")
    with pytest.raises(RuntimeError, match="drawing failed"):
        Report("r", "c", [Section("s", [Broken()])]).write(path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["report.html"]


def test_a_failing_move_leaves_no_draft(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError("disk is gone")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="disk is gone"):
        write_atomically(tmp_path / "a", b"bytes")
    assert os.listdir(tmp_path) == []


def test_files_are_as_readable_as_others(tmp_path):
    (tmp_path / "plain").write_text("")
    written = write_atomically(tmp_path / "ours", "")
    assert written.stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_text_that_utf8_cannot_say_does_no_harm(tmp_path):
    Report("lone \ud800 surrogate", "c", []).write(tmp_path / "r.html")


def test_the_library_that_draws_is_imported_where_it_is_needed():
    script = "import sys, kmcf, kmcf.report; print({'bokeh', 'jinja2'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.slow
@pytest.mark.parametrize("library", ["bokeh.plotting", "bokeh.models", "bokeh.resources"])
def test_without_the_library_one_sentence_names_the_extra(library, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=r"this needs bokeh; install it with: pip install 'kmcf\[report\]'"):
        sample_report().write(tmp_path / "r.html")
    assert os.listdir(tmp_path) == []
