"""A progress bar with the best value so far (needs the extra ``kmcf[progress]``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from kmcf.support.extras import require
from kmcf.tuning.trials import Trial, ranked


@contextmanager
def trial_progress(total: int, trials: Mapping[int, Trial], *, show: bool) -> Iterator[Callable[[Trial], object]]:
    """Yield a function to call after each trial; it advances a bar and shows the best value so far."""
    if not show:
        yield lambda trial: None
        return
    with require("tqdm", "progress").tqdm(total=total, initial=len(trials), desc="tuning", unit="trial") as bar:

        def advance(_trial: Trial) -> None:
            best = ranked(list(trials.values()))
            bar.set_postfix_str(f"best {best[0].value:.4g}" if best else "none complete")
            bar.update()

        yield advance
