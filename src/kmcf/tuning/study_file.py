"""A study on disk: one JSON object per line, the first describes the study, every other one a trial that has ended.

A line is written at once and flushed to disk, so a killed study loses only its running trials; a last line that was cut
short is ignored.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kmcf.filter.sequential import SequentialFilter
from kmcf.numerics.interrupts import uninterrupted
from kmcf.support.atomic import naming, write_atomically
from kmcf.tuning.examples import TuningExamples
from kmcf.tuning.fingerprints import fingerprint, fingerprint_of_settings
from kmcf.tuning.metrics import Metric
from kmcf.tuning.space import Space
from kmcf.tuning.trials import ENDS, Trial

FORMAT = 2
"""Format 1, of kmcf 0.1, identified arrays and lists by their type only."""
KEYS = ("number", "variant", "settings", "status", "value", "blocks", "seconds", "error")


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
        if not isinstance(header.get("description"), dict) or not isinstance(header.get("seed"), int):
            raise ValueError(f"{self.path} is not a study file: line 1 lacks its description or its seed.")
        differing = [part for part in description if header["description"].get(part) != description[part]]
        if seed is not None and header["seed"] != seed:
            differing.append("random_state")
        if differing:
            raise ValueError(
                f"{self.path} belongs to another study: it differs in {', '.join(differing)}. Choose another file, or "
                "delete this one to start anew."
            )
        return [self._trial(line, number) for number, line in enumerate(lines[1:], start=2)], int(header["seed"])

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
        if not self.path.is_file():
            raise ValueError(f"{self.path} is not a regular file, so it cannot keep a study; choose another one.")
        lines: list[Any] = []
        for line in self._text().splitlines(keepends=True):
            if not line.endswith("\n"):
                break  # cut short
            try:
                lines.append(json.loads(line))
            except json.JSONDecodeError:
                raise ValueError(f"{self.path} is not a study file: line {len(lines) + 1} is not JSON.") from None
        return lines

    def _text(self) -> str:
        try:
            return self.path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise ValueError(f"{self.path} is not a study file: it is not text.") from None

    def _trial(self, line: Any, number: int) -> Trial:
        """Read the trial on a line."""
        missing = [key for key in KEYS if key not in line] if isinstance(line, dict) else list(KEYS)
        if missing:
            raise ValueError(f"{self.path}, line {number} is not a trial: it lacks {', '.join(missing)}.")
        try:
            value = math.nan if line["value"] is None else float(line["value"])
            blocks = tuple(float(block) for block in line["blocks"])
            proposal, status = self._space.decoded(line), str(line["status"])
            ended = Trial(
                int(line["number"]), proposal, status, value, blocks, float(line["seconds"]), str(line["error"])
            )
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise ValueError(f"{self.path}, line {number} is not a trial of this study: {error!r}.") from None
        if ended.number < 0 or ended.status not in ENDS:
            raise ValueError(f"{self.path}, line {number} is not a trial: its number or status makes no sense.")
        return ended


def described(
    flt: SequentialFilter, examples: TuningExamples, space: Space, metric: Metric, division: str
) -> dict[str, str]:
    """Describe a study by what must not change between its sessions."""
    settings = {name: value for name, value in flt.get_params(deep=False).items() if name != "random_state"}
    timed = {} if examples.times is None else {"times": fingerprint(examples.times)}
    return {
        "states": fingerprint(examples.states),
        "observations": fingerprint(examples.observations),
        "controls": fingerprint(examples.controls),
        "groups": fingerprint(examples.groups),
        "filter": fingerprint_of_settings([type(flt).__name__, settings]),
        "space": fingerprint_of_settings(space.parameters),
        "metric": metric.name,
        "validation": division,
        "learned_from": fingerprint(examples.taught),
        "corrected_at": fingerprint(examples.observed),
        **timed,
    }
