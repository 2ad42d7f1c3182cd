"""Tracked objects: equal to the filter by itself, in order, limited, and untouched by each other's failures."""

import json
import os

import numpy as np
import pytest
from live_cases import observe, plane_model, walk_model

from kmcf.live.journal import Journal
from kmcf.live.objects import Answered, Limits, Request, TrackedObjects
from kmcf.live.requests import Observed, Refusal

MODEL, TEST = walk_model()


def told(outcome):
    assert isinstance(outcome, Answered), outcome
    return outcome.told


def test_every_object_is_the_filter_by_itself():
    objects = TrackedObjects(MODEL)
    sequences = [TEST, TEST[::-1], TEST[5:] + 0.1]
    answers = {name: [] for name in "abc"}
    for t in range(15):
        requests = [observe(name, float(y[t, 0])) for name, y in zip("abc", sequences, strict=True)]
        for name, outcome in zip("abc", objects.work(requests), strict=True):
            answers[name].append(told(outcome))
    for stream, (name, y) in enumerate(zip("abc", sequences, strict=True)):
        belief = MODEL.filter.start(stream=stream)
        for t, answer in enumerate(answers[name]):
            belief = MODEL.filter.step(belief, y[t])
            assert answer["step"] == t + 1
            np.testing.assert_allclose(answer["mean"], belief.mean(), rtol=1e-12)
            np.testing.assert_allclose(answer["interval"], belief.interval(), rtol=1e-12)
            assert (answer["alarm"], answer["reason"]) == (belief.alarm, belief.alarm_reason)


def test_one_batch_may_hold_many_observations_of_one_object():
    single, together = TrackedObjects(MODEL), TrackedObjects(MODEL)
    one_by_one = [told(single.work([observe("a", float(y))])[0]) for y in TEST[:6, 0]]
    at_once = [told(outcome) for outcome in together.work([observe("a", float(y)) for y in TEST[:6, 0]])]
    for first, second in zip(one_by_one, at_once, strict=True):
        assert first["step"] == second["step"]
        np.testing.assert_allclose(first["mean"], second["mean"], rtol=1e-12)


BAD = {
    "infinity": [float("inf")],
    "shape": [1.0, 2.0],
    "text": "abc",
    "ragged": [[1.0], [2.0, 3.0]],
    "truth": [True],
    "deep": [[[[[[1.0]]]]]],
    "sensors": {"wifi": [1.0]},
}


@pytest.mark.parametrize("wrong", BAD)
def test_a_bad_observation_changes_nothing(wrong):
    objects = TrackedObjects(MODEL)
    objects.work([observe("a", 0.5), observe("b", 0.5)])
    refused, fine = objects.work([observe("a", BAD[wrong]), observe("b", 0.6)])
    assert isinstance(refused, Refusal)
    assert refused.status == 422
    assert refused.message.endswith(".")
    assert told(fine)["step"] == 2
    assert told(objects.work([observe("a", 0.6)])[0])["step"] == 2


def test_a_transition_that_fails_is_this_objects_affair(monkeypatch):
    objects = TrackedObjects(MODEL)
    objects.work([observe("a", 0.5), observe("b", 0.5)])
    step = type(MODEL.filter).step

    def failing(self, belief, y, *rest):
        if belief.stream == 0:
            raise RuntimeError("no such place")
        return step(self, belief, y, *rest)

    monkeypatch.setattr(type(MODEL.filter), "step", failing)
    failed, fine = objects.work([observe("a", 0.6), observe("b", 0.6)])
    assert failed.status == 500
    assert "RuntimeError: no such place" in failed.message
    assert told(fine)["step"] == 2
    monkeypatch.undo()
    assert told(objects.work([observe("a", 0.6)])[0])["step"] == 2


def test_an_answer_that_fails_is_this_objects_affair(monkeypatch):
    objects = TrackedObjects(MODEL)
    objects.work([observe("a", 0.5), observe("b", 0.5)])
    interval = type(MODEL.filter.start()).interval

    def failing(belief, *rest):
        if belief.stream == 0:
            raise MemoryError("no room")
        return interval(belief, *rest)

    monkeypatch.setattr(type(MODEL.filter.start()), "interval", failing)
    failed, fine = objects.work([observe("a", 0.6), observe("b", 0.6)])
    assert (failed.status, failed.message) == (500, "the filter failed with MemoryError: no room.")
    assert told(fine)["step"] == 2
    monkeypatch.undo()
    assert told(objects.work([observe("a", 0.6)])[0])["step"] == 2


