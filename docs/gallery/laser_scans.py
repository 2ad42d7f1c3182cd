"""Laser scans in a room.

A robot scans a room with two boxes all around with a laser and compares each scan with those it recorded before. The
kernel on scans forgives small rotations and cuts ranges at eight metres.

Data: simulated, 72 beams, noise of 5 cm.
"""

import os

import matplotlib.pyplot as plt
import numpy as np

import kmcf
from kmcf.kernels import Gaussian, LaserScan

QUICK = bool(os.environ.get("KMCF_QUICK"))
rng = np.random.default_rng(0)
boxes = np.array([[0, 0, 10, 6], [2.0, 2.0, 3.5, 4.0], [6.0, 2.2, 7.5, 3.7]])  # x0, y0, x1, y1; the first: the walls
angles = np.linspace(0, 2 * np.pi, 72, endpoint=False)


def scans(places):
    """Return the ranges (n, 72) to the first wall or box that each beam meets."""
    direction = np.stack([np.cos(angles), np.sin(angles)], axis=-1)[None] + 1e-9
    ranges = np.full((len(places), 72), np.inf)
    for box in boxes:
        for axis in (0, 1):
            for edge in (box[axis], box[axis + 2]):
                reach = (edge - places[:, None, axis]) / direction[..., axis]
                across = places[:, None, 1 - axis] + reach * direction[..., 1 - axis]
                hit = (reach > 0) & (across >= box[1 - axis]) & (across <= box[3 - axis])
                ranges = np.where(hit, np.minimum(ranges, reach), ranges)
    return np.abs(ranges + 0.05 * rng.normal(size=ranges.shape))


def free(places):
    """Tell which places are inside the room and in none of the boxes."""
    inside = [np.all((places > box[:2]) & (places < box[2:]), axis=1) for box in boxes]
    return inside[0] & ~inside[1] & ~inside[2]


places = rng.uniform([0, 0], [10, 6], size=(200 if QUICK else 450, 2))
places = places[free(places)]
turns = np.linspace(0, 2 * np.pi, 40 if QUICK else 90)
truth = np.column_stack([5 + 4 * np.cos(turns), 3 + 2.3 * np.sin(turns)])
walk = kmcf.transitions.GaussianRandomWalk(0.3)
flt = kmcf.KernelMonteCarloFilter(
    walk, state_kernel=Gaussian(0.5), observation_kernel=LaserScan(max_range=8.0, full_circle=True), random_state=0
)
run = flt.fit(places, scans(places)).filter(scans(truth))
error = np.linalg.norm(run.mean - truth, axis=1).mean()
spacing = np.median(np.sort(np.linalg.norm(places[:, None] - places, axis=2), axis=1)[:, 1])
print(f"mean error {error:.2f} m; the next example is {spacing:.2f} m away from an example")

figure, axes = plt.subplots(figsize=(7, 4.4), layout="constrained")
for box in boxes:
    axes.add_patch(plt.Rectangle(box[:2], *(box[2:] - box[:2]), fill=box is not boxes[0] and box[2] < 10, color="0.4"))
axes.plot(*places.T, ".", color="0.8", markersize=3, label="examples")
axes.plot(*truth.T, "k-", label="true path")
axes.plot(*run.mean.T, "C0-", label=f"filter (mean error {error:.2f} m)")
beams = truth[10] + scans(truth[10:11])[0][:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
axes.plot(*beams.T, "C3.", markersize=4, label="one of the scans")
axes.set(xlabel="x (m)", ylabel="y (m)", aspect="equal")
axes.legend(fontsize=8, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0))
figure.savefig("laser_scans.png", dpi=80)
