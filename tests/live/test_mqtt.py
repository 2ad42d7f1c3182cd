"""Observations from a real broker, and estimates back to it."""

import json
import queue
import shutil
import socket
import subprocess
import time

import numpy as np
import paho.mqtt.client as paho
import pytest
from live_cases import walk_model
from live_server import serving

from kmcf.live.mqtt import Broker, MqttSource
from kmcf.live.server import desk_for
from kmcf.live.service import Service

MOSQUITTO = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin")
needs_broker = pytest.mark.skipif(MOSQUITTO is None, reason="no mosquitto on this machine: MQTT was not tried")
MODEL, TEST = walk_model()


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = tmp_path_factory.mktemp("broker") / "mosquitto.conf"
    settings.write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\n")
    with subprocess.Popen([MOSQUITTO, "-c", settings], stderr=subprocess.DEVNULL) as process:
        for _ in range(500):
            with socket.socket() as trial:
                if trial.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.01)
        yield port
        process.terminate()


@pytest.fixture
def listener(broker):
    """A client that hears all estimates."""
    heard, ready = queue.Queue(), queue.Queue()
    client = paho.Client(paho.CallbackAPIVersion.VERSION2)
    client.on_message = lambda _, __, message: heard.put((message.topic, json.loads(message.payload)))
    client.on_subscribe = lambda *_: ready.put(True)
    client.connect("127.0.0.1", broker)
    client.subscribe("home/+/estimate")
    client.loop_start()
    ready.get(timeout=10)
    client.heard = heard
    yield client
    client.disconnect()
    client.loop_stop()


@needs_broker
def test_what_a_broker_sends_is_answered(broker, listener):
    told = queue.Queue()
    service = Service(MODEL, desk_for(MODEL))
    source = MqttSource(Broker.of(f"mqtt://127.0.0.1:{broker}", "home/+/rssi"), service.desk, told.put)
    service.started.append(source.run)
    run = MODEL.filter.filter(TEST[:6])
    with serving(service):
        assert "connected to the broker" in told.get(timeout=10)
        for t, y in enumerate(TEST[:6]):
            payload = y.tolist() if t % 2 else {"observation": y.tolist()}
            listener.publish("home/cat/rssi", json.dumps(payload), qos=1)
            topic, answer = listener.heard.get(timeout=10)
            assert (topic, answer["object"], answer["step"]) == ("home/cat/estimate", "cat", t + 1)
            np.testing.assert_allclose(answer["mean"], run.mean[t], rtol=1e-12)
        for garbage in (b"\xff", b"{}", b"[1, 2]", b'"text"'):
            listener.publish("home/cat/rssi", garbage, qos=1)
            assert "error" in listener.heard.get(timeout=10)[1]
        listener.publish("home/cat/rssi", "[0.5]", qos=1)
        assert listener.heard.get(timeout=10)[1]["step"] == 7


@pytest.mark.parametrize("url", ["http://a", "mqtt://", "mqtt://a:port"])
def test_addresses_are_checked(url):
    with pytest.raises(ValueError, match="it must be like mqtt://HOST:1883"):
        Broker.of(url, "a/+/b")


@pytest.mark.parametrize("topic", ["a/b", "+/+/a", "a/#", "a/+", "a/+/estimate"])
def test_topics_are_checked(topic):
    with pytest.raises(ValueError, match="one level must be"):
        Broker.of("localhost", topic)


def test_passwords_and_encryption():
    broker = Broker.of("mqtts://me:a%40b@host", "a/+/b")
    assert (broker.port, broker.tls, broker.user, broker.password) == (8883, True, "me", "a@b")
