"""``kmcf serve``: a model as a service."""

from __future__ import annotations

from kmcf.cli import options
from kmcf.cli.group import note
from kmcf.cli.models import load_model
from kmcf.cli.script import Script
from kmcf.cli.serving import MqttOptions, NetworkOptions, ObjectOptions, live_model, told_end
from kmcf.support.extras import require


def serve(
    model: options.ModelArgument,
    *,
    network: NetworkOptions,
    tracked: ObjectOptions,
    window: options.WindowOption = None,
    mqtt: MqttOptions,
) -> None:
    """Serve estimates over HTTP: observations of any number of objects come in, each is answered.

    POST /v1/objects/ID/observations with {"observation": [...], "control": null, "time": null} is answered with the
    step's number, mean, 95 % interval, effective sample size, coverage, whether the estimate should not be believed
    (alarm) and why. The description of everything is at /openapi.json, numbers for Prometheus are at /metrics, and a
    WebSocket at /v1/stream takes many observations over one connection.

    Only this machine can connect, unless --host and --token say otherwise. Ctrl-C or SIGTERM ends it after what is
    waiting has been answered.

    For example:

        kmcf serve model.kmcf

        curl localhost:8787/v1/objects/robot/observations -d '{"observation": [-61, -70, null]}'

        kmcf serve model.kmcf --port 9000 --state tracked
    """
    require("starlette", "live")
    address = network.address()
    loaded = load_model(Script("kmcf serve"), model, window, rows=False)
    from kmcf.live.objects import Limits
    from kmcf.live.server import desk_for, run_app
    from kmcf.live.service import Service

    live = live_model(loaded)
    desk = desk_for(live, Limits(tracked.objects, tracked.idle), tracked.state, tracked.processes)
    service = Service(live, desk)
    mqtt.attach(service)
    told_end(run_app(service.app, address, note, "v1/model; Ctrl-C stops."), tracked.state)
