"""The command as others run it: in pipes, stopped in the middle, started quickly."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from cli_cases import TEST, command, environment, fit_model, numbers, read_csv, walk, write_csv

import kmcf

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and pipes of another kind")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return fit_model(tmp_path_factory.mktemp("model"), "--engine", "exact", "--n-particles", 60)[0]


def start(*words, **settings):
    """Start the command in a process that hears Ctrl-C, also where the tests run in the background and do not."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE) | settings
    ignoring = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(command(*words), env=environment(), bufsize=0, **pipes)
    finally:
        signal.signal(signal.SIGINT, ignoring)


def lines(observations):
    return [
        f"{0.5 * t},{','.join(repr(float(value)) for value in row)}\n".encode() for t, row in enumerate(observations)
    ]


def ended(process):
    """Return what is left of stdout, and stderr, while stdin stays open until the process has gone."""
    rest = b"" if process.stdout is None else process.stdout.read()
    errors = process.stderr.read().decode()
    process.wait(timeout=60)
    process.stdin.close()
    return rest, errors


def test_every_line_is_answered_before_the_next_one_is_sent(model):
    with start("filter", model, "-") as process:
        process.stdin.write(b"t,d0,d1,d2\n")
        answers = []
        for number, line in enumerate(lines(TEST[1][:5])):
            process.stdin.write(line)
            answers += [process.stdout.readline() for _ in range(1 + (number == 0))]  # would wait for ever if held back
        process.stdin.close()
        assert process.wait(timeout=60) == 0
        assert process.stderr.read() == b""
    found = numbers(read_csv(b"".join(answers).decode()), "mean_x", "mean_y")
    np.testing.assert_allclose(found, kmcf.load(model).filter(TEST[1][:5]).mean, rtol=1e-12)


def test_ctrl_c_in_the_middle_leaves_a_file_of_whole_lines(model, tmp_path):
    path = tmp_path / "states.csv"
    with start("filter", model, "-", "-o", path) as process:
        process.stdin.write(b"t,d0,d1,d2\n" + b"".join(lines(TEST[1][:6])))
        deadline = time.monotonic() + 60
        while not path.exists() or path.read_bytes().count(b"\n") < 7:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, errors = ended(process)
    assert process.returncode == 130
    assert errors.strip() == "kmcf filter: stopped by Ctrl-C. 6 estimates were written."
    found = numbers(read_csv(path), "mean_x", "mean_y")
    np.testing.assert_allclose(found, kmcf.load(model).filter(TEST[1][:6]).mean, rtol=1e-12)


@pytest.mark.parametrize("delay", [0.0, 0.03])
def test_ctrl_c_while_lines_keep_coming_leaves_whole_lines(delay, model):
    sent = b"t,d0,d1,d2\n" + b"".join(lines(walk(3000, 3)[1]))
    with start("filter", model, "-") as process:
        process.stdin.write(sent[:60_000])  # less than a pipe holds
        first = process.stdout.readline()
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        rest, errors = ended(process)
    assert process.returncode == 130
    assert "Traceback" not in errors
    text = (first + rest).decode()
    assert text.endswith("\n")
    assert {line.count(",") for line in text.splitlines()} == {text.splitlines()[0].count(",")}
    assert f"{len(text.splitlines()) - 1} estimates were written" in errors


@pytest.mark.parametrize("given", ["file", "stream"])
def test_a_reader_that_goes_away(model, given, tmp_path):
    """``kmcf filter ... | head -3``."""
    path = write_csv(tmp_path / "long.csv", *walk(2000, 3))
    read_end, write_end = os.pipe()
    words = (path,) if given == "file" else ("-",)
    with path.open("rb") as source, start("filter", model, *words, stdin=source, stdout=write_end) as process:
        os.close(write_end)
        with os.fdopen(read_end, "rb") as reader:
            few = [reader.readline() for _ in range(3)]
        errors = process.stderr.read().decode()
    assert few[0].startswith(b"t,mean_x")
    assert process.returncode == 141
    *notes, sentence = errors.splitlines()
    assert sentence.startswith("kmcf filter: stopped, because nobody reads the output any more.")
    assert all(line.startswith("note: ") for line in notes)


def test_help_imports_nothing_heavy():
    code = (
        "import sys\nsys.argv = ['kmcf', *{words!r}]\nfrom kmcf.cli import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        "heavy = {{'numpy', 'scipy', 'sklearn', 'pandas', 'matplotlib', 'jax', 'pyarrow', 'numba'}}\n"
        "sys.exit(repr(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)"
    )
    for words in (["--help"], ["--version"], ["fit", "--help"], ["filter", "--help"], ["data", "--help"]):
        done = subprocess.run(
            [sys.executable, "-c", code.format(words=words)],
            capture_output=True,
            text=True,
            env=environment(),
            check=False,
        )
        assert done.returncode == 0, (words, done.stderr)


def test_a_bug_is_told_as_one(monkeypatch):
    from cli_cases import fail

    import kmcf.store

    def broken(path):
        raise KeyError("what")

    monkeypatch.setattr(kmcf.store, "describe_file", broken)
    message = fail("inspect", __file__, code=3)
    assert message == "unexpected KeyError: 'what'; please report it, with what --debug shows."
