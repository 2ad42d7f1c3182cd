"""The service over real connections: what it answers, what it refuses, and that neither harms anyone else."""

import json
import multiprocessing
import socket
import time

import numpy as np
import pytest
from live_cases import walk_model
from live_server import post, served
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from kmcf.live.desk import FAILED
from kmcf.live.objects import Limits

MODEL, TEST = walk_model()
TOKEN = "a-token-of-some-length"


@pytest.fixture(scope="module")
def client():
    with served(MODEL, Limits(objects=40)) as started:
        yield started


def stream(client, words=""):
    return connect(f"ws://127.0.0.1:{client.port}/v1/stream{words}", compression=None)


def test_answers_are_the_filters(client):
    belief = None
    for t, y in enumerate(TEST[:8]):
        answer = post(client, "equal", y.tolist()).json()
        if belief is None:
            belief = MODEL.filter.start(stream=client.service.desk._works[0].__self__._tracks["equal"].belief.stream)
        belief = MODEL.filter.step(belief, y)
        assert (answer["object"], answer["step"]) == ("equal", t + 1)
        np.testing.assert_allclose(answer["mean"], belief.mean(), rtol=1e-12)
        np.testing.assert_allclose(answer["interval"], belief.interval(), rtol=1e-12)
        assert answer["alarm"] == belief.alarm
    assert client.get("/v1/objects/equal").json() == answer


def test_objects_come_and_go(client):
    assert post(client, "guest", [0.5]).status_code == 200
    assert "guest" in {row["object"] for row in client.get("/v1/objects").json()["objects"]}
    assert client.delete("/v1/objects/guest").status_code == 204
    gone = client.get("/v1/objects/guest")
    assert (gone.status_code, gone.json()) == (404, {"error": "no object guest is tracked."})


def test_several_at_once_are_all_used_or_none(client):
    several = [{"observation": [float(y)]} for y in TEST[:5, 0]]
    answers = client.post("/v1/objects/row/observations", json=several).json()
    assert [answer["step"] for answer in answers] == [1, 2, 3, 4, 5]
    broken = client.post("/v1/objects/row/observations", json=[*several, {"observation": [1.0, 2.0]}])
    assert broken.status_code == 422
    assert broken.json()["error"].startswith("observation 6 of 6, of which none was used: an observation has shape")
    assert client.get("/v1/objects/row").json()["step"] == 5


GARBAGE = {
    "no json": (b"{", 400),
    "no text": (b"\xff\xfe\x00", 400),
    "nan": (b'{"observation": [NaN]}', 400),
    "deep": (b"[" * 100_000, 400),
    "null": (b"null", 422),
    "a list of nothing": (b"[]", 422),
    "no observation": (b"{}", 422),
    "another field": (b'{"observation": [1], "speed": 2}', 422),
    "an odd time": (b'{"observation": [1], "time": "now"}', 422),
    "a huge time": (b'{"observation": [1], "time": 1' + b"0" * 400 + b"}", 422),
    "an odd step": (b'{"observation": [1], "step": 0.5}', 422),
    "infinity": (b'{"observation": [1e999]}', 422),
    "a huge integer": (b'{"observation": [1' + b"0" * 400 + b"]}", 422),
}


@pytest.mark.parametrize("case", GARBAGE)
def test_garbage_gets_a_sentence(client, case):
    body, status = GARBAGE[case]
    answer = client.post("/v1/objects/bin/observations", content=body)
    assert answer.status_code == status
    assert answer.json()["error"].endswith(".")
    assert client.get("/v1/objects/bin").status_code == 404


@pytest.mark.parametrize("path", ["/v1/objects/%00", "/v1/objects/" + "a" * 65, "/v1/objects/a%20b"])
def test_names_are_plain(client, path):
    assert client.get(path).status_code == 422


def test_an_observation_outside_the_examples_raises_an_alarm(client):
    for y in TEST[:3, 0]:
        post(client, "lost", [float(y)])
    answer = post(client, "lost", [1e6]).json()
    assert answer["alarm"]
    assert answer["reason"]
    text = client.get("/metrics").text
    assert f'kmcf_alarms_total{{reason="{answer["reason"]}"}}' in text


def test_metrics_count(client):
    def value(name):
        return float(
            next(line for line in client.get("/metrics").text.splitlines() if line.startswith(name)).split()[1]
        )

    before = {name: value(name) for name in ("kmcf_steps_total", "kmcf_step_seconds_count", "kmcf_missing_total")}
    post(client, "counted", [0.1])
    post(client, "counted", None)
    assert value("kmcf_steps_total") == before["kmcf_steps_total"] + 2
    assert value("kmcf_step_seconds_count") == before["kmcf_step_seconds_count"] + 2
    assert value("kmcf_missing_total") == before["kmcf_missing_total"] + 1


def test_only_this_machine_by_its_name_and_no_other_page(client):
    assert client.get("/v1/model", headers={"host": "evil.example"}).status_code == 421
    assert client.get("/v1/model", headers={"origin": "http://evil.example"}).status_code == 403
    own = f"http://127.0.0.1:{client.port}"
    assert client.get("/v1/model", headers={"origin": own}).status_code == 200
    with pytest.raises(Exception, match="403"):
        connect(f"ws://127.0.0.1:{client.port}/v1/stream", origin="http://evil.example")


