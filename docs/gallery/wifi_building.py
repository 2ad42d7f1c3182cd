"""WiFi on three floors.

A phone hears some of sixty access points in a building with three floors; which ones, and how loudly, was recorded at
900 places. The state is position and floor at once, and the kernel on states says that floors are either the
same or not. Stairs are at both ends of the building.

Data: simulated (signals fade with distance and lose 18 dB at every ceiling).
"""

import os

import matplotlib.pyplot as plt
import numpy as np

import kmcf
from kmcf.kernels import Columns, Gaussian, Same, SignalStrength

QUICK = bool(os.environ.get("KMCF_QUICK"))
rng = np.random.default_rng(0)
LENGTH, SILENT = 60.0, -100.0
points = np.column_stack([rng.uniform(0, LENGTH, 60), rng.integers(0, 3, 60)])


def heard(places):
    """Return the strengths in dBm at places (metres along the building, floor)."""
    along = np.abs(places[:, :1] - points[:, 0])
    floors = np.abs(places[:, 1:] - points[:, 1])
    strength = -35 - 14 * np.log10(1 + along) * 1.6 - 18 * floors + 5 * rng.normal(size=along.shape)
    return np.where(strength > -75, strength, SILENT)


def walk(states, control, rng):
    """Walk along the corridor; near its ends, take the stairs now and then."""
    along = np.clip(states[:, 0] + rng.normal(0, 1.5, len(states)), 0, LENGTH)
    stairs = ((along < 4) | (along > LENGTH - 4)) & (rng.uniform(size=len(states)) < 0.3)
    return np.column_stack([along, np.clip(states[:, 1] + stairs * rng.choice([-1, 1], len(states)), 0, 2)])


places = np.column_stack([rng.uniform(0, LENGTH, 300 if QUICK else 900), np.arange(300 if QUICK else 900) % 3])
there_and_back = np.r_[np.linspace(10, 58, 40), np.linspace(58, 3, 45), np.linspace(3, 35, 30)]
truth = np.column_stack([there_and_back, np.r_[np.zeros(40), np.ones(45), np.full(30, 2)]])[: 60 if QUICK else None]

state_kernel = Columns(Gaussian(3.0), [0]) * Columns(Same(), [1])
flt = kmcf.KernelMonteCarloFilter(
    walk, state_kernel=state_kernel, observation_kernel=SignalStrength(floor=SILENT), random_state=0
).fit(places, heard(places))
run = flt.filter(heard(truth))
chances = np.array([[belief.probability(lambda x, f=f: x[:, 1] == f) for f in range(3)] for belief in run])
error = np.abs(run.mean[:, 0] - truth[:, 0]).mean()
right = np.mean(chances.argmax(axis=1) == truth[:, 1])
print(f"mean error along the building {error:.1f} m, floor right in {right:.0%} of all steps")

figure, (top, bottom) = plt.subplots(2, 1, figsize=(8, 4.4), sharex=True, layout="constrained")
top.plot(truth[:, 0], "k-", label="truth")
top.plot(run.mean[:, 0], "C0-", label=f"filter (mean error {error:.1f} m)")
top.set(ylabel="along the building (m)")
top.legend(fontsize=8)
shown = bottom.imshow(chances.T, origin="lower", aspect="auto", cmap="Blues", vmin=0, vmax=1)
bottom.plot(truth[:, 1], "k-", drawstyle="steps-mid", label="true floor")
bottom.set(xlabel="step (s)", ylabel="floor", yticks=range(3))
bottom.legend(fontsize=8, loc="upper left")
figure.colorbar(shown, ax=bottom, label="probability")
figure.savefig("wifi_building.png", dpi=80)
