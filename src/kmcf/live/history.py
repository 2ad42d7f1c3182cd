"""What the page can look back on: a recording, filtered as far as it is watched, or objects that are followed."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Sequence
from time import perf_counter
from typing import Any, Protocol

from kmcf.datasets.recording import Recording
from kmcf.live.answers import answers_for
from kmcf.live.frames import TRAIL, Moment
from kmcf.live.model import LiveModel
from kmcf.live.objects import Answered, Request
from kmcf.live.requests import Observed, Refusal, numbers
from kmcf.live.tracks import Track

KEPT = 500
"""Steps of a followed object that are kept."""
FOLLOWED = 8
"""Objects of which steps are kept: those heard of last."""
RECENT, STRIDE = 1000, 50
"""Of a recording the last so many moments are kept, and every so many-th track; the others are made again."""


class History(Protocol):
    """The steps of something, by number from 1."""

    @property
    def first(self) -> int:
        """The earliest step that can still be shown; 0 if there is none."""
        ...

    @property
    def last(self) -> int:
        """The latest."""
        ...

    def trail(self, step: int) -> list[Moment]:
        """Return the moments up to a step, that one last."""
        ...


class RecordedHistory:
    """A recording: steps are made when they are first watched, and again when they were forgotten.

    Parameters
    ----------
    model : LiveModel
        The filter.
    recording : Recording
        What was recorded, with true states where they are known.
    sensors : bool
        Whether its observations come from several sensors.
    stream : int
        Which stream of random numbers it uses.

    Examples
    --------
    >>> import kmcf
    >>> track = kmcf.datasets.ble_tracks()[0]
    >>> walk = kmcf.transitions.GaussianRandomWalk().fit([track])
    >>> flt = kmcf.KernelMonteCarloFilter(walk, random_state=0).fit(*kmcf.datasets.examples(track))
    >>> history = RecordedHistory(LiveModel(flt), track)
    >>> [moment.answer["step"] for moment in history.trail(3)]
    [1, 2, 3]
    """

    def __init__(self, model: LiveModel, recording: Recording, *, sensors: bool = False, stream: int = 0) -> None:
        self._model, self._recording = model, recording
        self._observations: Any = recording.by_sensor() if sensors else recording.observations
        self._tracks: dict[int, Track] = {0: Track.begin(model, stream)}
        self._moments: OrderedDict[int, Moment] = OrderedDict()
        self._lock = threading.Lock()
        self._truths = recording.states if recording.states.shape[1] == len(model.states) else None
        self.name = recording.name

    @property
    def first(self) -> int:
        """The first step."""
        return 1

    @property
    def last(self) -> int:
        """The last step of the recording."""
        return len(self._recording)

    def trail(self, step: int) -> list[Moment]:
        """Return the moments up to a step, that one last; the recording is filtered as far as needed."""
        with self._lock:
            wanted = range(max(1, step - TRAIL + 1), step + 1)
            missing = next((k for k in wanted if k not in self._moments), None)
            if missing is not None:
                self._make(missing, step)
            return [self._moments[k] for k in wanted]

    def _make(self, first: int, last: int) -> None:
        """Make the steps first..last, from the nearest track before them."""
        start = max(k for k in self._tracks if k < first)
        track = self._tracks[start]
        for k in range(start + 1, last + 1):
            track = self._step(track, k)
            if k % STRIDE == 0:
                self._tracks[k] = track
        while len(self._moments) > RECENT:
            self._moments.popitem(last=False)

    def _step(self, track: Track, k: int) -> Track:
        row, recording = k - 1, self._recording
        control = None if recording.controls is None else recording.controls[row]
        time = float(recording.time[row])
        several = isinstance(self._observations, dict)
        said = {name: rows[row] for name, rows in self._observations.items()} if several else self._observations[row]
        observed = Observed(recording.name, _plain(said), _plain(control), time)
        began = perf_counter()
        after = track.after(self._model, observed)
        (answer,) = answers_for([(recording.name, after.belief, time)])
        took = perf_counter() - began
        truth = None if self._truths is None else [float(x) for x in self._truths[row]]
        self._moments[k] = moment_of(track, after, observed, answer, took, truth)
        self._moments.move_to_end(k)
        return after


def histories_of(model: LiveModel, recordings: Sequence[Recording]) -> dict[str, History]:
    """Return the histories of recordings, by their names."""
    found: dict[str, History] = {}
    for stream, recording in enumerate(recordings):
        name = recording.name if recording.name not in found else f"{recording.name} ({stream + 1})"
        found[name] = RecordedHistory(model, recording, sensors=bool(recording.sensors), stream=stream)
    return found


class FollowedHistory:
    """The last steps of one object."""

    def __init__(self) -> None:
        self._moments: deque[Moment] = deque(maxlen=KEPT)

    @property
    def first(self) -> int:
        """The earliest step that is kept."""
        return int(self._moments[0].answer["step"]) if self._moments else 0

    @property
    def last(self) -> int:
        """The latest step."""
        return int(self._moments[-1].answer["step"]) if self._moments else 0

    def add(self, moment: Moment) -> None:
        """Keep a step; where an object begins anew, what was before is forgotten."""
        if moment.answer["step"] != self.last + 1:
            self._moments.clear()
        self._moments.append(moment)

    def trail(self, step: int) -> list[Moment]:
        """Return the moments up to a step, that one last."""
        end = step - self.first + 1
        return list(self._moments)[max(0, end - TRAIL) : end]


class FollowedObjects:
    """The histories of the objects heard of last; a desk's watcher."""

    def __init__(self) -> None:
        self.histories: OrderedDict[str, FollowedHistory] = OrderedDict()
        self._truths: dict[str, list[float]] = {}

    def expect(self, name: str, truth: list[float]) -> None:
        """Remember the true state of an object's next observation."""
        self._truths[name] = truth

    def __call__(self, requests: list[Request], outcomes: list[Any], seconds: list[float]) -> None:
        """Keep the steps of a group of requests."""
        for request, outcome, took in zip(requests, outcomes, seconds, strict=True):
            if request.kind in ("observe", "observe_all"):
                several = [request.what] if request.kind == "observe" else request.what
                answered = outcome if isinstance(outcome, list) else [outcome]
                for observed, one in zip(several, answered, strict=False):
                    if isinstance(one, Answered) and one.new and one.track is not None:
                        self._keep(observed, one, took)

    def _keep(self, observed: Observed, answered: Answered, took: float) -> None:
        name = observed.object
        history = self.histories.setdefault(name, FollowedHistory())
        self.histories.move_to_end(name)
        truth = self._truths.pop(name, None)
        before, after = answered.before, answered.track
        assert before is not None
        assert after is not None
        history.add(moment_of(before, after, observed, answered.told, took, truth))
        while len(self.histories) > FOLLOWED:
            self.histories.popitem(last=False)


def moment_of(
    before: Track,
    after: Track,
    observed: Observed,
    answer: dict[str, Any],
    seconds: float,
    truth: list[float] | None,
) -> Moment:
    """Return a step with all that the page shows of it."""
    try:
        seen, control = numbers(observed.observation, "observation"), numbers(observed.control, "control")
    except Refusal:  # it was accepted, so this cannot be
        seen = control = None
    return Moment(before.belief, after.belief, seen, control, observed.time, answer, seconds, truth)


def _plain(value: Any) -> Any:
    """Return arrays as lists, as clients would send them."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return value.tolist() if hasattr(value, "tolist") else value
