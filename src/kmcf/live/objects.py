"""Tracked objects: each has its own belief; what is acknowledged has been written down before."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from kmcf.live.answers import answers_for
from kmcf.live.journal import Journal
from kmcf.live.model import LiveModel
from kmcf.live.requests import Observed, Refusal
from kmcf.live.tracks import Track


@dataclass(frozen=True)
class Limits:
    """How much a server takes on."""

    objects: int = 1000
    """Objects tracked at once."""
    idle: float = 3600.0
    """Seconds after which an object of which nothing is heard is forgotten."""


class Request(NamedTuple):
    """Something asked of the tracked objects: ``observe``, ``observe_all``, ``get``, ``list``, ``delete``."""

    kind: str
    what: Any = None


class Answered(NamedTuple):
    """An answer to an observation, with the object behind it for whoever wants to look closer."""

    told: dict[str, Any]
    track: Track | None
    """The object after it; None where another process holds it."""
    before: Track | None = None
    """The object before it; None where another process holds it, or a repeated request is answered again."""
    new: bool = False
    """Whether a step was made: not where a repeated request is answered again."""


class TrackedObjects:
    """Objects by id, each with the belief about its state.

    Parameters
    ----------
    model : LiveModel
        The filter.
    limits : Limits, optional
        How many objects, for how long.
    journal : Journal, optional
        Where observations are written down before they are acknowledged. None: nowhere.
    now : callable
        The clock by which objects are idle.

    Examples
    --------
    >>> import kmcf, numpy as np
    >>> X = np.linspace(0.0, 1.0, 30)
    >>> flt = kmcf.KernelMonteCarloFilter(kmcf.transitions.GaussianRandomWalk(0.1), random_state=0).fit(X, X)
    >>> objects = TrackedObjects(LiveModel(flt))
    >>> (answered,) = objects.work([Request("observe", Observed("robot", 0.4))])
    >>> answered.told["object"], answered.told["step"]
    ('robot', 1)
    """

    def __init__(
        self,
        model: LiveModel,
        limits: Limits | None = None,
        journal: Journal | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.model = model
        self.limits = limits or Limits()
        self._now = now
        self._journal = journal
        self._tracks: dict[str, Track] = {}  # those heard of longest ago come first
        self._begun = 0
        if journal is not None:
            try:
                self._restore(journal)
            except BaseException:
                journal.close()
                raise

    def __len__(self) -> int:
        return len(self._tracks)

    def work(self, requests: Sequence[Request]) -> list[Any]:
        """Answer some requests in their order; a ``Refusal`` in place of an answer says what was wrong.

        Observations are written down together, before any of them is answered; if that fails, none of them was made.
        """
        try:
            return self._together(requests)
        except Exception as error:  # nothing was changed yet; one object's failure must not touch another's
            if len(requests) > 1:
                return [outcome for request in requests for outcome in self.work([request])]
            return [Refusal(500, f"the filter failed with {type(error).__name__}: {str(error)[:200]}.")]

    def _together(self, requests: Sequence[Request]) -> list[Any]:
        draft = _Draft(self._tracks, self._begun)
        outcomes: list[Any] = []
        self._forget_idle(draft)
        for request in requests:
            try:
                outcomes.append(getattr(self, f"_{request.kind}")(draft, request.what))
            except Refusal as refusal:
                outcomes.append(refusal)
        self._tell(draft, outcomes)
        if self._journal is not None and draft.entries:
            try:
                self._journal.append(draft.entries)
            except OSError as error:
                told = Refusal(503, f"the observation could not be written down: {error.strerror or error}.")
                changing = ("observe", "observe_all", "delete")
                return [told if r.kind in changing else o for r, o in zip(requests, outcomes, strict=True)]
        self._commit(draft)
        return outcomes

    def close(self) -> None:
        """Write a last snapshot."""
        if self._journal is not None:
            self._journal.snapshot(self._begun, self._tracks)
            self._journal.close()

    def _observe(self, draft: _Draft, observed: Observed) -> Any:
        before = draft.track(observed.object)
        made = 0 if before is None else before.belief.time
        if observed.step is not None and observed.step != made + 1:
            if observed.step == made and before is not None:
                return _Pending(observed.object, before, repeated=True)
            raise Refusal(409, f"the next step of {observed.object} is {made + 1}, not {observed.step}.")
        begun = draft.begun
        if before is None:
            if draft.count >= self.limits.objects:
                raise Refusal(503, f"{draft.count} objects are tracked already, which is the most; delete one.")
            before, begun = Track.begin(self.model, draft.begun), draft.begun + 1
        after = replace(before.after(self.model, observed), touched=self._now())
        draft.begun = begun
        draft.put(observed.object, after)
        draft.entries.append(entry_of(observed, after))
        return _Pending(observed.object, after, before=before)

    def _observe_all(self, draft: _Draft, several: Sequence[Observed]) -> list[Any]:
        """Use several observations, or none of them."""
        before = draft.saved()
        made: list[Any] = []
        for number, observed in enumerate(several, start=1):
            try:
                made.append(self._observe(draft, observed))
            except Refusal as refusal:
                draft.back_to(before)
                where = f"observation {number} of {len(several)}, of which none was used: "
                raise Refusal(refusal.status, where + refusal.message) from None
        return made

    def _get(self, draft: _Draft, name: str) -> Any:
        track = draft.track(name)
        if track is None:
            raise Refusal(404, f"no object {name} is tracked.")
        return _Pending(name, track, repeated=True)

    def _list(self, draft: _Draft, _: Any) -> list[dict[str, Any]]:
        """Tell of every object how many steps it made and when it was last heard of."""
        return [
            {"object": name, "step": track.belief.time, "time": track.clock, "heard": track.touched}
            for name, track in draft.everything().items()
        ]

    def _delete(self, draft: _Draft, name: str) -> bool:
        if draft.track(name) is None:
            raise Refusal(404, f"no object {name} is tracked.")
        draft.put(name, None)
        draft.entries.append({"object": name, "deleted": True})
        return True

    def _forget_idle(self, draft: _Draft) -> None:
        oldest = self._now() - self.limits.idle
        for name, track in self._tracks.items():
            if track.touched >= oldest:
                break
            draft.put(name, None)
            draft.entries.append({"object": name, "deleted": True})

    def _tell(self, draft: _Draft, outcomes: list[Any]) -> None:
        """Turn what is pending into answers; those about new beliefs are worked out together."""
        flat = [one for outcome in outcomes for one in (outcome if isinstance(outcome, list) else [outcome])]
        new = [one for one in flat if isinstance(one, _Pending) and one.track.answer is None]
        told = answers_for([(one.name, one.track.belief, one.track.clock) for one in new])
        answers = {id(one.track): answer for one, answer in zip(new, told, strict=True)}

        def answered(one: Any) -> Any:
            if isinstance(one, list):
                return [answered(part) for part in one]
            if not isinstance(one, _Pending):
                return one
            answer = answers.get(id(one.track), one.track.answer)
            track = replace(one.track, answer=answer)
            if draft.track(one.name) is one.track:
                draft.put(one.name, track)
            return Answered(dict(answer or {}), track, one.before, not one.repeated)

        outcomes[:] = [answered(outcome) for outcome in outcomes]

    def _commit(self, draft: _Draft) -> None:
        for name, track in draft.changed.items():
            self._tracks.pop(name, None)
            if track is not None:
                self._tracks[name] = track
        self._begun = draft.begun
        if self._journal is not None and self._journal.long:
            with suppress(OSError):  # the journals hold everything; the next snapshot may succeed
                self._journal.snapshot(self._begun, self._tracks)

    def _restore(self, journal: Journal) -> None:
        """Begin with the last snapshot, and make the steps that were written down since."""
        self._begun, self._tracks = journal.restored(self.model)
        for entry in journal.entries():
            name = entry["object"]
            if entry.get("deleted"):
                self._tracks.pop(name, None)
                continue
            track = self._tracks.pop(name, None)
            if entry["step"] == 1:
                track = Track.begin(self.model, entry["stream"])
                self._begun = max(self._begun, entry["stream"] + 1)
            if track is None or track.belief.time + 1 != entry["step"]:
                raise ValueError(f"{journal.folder}: step {entry['step']} of {name} follows no step before it.")
            observed = Observed(name, entry["observation"], entry["control"], entry["time"])
            self._tracks[name] = replace(track.after(self.model, observed), answer=None, touched=entry["at"])
        self._answer_restored()

    def _answer_restored(self) -> None:
        unanswered = {name: track for name, track in self._tracks.items() if track.answer is None}
        told = answers_for([(name, track.belief, track.clock) for name, track in unanswered.items()])
        for answer, (name, track) in zip(told, unanswered.items(), strict=True):
            self._tracks[name] = replace(track, answer=answer)


class _Pending(NamedTuple):
    """An observation that was used, and is not answered yet."""

    name: str
    track: Track
    before: Track | None = None
    repeated: bool = False


class _Draft:
    """Changes that are not made yet."""

    def __init__(self, tracks: dict[str, Track], begun: int) -> None:
        self._tracks = tracks
        self.begun = begun
        self.count = len(tracks)
        self.changed: dict[str, Track | None] = {}
        self.entries: list[dict[str, Any]] = []

    def track(self, name: str) -> Track | None:
        return self.changed[name] if name in self.changed else self._tracks.get(name)

    def put(self, name: str, track: Track | None) -> None:
        self.count += (track is not None) - (self.track(name) is not None)
        self.changed.pop(name, None)
        self.changed[name] = track

    def saved(self) -> tuple[Any, ...]:
        return dict(self.changed), len(self.entries), self.begun, self.count

    def back_to(self, saved: tuple[Any, ...]) -> None:
        self.changed, entries, self.begun, self.count = saved
        del self.entries[entries:]

    def everything(self) -> dict[str, Track]:
        both: Iterable[tuple[str, Track | None]] = {**self._tracks, **self.changed}.items()
        return {name: track for name, track in both if track is not None}


def entry_of(observed: Observed, after: Track) -> dict[str, Any]:
    """Return what is written down about a step: enough to make it again."""
    return {
        "object": observed.object,
        "stream": after.belief.stream,
        "step": after.belief.time,
        "observation": observed.observation,
        "control": observed.control,
        "time": observed.time,
        "at": after.touched,
    }
