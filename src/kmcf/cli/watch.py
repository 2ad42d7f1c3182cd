"""``kmcf watch``: a page that shows a filter at work."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kmcf.cli import options
from kmcf.cli.group import note
from kmcf.cli.models import LoadedModel, load_model
from kmcf.cli.script import Script
from kmcf.cli.serving import MqttOptions, NetworkOptions, live_model, told_end
from kmcf.cli.table_files import TableFiles
from kmcf.support.extras import require

if TYPE_CHECKING:
    from kmcf.datasets import Recording
    from kmcf.live.page import Watched
    from kmcf.live.service import Service

STDIN = Path("-")
PAGE = "Page"
FileArgument = Annotated[
    Path | None,
    typer.Argument(
        metavar="[FILE]", help="Observations to replay: CSV, Parquet, NPZ or MCAP; - follows lines from stdin."
    ),
]
MapOption = Annotated[
    Path | None, typer.Option("--map", metavar="IMAGE", help="A floor plan as background.", rich_help_panel=PAGE)
]
ExtentOption = Annotated[
    str | None,
    typer.Option(
        "--extent",
        metavar="X0,Y0,X1,Y1",
        help="Lower left and upper right corner of the floor plan, in units of the state. Without it: the examples'.",
        rich_help_panel=PAGE,
    ),
]
AxesOption = Annotated[
    str | None,
    typer.Option("--axes", metavar="X,Y", help="Which states are drawn; otherwise the first two.",
                 rich_help_panel=PAGE),
]  # fmt: skip


def watch(
    model: options.ModelArgument,
    file: FileArgument = None,
    *,
    network: NetworkOptions,
    map_: MapOption = None,
    extent: ExtentOption = None,
    axes: AxesOption = None,
    columns: options.ColumnOptions,
    state: options.OtherStateOption = None,
    mqtt: MqttOptions,
) -> None:
    """Serve a page that shows the filter at work, step by step.

    It shows the examples with their weights, the predicted particles, the herded points, the estimate with its region
    and path, the true path where the file has it, effective sample size, coverage and latency, and says when an
    estimate should not be believed. A FILE is replayed: play, pause, step, rewind, at any speed. Without one, the page
    follows what is posted as to kmcf serve (docs/live.md), what lines on stdin say (-), or a broker (--mqtt).

    For example:

        kmcf watch model.kmcf walk.csv

        kmcf watch model.kmcf walk.csv --map plan.png --extent 0,0,20,12

        sensor | kmcf watch model.kmcf -
    """
    require("bokeh", "live")
    from kmcf.live.frames import Axes
    from kmcf.live.history import FollowedObjects, histories_of
    from kmcf.live.page import Watched
    from kmcf.live.server import desk_for, run_app
    from kmcf.live.service import Service

    address = network.address()
    loaded = load_model(Script("kmcf watch"), model, columns.window, rows=False)
    live = live_model(loaded)
    chosen = Axes.of(live, axes.split(",") if axes else ())
    watched = Watched(live, chosen, picture=checked_map(map_, chosen), extent=read_extent(extent, map_))
    if file is not None and file != STDIN:
        watched.recorded = histories_of(live, recordings_for(loaded, file, columns, state))
    watched.followed = FollowedObjects()
    desk = desk_for(live)
    service = Service(live, desk, watched.routes())
    desk.watchers.append(watched.followed)
    if file == STDIN:
        _follow_lines(service, watched, loaded.tables([STDIN], state=state, **asdict(columns)))
    mqtt.attach(service)
    token = "" if network.token is None else f"?token={network.token}"
    told_end(run_app(service.app, address, note, f"{token} ; open it in a browser; Ctrl-C stops."), None)


def checked_map(path: Path | None, axes: Any) -> Path | None:
    """Check that a floor plan is an image that can be drawn."""
    if path is None:
        return None
    if not path.is_file():
        raise ValueError(f"there is no image {path}.")
    if path.suffix.lower() not in (".png", ".jpg", ".jpeg", ".gif", ".webp"):
        raise ValueError(f"{path}: a map is a PNG, JPEG, GIF or WebP image.")
    if len(axes.columns) != 2:
        raise ValueError("a map needs two axes; see --axes.")
    return path


def read_extent(words: str | None, path: Path | None) -> tuple[float, float, float, float] | None:
    """Read the corners of a floor plan.

    Examples
    --------
    >>> read_extent("0,0,20,12.5", Path("plan.png"))
    (0.0, 0.0, 20.0, 12.5)
    """
    if words is None:
        return None
    if path is None:
        raise ValueError("--extent says where a map is; give one with --map.")
    try:
        left, bottom, right, top = (float(word) for word in words.split(","))
    except ValueError:
        raise ValueError(f"--extent {words}: it must be four numbers, as in 0,0,20,12.") from None
    if not (left < right and bottom < top):
        raise ValueError(f"--extent {words}: the lower left corner comes first, then the upper right one.")
    return left, bottom, right, top


def recordings_for(loaded: LoadedModel, file: Path, columns: options.ColumnOptions, state: Any) -> list[Recording]:
    """Read the sequences of a file that are replayed, with the true states if the file has them."""
    from kmcf.datasets import read_tables
    from kmcf.datasets.column_files import column_names
    from kmcf.datasets.columns import lacks

    names = column_names(file, columns.encoding)
    tables = loaded.tables([file], state=state, **asdict(columns)).fitting(names, file.name)
    if tables.state and not state and lacks(tables.state, names):
        note(f"{file.name} does not hold the true states, so they are not shown.")
        tables = replace(tables, state=())
    recordings = read_tables([file], **tables.reading_options())
    if not tables.sensors:
        loaded.check_width("observation", recordings[0].names["observations"], file.name)
    return recordings


def _follow_lines(service: Service, watched: Watched, tables: TableFiles) -> None:
    from kmcf.live.lines import LineColumns, read_lines
    from kmcf.live.sources import LineSource

    roles = LineColumns(tables.observation, tables.control, tables.state, tables.time, tables.sequence, tables.sensors)
    lines = read_lines(sys.stdin.buffer, roles, tables.encoding)
    service.started.append(LineSource(lines, service.desk, watched.followed, note).run)
