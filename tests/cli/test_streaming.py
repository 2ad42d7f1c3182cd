"""``kmcf filter -`` in pipes: every line is answered at once, and only whole lines are ever written."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from cli_cases import TEST, command, environment, fit_model, invoke, numbers, read_csv, walk, write_csv

import kmcf

needs_signals = pytest.mark.skipif(sys.platform == "win32", reason="signals and pipes of another kind")
HEADER = "t,d0,d1,d2\n"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return fit_model(tmp_path_factory.mktemp("model"), "--engine", "exact", "--n-particles", 60)[0]


BAD_LINES = {
    "stdin is empty": "",
    "stdin holds no rows": HEADER,
    "stdin, line 3, column 'd1': 'abc' is not a number": HEADER + "0,1,2,3\n1,1,abc,3\n",
    "stdin, line 3 has 3 cells, but the header has 4": HEADER + "0,1,2,3\n1,1,2\n",
    "stdin, line 3, column 't': time 0 does not come after 0": HEADER + "0,1,2,3\n0,1,2,3\n",
    "stdin, line 2, column 't': the time is missing": HEADER + ",1,2,3\n",
    "stdin has no column 'd2' for the observation; it has t, d0, d1.": "t,d0,d1\n0,1,2\n",
    "stdin, line 3, column 'd1': an observation contains infinity": HEADER + "0,1,2,3\n1,1,inf,3\n",
    "stdin, line 3, column 't': the time is infinite": HEADER + "0,1,2,3\ninf,1,2,3\n",
    "stdin, line 2, column 't': the time is missing.": HEADER + "NaT,1,2,3\n",
}


@pytest.mark.parametrize(("message", "text"), BAD_LINES.items(), ids=BAD_LINES)
def test_bad_lines(model, message, text):
    result = invoke("filter", model, "-", input=text.encode())
    assert result.exit_code == 1
    assert message in result.stderr
    written = result.stdout.splitlines()
    expected = text.count("\n") - 2 if "line 3" in message or "infinity" in message else 0
    assert len(written[1:]) == expected  # what came before the bad line was answered


@pytest.mark.parametrize("last", ["1.7e9", "1e300"])
def test_a_gap_without_end_is_not_filled(model, last):
    text = HEADER + f"0,1,2,3\n0.5,1,2,3\n2,1,2,3\n{last},1,2,3\n"
    result = invoke("filter", model, "-", "--gaps", "fill", input=text.encode())
    assert result.exit_code == 1
    assert "stdin, line 5: filling the gap from time 2 to" in result.stderr
    assert len(read_csv(result.stdout)) == 5  # two rows, two that fill the short gap, one more
    assert invoke("filter", model, "-", input=text.encode()).exit_code == 0


def test_ctrl_c_inside_compiled_code(model, monkeypatch):
    """Numba turns a KeyboardInterrupt into a SystemError; it is told as what it was."""
    step, steps = kmcf.KernelMonteCarloFilter.step, []

    def interrupted(*arguments, **named):
        steps.append(1)
        if len(steps) == 3:
            raise SystemError("returned a result with an exception set") from KeyboardInterrupt()
        return step(*arguments, **named)

    monkeypatch.setattr(kmcf.KernelMonteCarloFilter, "step", interrupted)
    result = invoke("filter", model, "-", input=HEADER.encode() + b"".join(lines(TEST[1][:5])))
    assert result.exit_code == 130
    assert result.stderr == "kmcf filter: stopped by Ctrl-C. 2 estimates were written.\n"
    assert len(result.stdout.splitlines()) == 3


def lines(observations):
    return [
        f"{0.5 * t},{','.join(repr(float(value)) for value in row)}\n".encode() for t, row in enumerate(observations)
    ]


def start(*words, **settings):
    """Start the command in a process that hears Ctrl-C, also where the tests run in the background and do not."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE) | settings
    ignoring = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(command(*words), env=environment(), bufsize=0, **pipes)
    finally:
        signal.signal(signal.SIGINT, ignoring)


def ended(process):
    """Return what is left of stdout, and stderr, while stdin stays open until the process has gone."""
    rest = b"" if process.stdout is None else process.stdout.read()
    errors = process.stderr.read().decode()
    process.wait(timeout=60)
    process.stdin.close()
    return rest, errors


def answered_one_by_one(process, observations):
    """Send lines, and read the answer to each before the next is sent; return the answers."""
    process.stdin.write(HEADER.encode())
    answers = []
    for number, line in enumerate(lines(observations)):
        process.stdin.write(line)
        answers += [process.stdout.readline() for _ in range(1 + (number == 0))]  # would wait for ever if held back
    return b"".join(answers).decode()


@pytest.mark.slow
@needs_signals
@pytest.mark.parametrize("ending", ["end of input", "ctrl-c"])
def test_lines_are_answered_at_once_and_are_whole_to_the_end(ending, model):
    observations = walk(1000, 3)[1]
    with start("filter", model, "-") as process:
        text = answered_one_by_one(process, observations[:5])
        found = numbers(read_csv(text), "mean_x", "mean_y")
        np.testing.assert_allclose(found, kmcf.load(model).filter(observations[:5]).mean, rtol=1e-12)
        if ending == "ctrl-c":
            process.stdin.write(b"".join(lines(observations)[5:])[:60_000])  # less than a pipe holds
            time.sleep(0.01)
            process.send_signal(signal.SIGINT)
        else:
            process.stdin.close()
        rest, errors = ended(process)
    text += rest.decode()
    assert text.endswith("\n")
    assert {line.count(",") for line in text.splitlines()} == {text.splitlines()[0].count(",")}
    alarms = text.count(",True,") + text.count(",true,")
    told = [line for line in errors.splitlines() if not (alarms and "should not be believed (alarm)" in line)]
    if ending == "ctrl-c":
        assert process.returncode == 130
        assert told == [f"kmcf filter: stopped by Ctrl-C. {len(text.splitlines()) - 1} estimates were written."]
    else:
        assert (process.returncode, told, rest) == (0, [], b"")


@pytest.mark.slow
@needs_signals
def test_ctrl_c_while_waiting_leaves_a_file_of_whole_lines(model, tmp_path):
    path = tmp_path / "states.csv"
    with start("filter", model, "-", "-o", path) as process:
        process.stdin.write(HEADER.encode() + b"".join(lines(TEST[1][:6])))
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


@pytest.mark.slow
@needs_signals
@pytest.mark.parametrize("given", ["file", "stream"])
def test_a_reader_that_goes_away(model, given, tmp_path):
    """``kmcf filter ... | head -3``."""
    path = write_csv(tmp_path / "long.csv", *walk(600, 3))  # more estimates than a pipe holds
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
