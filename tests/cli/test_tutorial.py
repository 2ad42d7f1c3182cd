"""The commands of the two tutorials run as they stand, one after the other."""

import glob
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from cli_cases import read_csv, succeed

import kmcf

PAGE = Path(__file__).parent.parent.parent / "docs" / "command-line.md"


def commands():
    """Return the lines of the page's shell blocks; what is written into a file comes with the line that says so."""
    text = "".join(re.findall(r"```sh\n(.*?)```", PAGE.read_text(), flags=re.DOTALL))
    return re.findall(r"(cat > \S+ <<'END'\n.*?\n)END\n|([^\n]+)\n", text, flags=re.DOTALL)


def run_line(line, capsys):
    """Do what a shell would do with a line, as far as the page needs it; return what goes to its stdout."""
    given, printed = None, ""
    *parts, target = line.split(" > ") if " > " in line else (line, None)
    for part in parts[0].removesuffix(" || true").split(" | "):
        name, *words = shlex.split(part)
        words = [found for word in words for found in (sorted(glob.glob(word)) or [word])]
        if name == "kmcf":
            printed = succeed(*words, input=given).stdout
        elif name == "python":
            exec(compile(Path(words[0]).read_text(), words[0], "exec"), {})
            printed = capsys.readouterr().out
        elif name == "cat":
            printed = Path(words[0]).read_text()
        else:
            assert name == "head", line
            rows = given if given is not None else Path(words[-1]).read_text()
            printed = "\n".join(rows.splitlines()[: 3 if given else 2])
        given = printed
    if target is not None:
        Path(target).write_text(printed)
        return ""
    return printed


@pytest.mark.slow
def test_the_tutorial_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    printed = []
    for into_file, line in commands():
        if into_file:
            first, _, content = into_file.partition("\n")
            Path(first.split()[2]).write_text(content)
        else:
            printed.append(run_line(line, capsys))
    track = next(track for track in kmcf.datasets.ble_tracks() if track.name == "straight_05")
    assert len(read_csv(tmp_path / "states.csv")) == len(track)
    assert (tmp_path / "tuned" / "model.kmcf").exists()
    assert printed[-1].startswith(f"straight_05 Scores(steps={len(track)}")
    assert sum(text.count('"mean_x"') for text in printed) == 3
    assert len(printed) >= 14


def test_the_page_names_every_command_and_exit_code():
    from kmcf.cli import group

    text = PAGE.read_text()
    for name in ("fit", "tune", "filter", "evaluate", "inspect", "data"):
        assert f"kmcf {name}" in text
    for code in (group.BAD_INPUT, group.UNEXPECTED, group.INTERRUPTED, group.BROKEN_PIPE):
        assert f"| {code} |" in text


@pytest.mark.slow
def test_the_first_tutorial_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = (PAGE.parent / "tutorial.md").read_text()
    names, printed = {}, []
    for language, content in re.findall(r"```(python|sh)\n(.*?)```", text, flags=re.DOTALL):
        if language == "python":
            exec(compile(content, "tutorial.md", "exec"), names)
        else:
            printed += [run_line(line, capsys) for line in content.splitlines()]
    assert printed[0].splitlines()[0] == "walk,time,x,light,field"
    errors = {row.split()[0]: float(row.split()[-6]) for row in printed[2].splitlines() if row.startswith(" nearest")}
    filtered = np.abs(names["run"].mean - names["today"].states).mean()
    assert filtered < 0.5 * errors["nearest"]
    assert len(read_csv(tmp_path / "estimates.csv")) == 60
    assert (tmp_path / "today.html").stat().st_size > 10_000
