"""A study on disk: one JSON object per line, the first describes the study, every other one a trial that has ended.

A line is written at once and flushed to disk, so a killed study loses only its running trials; a last line that was cut
short is ignored.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import joblib

from kmcf.filter.sequential import SequentialFilter
from kmcf.numerics.interrupts import uninterrupted
from kmcf.support.atomic import naming, write_atomically
from kmcf.tuning.examples import TuningExamples
from kmcf.tuning.metrics import Metric
from kmcf.tuning.space import Space
from kmcf.tuning.trials import Trial

FORMAT = 1


class StudyFile:
    """Trials of one study, kept in a file.

    Parameters
    ----------
    path : Path
        The file; it is created if it does not exist.
    space : Space
        What is searched.
    """

    def __init__(self, path: Path, space: Space) -> None:
        self.path = path
        self._space = space

    def open(self, description: Mapping[str, str], seed: int | None) -> tuple[list[Trial], int | None]:
        """Read the trials of an earlier session, after checking that they are of this study.

        Parameters
        ----------
        description : mapping
            What the study is about, by part.
        seed : int, optional
            Seed of the study; None takes the one in the file, if there is one.

        Returns
        -------
        list of Trial, seed
        """
        lines = self._lines()
        if not lines:
            return [], seed
        header = lines[0]
        if not isinstance(header, dict) or header.get("kmcf_study") != FORMAT:
            raise ValueError(f"{self.path} is not a study file of this version of kmcf; choose another file.")
        differing = [part for part in description if header["description"].get(part) != description[part]]
        if seed is not None and header["seed"] != seed:
            differing.append("random_state")
        if differing:
            raise ValueError(
                f"{self.path} belongs to another study: it differs in {', '.join(differing)}. Choose another file, or "
                "delete this one to start anew."
            )
        return [self._trial(line) for line in lines[1:]], int(header["seed"])

    def begin(self, description: Mapping[str, str], seed: int) -> None:
        """Write the first line, unless it is there, and drop a last line that was cut short."""
        lines = self._lines()
        if not lines:
            lines = [{"kmcf_study": FORMAT, "seed": seed, "description": dict(description)}]
        write_atomically(self.path, "".join(json.dumps(line) + "\n" for line in lines))

    def append(self, trial: Trial) -> None:
        """Add a trial that has ended."""
        record = {
            "number": trial.number,
            **self._space.encoded(trial.proposal),
            "status": trial.status,
            "value": trial.value if math.isfinite(trial.value) else None,
            "blocks": list(trial.blocks),
            "seconds": trial.seconds,
            "error": trial.error,
        }
        with uninterrupted(), naming(self.path), self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def _lines(self) -> list[Any]:
        if not self.path.exists():
            return []
        lines: list[Any] = []
        for line in self.path.read_text(encoding="utf-8").splitlines(keepends=True):
            if not line.endswith("\n"):
                break  # cut short
            try:
                lines.append(json.loads(line))
            except json.JSONDecodeError:
                raise ValueError(f"{self.path} is not a study file: line {len(lines) + 1} is not JSON.") from None
        return lines

    def _trial(self, line: Mapping[str, Any]) -> Trial:
        value = math.nan if line["value"] is None else float(line["value"])
        blocks = tuple(float(block) for block in line["blocks"])
        return Trial(
            line["number"], self._space.decoded(line), line["status"], value, blocks, line["seconds"], line["error"]
        )


def described(
    flt: SequentialFilter, examples: TuningExamples, space: Space, metric: Metric, division: str
) -> dict[str, str]:
    """Describe a study by what must not change between its sessions."""
    settings = {
        name: value
        if isinstance(value, int | float | str | tuple | type(None))
        else getattr(value, "__qualname__", type(value).__name__)
        for name, value in flt.get_params(deep=True).items()
        if name != "random_state"
    }
    return {
        "states": fingerprint(examples.states),
        "observations": fingerprint(examples.observations),
        "controls": fingerprint(examples.controls),
        "groups": fingerprint(examples.groups),
        "filter": fingerprint((type(flt).__name__, sorted(settings.items(), key=lambda item: item[0]))),
        "space": fingerprint({variant: repr(parameters) for variant, parameters in space.parameters.items()}),
        "metric": metric.name,
        "validation": division,
        "learned_from": fingerprint(examples.taught),
        "corrected_at": fingerprint(examples.observed),
    }


def fingerprint(data: Any) -> str:
    """Return a short hash of some data; equal data have equal hashes.

    Examples
    --------
    >>> fingerprint([1, 2]) == fingerprint([1, 2]), fingerprint([1, 2]) == fingerprint([1, 3])
    (True, False)
    """
    try:
        return str(joblib.hash(data))[:16]
    except Exception:  # objects that cannot be pickled: by their printed form
        return hashlib.sha256(repr(data).encode()).hexdigest()[:16]
