"""Pictures along a corridor that repeats itself.

A camera looks at the wall of a corridor. The first and the last third are painted alike, so that no single picture can
tell them apart: the belief has two humps until the robot has passed something unique.

Data: simulated pictures of 48 by 64 pixels with changing light. Needs kmcf[images].
"""

import os

import matplotlib.pyplot as plt
import numpy as np

import kmcf
from kmcf.kernels import Gaussian, SpatialPyramid

QUICK = bool(os.environ.get("KMCF_QUICK"))
rng = np.random.default_rng(1)
noise = rng.normal(size=(48, 440))
third = sum(np.roll(noise, (i, j), axis=(0, 1)) for i in range(-2, 3) for j in range(-2, 3)) / 5
wall = np.concatenate([third[:, :200], third[:, 200:], third[:, :200]], axis=1)  # 640 columns: 0, 1, 0 again
SCALE = (wall.shape[1] - 64) / 30.0  # pixels per metre; the corridor is 30 m long


def picture(place):
    """Return what the camera sees at a place in metres, as grey values."""
    column = int(SCALE * place)
    light = rng.uniform(30, 60)
    return np.clip(128 + light * (wall[:, column : column + 64] + 0.1 * rng.normal(size=(48, 64))), 0, 255).astype("u1")


def drive(states, control, rng):
    """Drive on at about 0.5 m per step, and stay in the corridor."""
    return np.clip(states + rng.normal(0.5, 0.25, states.shape), 0, 30)


places = rng.uniform(0, 30, size=(120 if QUICK else 300, 1))
truth = np.arange(1.0, 29.0, 0.5)[:, None]
flt = kmcf.KernelMonteCarloFilter(
    drive, state_kernel=Gaussian(0.7), observation_kernel=SpatialPyramid(words=60), relocate=True, random_state=0
).fit(places, [picture(x) for x in places[:, 0]])
run = flt.filter([picture(x) for x in truth[:, 0]])
grid = np.linspace(0, 30, 121)
density = np.array([np.maximum(belief.density(grid[:, None], bandwidth=0.5), 0) for belief in run])
unique = truth[:, 0] > 14
error = np.abs(run.mean - truth)[unique].mean()
print(f"after the unique part began: mean error {error:.2f} m")

figure, axes = plt.subplots(1, 3, figsize=(10, 3.4), width_ratios=[1, 1, 2], layout="constrained")
for one, place in zip(axes, (3.0, 3.0 + 440 / SCALE), strict=False):
    one.imshow(picture(place), cmap="gray")
    one.set(title=f"seen at {place:.1f} m", xticks=[], yticks=[])
axes[2].imshow(np.sqrt(density.T), origin="lower", aspect="auto", cmap="Blues", extent=(0, len(truth), 0, 30))
axes[2].plot(np.arange(len(truth)) + 0.5, truth[:, 0], "k--", label="truth")
axes[2].set(xlabel="step", ylabel="place (m)", title="belief over time (darker: more probable)")
axes[2].legend(fontsize=8, loc="lower right")
figure.savefig("camera_corridor.png", dpi=65)
