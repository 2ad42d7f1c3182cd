"""Observations from an MQTT broker, and estimates back to it: what home positioning systems speak."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from kmcf.live.desk import Desk
from kmcf.live.objects import Answered, Request
from kmcf.live.requests import Refusal, read_json, read_name, read_observed
from kmcf.support.extras import require

MOST_UNSENT = 1000
"""Estimates that wait for a broker that is away; later ones are dropped."""
ESTIMATE = "estimate"
PORTS = {"mqtt": 1883, "mqtts": 8883}


@dataclass(frozen=True)
class Broker:
    """Where a broker is, and which topics hold observations.

    Parameters
    ----------
    host : str
        Its name or address.
    port : int
        Usually 1883, with TLS 8883.
    topic : str
        A topic with one ``+``, which stands for the object's id.
    tls : bool
        Whether the connection is encrypted.
    user, password : str, optional
        Who asks.

    Examples
    --------
    >>> broker = Broker.of("mqtt://broker.local", "home/+/rssi")
    >>> broker.port, broker.object_of("home/cat/rssi"), broker.answer_topic("home/cat/rssi")
    (1883, 'cat', 'home/cat/estimate')
    """

    host: str
    port: int
    topic: str
    tls: bool = False
    user: str | None = None
    password: str | None = None

    @classmethod
    def of(cls, url: str, topic: str) -> Broker:
        """Read an address: mqtt://USER:PASSWORD@HOST:PORT, or mqtts://... with TLS."""
        parts = urlsplit(url if "://" in url else f"mqtt://{url}")
        try:
            port = parts.port
        except ValueError:
            port = -1
        if parts.scheme not in PORTS or not parts.hostname or port == -1:
            raise ValueError(f"--mqtt {url}: it must be like mqtt://HOST:1883, or mqtts://HOST:8883 with TLS.")
        levels = topic.split("/")
        if levels.count("+") != 1 or "#" in topic or levels[-1] in ("+", ESTIMATE):
            raise ValueError(
                f"--topic {topic}: one level must be +, the object's id, but not the last: kmcf/+/observed."
            )
        user, password = (None if part is None else unquote(part) for part in (parts.username, parts.password))
        return cls(parts.hostname, port or PORTS[parts.scheme], topic, parts.scheme == "mqtts", user, password)

    def object_of(self, topic: str) -> str:
        """Return whose observation a message on a topic is."""
        return topic.split("/")[self.topic.split("/").index("+")]

    def answer_topic(self, topic: str) -> str:
        """Return the topic for the estimate: the same, with ``estimate`` as the last level."""
        return "/".join([*topic.split("/")[:-1], ESTIMATE])


class MqttSource:
    """Hands in what a broker sends, and publishes the answers.

    A message is what HTTP takes, ``{"observation": ..., "time": ...}``, or the observation alone: a list of numbers.
    The answer, or ``{"error": SENTENCE}``, is published beside it as ``.../estimate``.

    Parameters
    ----------
    broker : Broker
        Where.
    desk : Desk
        Where observations are handed in.
    tell : callable
        Gets sentences about the connection.
    """

    def __init__(self, broker: Broker, desk: Desk, tell: Callable[[str], None]) -> None:
        self._broker, self._desk, self._tell = broker, desk, tell

    async def run(self) -> None:
        """Stay connected until cancelled; paho connects again by itself."""
        paho = require("paho.mqtt.client", "mqtt")
        client = paho.Client(paho.CallbackAPIVersion.VERSION2)
        client.max_queued_messages_set(MOST_UNSENT)
        if self._broker.tls:
            client.tls_set()
        if self._broker.user is not None:
            client.username_pw_set(self._broker.user, self._broker.password)
        loop = asyncio.get_running_loop()
        client.on_connect = self._connected
        client.on_subscribe = self._listening
        client.on_disconnect = lambda *_: self._tell(f"no connection to the broker {self._broker.host}.")
        client.on_message = lambda _, __, message: loop.call_soon_threadsafe(self._take, client, message)
        client.connect_async(self._broker.host, self._broker.port)
        client.loop_start()
        try:
            await asyncio.Event().wait()
        finally:
            client.on_disconnect = None
            client.disconnect()
            client.loop_stop()

    def _connected(self, client: Any, _data: Any, _flags: Any, reason: Any, _properties: Any) -> None:
        if reason.is_failure:
            self._tell(f"the broker {self._broker.host} refuses: {reason}.")
            return
        client.subscribe(self._broker.topic, qos=1)

    def _listening(self, _client: Any, _data: Any, _number: Any, reasons: Any, _properties: Any) -> None:
        """Say that messages come from now on, which the broker confirms after the connection."""
        if any(reason.is_failure for reason in reasons):
            self._tell(f"the broker {self._broker.host} refuses the topic {self._broker.topic}.")
        else:
            self._tell(f"connected to the broker {self._broker.host}, topic {self._broker.topic}.")

    def _take(self, client: Any, message: Any) -> None:
        """Hand in one message; on the event loop."""
        topic = self._broker.answer_topic(message.topic)

        def done(outcome: Any, _seconds: float) -> None:
            told = outcome.told if isinstance(outcome, Answered) else {"error": outcome.message}
            client.publish(topic, json.dumps(told, allow_nan=False), qos=0)

        try:
            given = read_json(message.payload)
            name = read_name(self._broker.object_of(message.topic))
            observed = read_observed(name, given if isinstance(given, dict) else {"observation": given})
            self._desk.submit(Request("observe", observed), done, name)
        except Refusal as refusal:
            done(refusal, 0.0)
