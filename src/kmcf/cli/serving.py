"""The options by which ``kmcf serve`` and ``kmcf watch`` are told where to listen and how much to take on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kmcf.cli.group import note
from kmcf.cli.models import LoadedModel

if TYPE_CHECKING:
    from kmcf.live.model import LiveModel
    from kmcf.live.server import Address
    from kmcf.live.service import Service

NETWORK, OBJECTS = "Network", "Tracked objects"


@dataclass(frozen=True)
class NetworkOptions:
    """Where to listen, and who may call."""

    port: Annotated[
        int, typer.Option("--port", "-p", min=0, max=65535, help="0: any free one.", rich_help_panel=NETWORK)
    ] = 8787
    host: Annotated[
        str,
        typer.Option(
            "--host",
            help="Address to listen at. Other machines can reach all but loopback addresses; then --token is needed.",
            rich_help_panel=NETWORK,
        ),
    ] = "127.0.0.1"
    token: Annotated[
        str | None,
        typer.Option(
            "--token",
            envvar="KMCF_TOKEN",
            help="What clients must show (Authorization: Bearer TOKEN).",
            rich_help_panel=NETWORK,
        ),
    ] = None
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host", help="Another name by which clients may call this server.", rich_help_panel=NETWORK
        ),
    ] = None
    largest: Annotated[
        int,
        typer.Option("--largest", min=1000, help="Bytes that a request may have at most.", rich_help_panel=NETWORK),
    ] = 16 * 2**20

    def address(self) -> Address:
        """Return them as the server takes them."""
        from kmcf.live.server import Address

        return Address(self.host, self.port, self.token, tuple(self.allow_host or ()), self.largest)


@dataclass(frozen=True)
class ObjectOptions:
    """How many objects are tracked, for how long, and what survives a restart."""

    objects: Annotated[
        int, typer.Option("--objects", min=1, help="Objects tracked at once.", rich_help_panel=OBJECTS)
    ] = 1000
    idle: Annotated[
        float,
        typer.Option(
            "--idle", min=1.0, help="Seconds after which an object is forgotten if it is silent.",
            rich_help_panel=OBJECTS,
        ),
    ] = 3600.0  # fmt: skip
    state: Annotated[
        Path | None,
        typer.Option(
            "--state",
            metavar="DIR",
            help="Folder in which the state of objects survives: an observation that was answered is never lost.",
            rich_help_panel=OBJECTS,
        ),
    ] = None
    processes: Annotated[
        int,
        typer.Option("--processes", min=1, max=64, help="Processes that share the objects.", rich_help_panel=OBJECTS),
    ] = 1


@dataclass(frozen=True)
class MqttOptions:
    """A broker from which observations come."""

    mqtt: Annotated[
        str | None,
        typer.Option(
            "--mqtt", metavar="URL", help="Take observations from a broker: mqtt://HOST:1883.", rich_help_panel=NETWORK
        ),
    ] = None
    topic: Annotated[
        str,
        typer.Option(
            "--topic", help="Their topic, with + for the object's id; estimates go to .../estimate.",
            rich_help_panel=NETWORK,
        ),
    ] = "kmcf/+/observation"  # fmt: skip

    def attach(self, service: Service) -> None:
        """Let a service take observations from the broker, if one was named."""
        from kmcf.live.mqtt import Broker, MqttSource
        from kmcf.support.extras import require

        if self.mqtt is not None:
            require("paho.mqtt.client", "mqtt")
            source = MqttSource(Broker.of(self.mqtt, self.topic), service.desk, note)
            service.started.append(source.run)


def live_model(loaded: LoadedModel) -> LiveModel:
    """Return a loaded model as the live room takes it."""
    from kmcf.live.model import LiveModel

    columns = loaded.columns
    names: dict[str, Any] = {role: tuple(columns.get(role) or ()) for role in ("observation", "control")}
    return LiveModel(
        loaded.filter,
        loaded.name,
        tuple(loaded.states),
        names["observation"],
        names["control"],
        loaded.window,
        loaded.timed if columns else None,
        dict(columns.get("sensors") or {}),
    )


def told_end(interrupted: bool, state: Path | None) -> None:
    """Say how a server ended."""
    kept = "" if state is None else f" The state of all objects is in {state}."
    note(f"stopped.{kept}")
    if interrupted:
        raise KeyboardInterrupt