def test_a_snapshot_that_cannot_be_written_is_not_missed(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    journal = Journal(tmp_path, MODEL, length=3)
    objects = TrackedObjects(MODEL, journal=journal)
    monkeypatch.setattr("kmcf.live.journal.write_snapshot", full)
    for t in range(8):
        last = told(objects.work([observe("a", 0.1 * t)])[0])
    journal.close()
    monkeypatch.undo()
    again = TrackedObjects(MODEL, journal=Journal(tmp_path, MODEL))
    assert told(again.work([Request("get", "a")])[0]) == last
    again.close()


def test_a_request_that_is_sent_again_is_answered_again():
    objects = TrackedObjects(MODEL)
    first = told(objects.work([Request("observe", Observed("a", 0.5, step=1))])[0])
    again = told(objects.work([Request("observe", Observed("a", 0.5, step=1))])[0])
    assert again == first
    early = objects.work([Request("observe", Observed("a", 0.5, step=3))])[0]
    assert (early.status, early.message) == (409, "the next step of a is 2, not 3.")
    assert told(objects.work([Request("observe", Observed("a", 0.5, step=2))])[0])["step"] == 2


def test_times_must_increase():
    objects = TrackedObjects(MODEL)
    timed = lambda time: objects.work([Request("observe", Observed("a", 0.5, time=time))])[0]  # noqa: E731
    assert told(timed(2.0))["step"] == 1
    assert timed(2.0).status == 409
    assert timed(None).status == 409
    assert told(timed(2.5))["step"] == 2


def test_only_so_many_objects_and_idle_ones_are_forgotten():
    clock = [0.0]
    objects = TrackedObjects(MODEL, Limits(objects=2, idle=10.0), now=lambda: clock[0])
    assert [type(o) for o in objects.work([observe(name, 0.5) for name in "abc"])] == [Answered, Answered, Refusal]
    clock[0] = 6.0
    objects.work([observe("b", 0.6)])
    clock[0] = 11.0
    outcomes = objects.work([Request("get", "a"), observe("c", 0.5), Request("list")])
    assert outcomes[0].status == 404
    assert told(outcomes[1])["step"] == 1
    assert {row["object"]: row["step"] for row in outcomes[2]} == {"b": 2, "c": 1}


def test_deleting():
    objects = TrackedObjects(MODEL)
    objects.work([observe("a", 0.5)])
    assert objects.work([Request("delete", "a"), Request("get", "a")])[0] is True
    assert objects.work([Request("delete", "a")])[0].status == 404
    assert told(objects.work([observe("a", 0.5)])[0])["step"] == 1


def followed(model, observations, folder=None, stop=None, length=10_000):
    """Observe two objects; after ``stop`` batches the server dies without a word and another takes over."""
    journal = None if folder is None else Journal(folder, model, length=length)
    objects, found = TrackedObjects(model, journal=journal), []
    for t, y in enumerate(observations):
        if t == stop:
            journal.close()
            journal = Journal(folder, model, length=length)
            objects = TrackedObjects(model, journal=journal)
        batch = [observe("a", y.tolist(), time=0.5 * t), observe("b", (y + 0.1).tolist(), time=1.0 * t)]
        found += [told(outcome) for outcome in objects.work(batch)]
    if journal is not None:
        journal.close()
    return found


# From the journal alone, or from a snapshot and the lines after it.
RESTARTS = [("line", 10_000), ("line", 7), ("plane", 7), ("window", 7), ("sensors", 7)]


@pytest.mark.parametrize(("case", "length"), RESTARTS)
def test_a_new_server_goes_on_as_the_old_one_would_have(tmp_path, case, length):
    model, observations = plane_model(case)
    whole = followed(model, observations)
    restarted = followed(model, observations, tmp_path, stop=9, length=length)
    assert restarted == whole  # bit by bit


def test_what_is_asked_after_a_restart_is_what_was_answered(tmp_path):
    objects = TrackedObjects(MODEL, journal=Journal(tmp_path, MODEL))
    last = [told(objects.work([observe("a", float(y))])[0]) for y in TEST[:5, 0]][-1]
    objects.work([observe("b", 0.0)])
    objects.work([Request("delete", "b")])
    objects.close()
    again = TrackedObjects(MODEL, journal=Journal(tmp_path, MODEL))
    assert told(again.work([Request("get", "a")])[0]) == last
    assert again.work([Request("get", "b")])[0].status == 404
    again.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0000000002.jsonl", "lock", "snapshot.kmcf"]


def test_a_line_cut_off_by_a_crash_was_never_acknowledged(tmp_path):
    journal = Journal(tmp_path, MODEL)
    objects = TrackedObjects(MODEL, journal=journal)
    objects.work([observe("a", 0.5)])
    objects.work([observe("a", 0.6)])
    journal.close()
    path = tmp_path / "0000000000.jsonl"
    whole = path.read_bytes()
    for cut in (1, 30, len(whole.splitlines(keepends=True)[1]) - 1):
        path.write_bytes(whole[:-cut])
        journal = Journal(tmp_path, MODEL)
        again = TrackedObjects(MODEL, journal=journal)
        assert told(again.work([Request("get", "a")])[0])["step"] == 1
        assert told(again.work([observe("a", 0.6)])[0])["step"] == 2
        journal.close()
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0][:-9] + b"\n" + lines[1])
    with pytest.raises(ValueError, match="is damaged after 0 bytes"):
        TrackedObjects(MODEL, journal=Journal(tmp_path, MODEL))


def test_a_full_disk_refuses_and_keeps_what_was(tmp_path, monkeypatch):
    journal = Journal(tmp_path, MODEL)
    objects = TrackedObjects(MODEL, journal=journal)
    objects.work([observe("a", 0.5)])

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    refused, other = objects.work([observe("a", 0.6), Request("list")])
    assert (refused.status, refused.message) == (
        503,
        "the observation could not be written down: No space left on device.",
    )
    assert other[0]["step"] == 1 or other[0]["step"] == 2
    monkeypatch.undo()
    assert told(objects.work([observe("a", 0.6)])[0])["step"] == 2
    journal.close()
    lines = (tmp_path / "0000000000.jsonl").read_bytes().splitlines()
    assert [json.loads(line[9:])["step"] for line in lines] == [1, 2]


def test_folders_of_others_are_refused(tmp_path):
    objects = TrackedObjects(MODEL, journal=Journal(tmp_path, MODEL))
    with pytest.raises(ValueError, match="another server uses the folder"):
        Journal(tmp_path, MODEL)
    objects.close()
    other, _ = plane_model("plane")
    with pytest.raises(ValueError, match="belongs to another model"):
        Journal(tmp_path, other)
