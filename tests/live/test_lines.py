"""Observations from lines: CSV as tables have it, or JSON."""

import io
import time

import pytest
from live_cases import plane_model, plane_walk
from live_server import serving

from kmcf.datasets import column_files
from kmcf.live.history import FollowedObjects
from kmcf.live.lines import LineColumns, read_lines
from kmcf.live.server import desk_for
from kmcf.live.service import Service
from kmcf.live.sources import LineSource

COLUMNS = LineColumns(["d*"], state=["x", "y"], time="t", sequence="who")
TEXT = b"who,t,d0,d1,d2,x,y\nann,0,1,2,3,0.5,0.6\nbob,0,1,,3,0.5,0.6\nann,1,1.5,2,3,0.5,0.7\n"


def test_csv():
    lines = list(read_lines(io.BytesIO(TEXT), COLUMNS))
    assert [line.observed.object for line in lines] == ["ann", "bob", "ann"]
    assert lines[1].observed.observation == [1.0, None, 3.0]
    assert (lines[2].observed.time, lines[2].truth) == (1.0, [0.5, 0.7])


def test_json():
    text = b'{"object": "ann", "observation": [1, 2, 3], "time": 0}\n\n{"observation": null}\n'
    lines = list(read_lines(io.BytesIO(text), COLUMNS))
    assert [(line.number, line.observed.object) for line in lines] == [(1, "ann"), (3, "stdin")]


BAD = {
    "stdin is empty": b"",
    "stdin, line 2, column 'd1': 'two' is not a number": b"t,d0,d1\n0,1,two\n",
    "stdin, line 2, column 't': the time is missing": b"t,d0,d1\n,1,2\n",
    "stdin has no column 'd\\*'": b"t,x\n0,1\n",
    "stdin, line 1: this is not JSON": b"{]\n",
    "stdin, line 1: the field": b'{"object": "a"}\n',
    "stdin, line 2: an object's id": b"who,t,d0\na b,0,1\n",
}


@pytest.mark.parametrize("message", BAD)
def test_bad_lines(message):
    with pytest.raises(ValueError, match=message):
        list(read_lines(io.BytesIO(BAD[message]), COLUMNS))


@pytest.mark.parametrize("beginning", [b"", b"t,d0\n0,1\n"])
def test_a_line_without_an_end_is_refused(beginning, monkeypatch):
    monkeypatch.setattr(column_files, "LONGEST", 1 << 16)
    with pytest.raises(ValueError, match="is longer than"):
        list(read_lines(io.BytesIO(beginning + b"1" * (1 << 17)), COLUMNS))


def test_lines_are_filtered_with_what_is_true_beside_them():
    model, _ = plane_model("plane")
    states, seen = plane_walk(6, 1)
    rows = [f"{0.5 * t},{','.join(map(str, (*seen[t], *states[t])))}" for t in range(6)]
    rows.insert(3, "0.1,1,2,3,4,5")  # a time that does not come after the last
    text = "\n".join(["t,d0,d1,d2,x,y", *rows]) + "\n"
    told, followed, desk = [], FollowedObjects(), desk_for(model)
    desk.watchers.append(followed)
    service = Service(model, desk)
    lines = read_lines(io.BytesIO(text.encode()), COLUMNS)
    source = LineSource(lines, desk, followed, told.append)
    done = []

    async def run():
        await source.run()
        done.append(True)

    service.started.append(run)
    run_ = model.filter.filter(seen, times=[0.5 * t for t in range(6)])
    with serving(service):
        for _ in range(1000):
            if done:
                break
            time.sleep(0.01)
    trail = followed.histories["stdin"].trail(6)
    assert [list(moment.truth) for moment in trail] == [pytest.approx(list(x)) for x in states]
    assert trail[-1].answer["mean"] == pytest.approx(list(run_.mean[5]), rel=1e-12)
    (sentence,) = told
    assert sentence.startswith("line 5 is not used: stdin was last observed at 1, and the time 0.1")
