"""Strings: finding one's place in a text.

A reader moves along a text of four letters and reports the twelve letters it sees, each of which is wrong once in ten
times. Strings are compared by the short words that they share (the spectrum kernel, which forgives one misread letter
per word). The same stretch of text stands at two places.

Data: simulated.
"""

import os

import matplotlib.pyplot as plt
import numpy as np

import kmcf

QUICK = bool(os.environ.get("KMCF_QUICK"))
rng = np.random.default_rng(0)
text = rng.choice(list("ACGT"), size=400)
text[300:360] = text[40:100]


def read(place):
    """Return twelve letters from a place on, each of them misread once in ten times."""
    letters = text[int(place) : int(place) + 12].copy()
    wrong = rng.uniform(size=12) < 0.1
    letters[wrong] = rng.choice(list("ACGT"), size=wrong.sum())
    return "".join(letters)


def move(states, control, rng):
    """Move on by about three letters."""
    return np.clip(states + rng.normal(3.0, 1.5, states.shape), 0, 388)


places = rng.uniform(0, 388, size=(200 if QUICK else 400, 1))
kernel = kmcf.kernels.Spectrum(4, mismatches=1)
flt = kmcf.KernelMonteCarloFilter(
    move, state_kernel=kmcf.kernels.Gaussian(6.0), observation_kernel=kernel, random_state=0
).fit(places, [read(x) for x in places[:, 0]])

truth = 305 + 3.0 * np.arange(25) if QUICK else 5 + 3.0 * np.arange(125)
strings = [read(x) for x in truth]
run = flt.filter(strings)
alone = np.array([flt.step(flt.start(), string).mean()[0] for string in strings])  # each string on its own
error, rival = np.abs(run.mean[:, 0] - truth).mean(), np.abs(alone - truth).mean()
print(f"{strings[0]}, {strings[1]}, ...: mean error {error:.1f} letters, string by string {rival:.1f}")

figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
for start in (40, 300):
    axes.axhspan(start, start + 60, color="C3", alpha=0.12, label="the same text" if start == 40 else None)
axes.plot(alone, ".", color="C1", label=f"each string alone (mean error {rival:.0f} letters)")
axes.plot(truth, "k-", label="truth")
axes.plot(run.mean[:, 0], "C0-", label=f"filter ({error:.1f} letters)")
axes.set(xlabel="step", ylabel="place in the text (letters)")
axes.legend(fontsize=8, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0))
figure.savefig("strings.png", dpi=80)