def test_a_token_is_asked_for():
    with served(MODEL, token=TOKEN, largest=2000) as client:
        assert client.get("/v1/model").status_code == 401
        assert client.get("/v1/model", headers={"authorization": "Bearer wrong"}).status_code == 401
        assert client.get("/v1/model", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200
        assert client.get(f"/v1/model?token={TOKEN}").status_code == 200
        assert client.get("/healthz").status_code == 200
        shown = {"authorization": f"Bearer {TOKEN}"}
        large = client.post("/v1/objects/a/observations", content=b" " * 3000, headers=shown)
        assert (large.status_code, large.json()) == (413, {"error": "a request may have 2000 bytes at most."})
        chunks = client.post("/v1/objects/a/observations", content=iter([b" " * 1500] * 3), headers=shown)
        assert chunks.status_code == 413


def test_only_so_many_objects():
    with served(MODEL, Limits(objects=1)) as client:
        assert post(client, "a", [0.1]).status_code == 200
        full = post(client, "b", [0.1])
        assert (full.status_code, full.headers["retry-after"]) == (503, "1")
        assert post(client, "a", [0.1]).json()["step"] == 2


def test_a_socket_answers_in_order_and_with_the_mark_of_the_request(client):
    with stream(client) as one, stream(client) as two:
        for t, y in enumerate(TEST[:20, 0]):
            for socket_, name in ((one, "one"), (two, "two")):
                socket_.send(json.dumps({"object": name, "observation": [float(y)], "request": t}))
        one.send("nonsense")
        one.send(json.dumps({"object": "one", "observation": [1, 2], "request": "bad"}))
        for socket_ in (one, two):
            answers = [json.loads(socket_.recv(10)) for _ in range(20)]
            assert [(answer["request"], answer["step"]) for answer in answers] == [(t, t + 1) for t in range(20)]
        errors = [json.loads(one.recv(10)) for _ in range(2)]
        assert [error["status"] for error in errors] == [400, 422]
        assert errors[1]["request"] == "bad"
    with stream(client) as again:
        again.send(json.dumps({"object": "one", "observation": [0.0]}))
        assert json.loads(again.recv(10))["step"] == 21


def test_following(client):
    with stream(client, "?follow=seen") as following:
        post(client, "unseen", [0.1])
        answer = post(client, "seen", [0.1]).json()
        assert json.loads(following.recv(10)) == {"followed": answer}


def drain(following):
    while True:
        following.recv(5)


@pytest.mark.slow
def test_a_slow_client_is_dropped_and_nobody_else_notices(client):
    before = client.service.followers.dropped
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    raw.connect(("127.0.0.1", client.port))
    address = f"ws://127.0.0.1:{client.port}/v1/stream?follow=*"
    with connect(address, sock=raw, compression=None, max_queue=1, close_timeout=0.1) as slow:
        for round in range(100):
            nothing = [{"observation": None, "step": 100 * round + t} for t in range(1, 101)]
            answers = client.post("/v1/objects/quick/observations", json=nothing).json()
            assert answers[-1]["step"] == 100 * (round + 1)
            if client.service.followers.dropped > before:
                break
        assert client.service.followers.dropped == before + 1
        with pytest.raises(ConnectionClosed):
            drain(slow)
    assert post(client, "after", [0.1]).status_code == 200


FORKED = pytest.mark.filterwarnings("ignore:os.fork")  # other tests in this process use JAX, which warns of forks


@pytest.mark.slow
@FORKED
def test_several_processes_share_the_objects(tmp_path):
    with served(MODEL, processes=2, state=tmp_path) as client:
        alone = {}
        for name in "abcdef":
            alone[name] = [post(client, name, y.tolist()).json()["step"] for y in TEST[:3]]
        assert all(steps == [1, 2, 3] for steps in alone.values())
        assert {row["object"] for row in client.get("/v1/objects").json()["objects"]} == set("abcdef")
        last = {name: client.get(f"/v1/objects/{name}").json() for name in "abcdef"}
    with served(MODEL, processes=2, state=tmp_path) as client:
        assert {name: client.get(f"/v1/objects/{name}").json() for name in "abcdef"} == last
    with pytest.raises(ValueError, match="was written with --processes 2"), served(MODEL, state=tmp_path):
        pass


@FORKED
def test_a_process_that_dies_is_told():
    with served(MODEL, processes=2) as client:
        assert post(client, "a", [0.1]).status_code == 200
        for child in multiprocessing.active_children():
            if "loky" not in type(child).__module__:  # joblib's, of other tests in this process
                child.kill()
            child.join()
        answer = post(client, "a", [0.1])
        assert (answer.status_code, answer.json()["error"]) == (503, FAILED)
        assert client.get("/healthz").status_code == 503


def test_addresses_that_others_can_reach_need_a_token():
    with pytest.raises(ValueError, match="other machines can reach"), served(MODEL, host="0.0.0.0"):
        pass
    with pytest.raises(ValueError, match="the token has 5 characters"), served(MODEL, host="0.0.0.0", token="short"):
        pass


def test_what_waits_is_answered_before_the_end(tmp_path):
    with served(MODEL, state=tmp_path) as client, stream(client) as open_:
        for t in range(30):
            open_.send(json.dumps({"object": "a", "observation": [0.1 * t]}))
        while json.loads(open_.recv(10))["step"] < 30:
            pass
        open_.send(json.dumps({"object": "a", "observation": [0.1]}))
        time.sleep(0.02)
    with served(MODEL, state=tmp_path) as client:
        assert client.get("/v1/objects/a").json()["step"] == 31
