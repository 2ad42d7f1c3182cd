"""``kmcf serve`` as a process: it answers, and goes on where it was after any end."""

import json
import re
import signal
import subprocess
import sys

import httpx
import numpy as np
import pytest
from cli_cases import TEST, command, environment, fail, fit_model

import kmcf

needs_signals = pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return fit_model(tmp_path_factory.mktemp("model"), "--n-particles", 60)[0]


class Served:
    """A server process; ``client`` speaks to it."""

    def __init__(self, *words):
        self.process = subprocess.Popen(
            command(*words, "--port", 0), env=environment(), stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
        )
        line = self.process.stderr.readline().decode()
        address = re.search(r"http://[0-9.:]+", line)
        assert address, line + self.process.stderr.read().decode()
        self.client = httpx.Client(base_url=address[0])

    def post(self, y, t):
        body = json.dumps({"observation": [float(value) for value in y], "time": 0.5 * t})
        return self.client.post("/v1/objects/walker/observations", content=body).json()

    def end(self, number):
        self.client.close()
        self.process.send_signal(number)
        told = self.process.stderr.read().decode()
        code = self.process.wait(30)
        self.process.stderr.close()
        return code, told


@pytest.mark.slow
@needs_signals
def test_killed_and_restarted_it_goes_on_from_the_last_acknowledged_observation(model, tmp_path):
    expected = kmcf.load(model).filter(TEST[1], times=0.5 * np.arange(len(TEST[1])))
    state, made = tmp_path / "state", 0
    for number in (signal.SIGKILL, signal.SIGINT):
        server = Served("serve", model, "--state", state)
        for _ in range(4):
            answer = server.post(TEST[1][made], made)
            assert answer["step"] == made + 1
            assert answer["mean"] == pytest.approx(list(expected.mean[made]), rel=1e-12)
            assert answer["interval"][0] == pytest.approx(list(expected.interval[made, 0]), rel=1e-12)
            made += 1
        code, told = server.end(number)
        assert code == {signal.SIGKILL: -9, signal.SIGINT: 130}[number]
        if number != signal.SIGKILL:
            assert f"note: stopped. The state of all objects is in {state}." in told


def test_what_cannot_be_served_is_told(model, tmp_path):
    assert fail("serve", tmp_path / "none.kmcf").startswith("there is no model file")
    assert "clients must show a token" in fail("serve", model, "--host", "0.0.0.0")
    assert "the token has 3 characters" in fail("serve", model, "--token", "abc")
    assert "cannot listen at 192.0.2.1" in fail("serve", model, "--host", "192.0.2.1", "--token", "a" * 20)
