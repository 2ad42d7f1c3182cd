"""A robot that sees landmarks.

A robot drives between numbered posts and sees those within four metres: a set of (number, range, bearing), of another
size at every step, and sometimes empty. Velocity commands say how it moves, with wheels that slip.

Data: simulated; `kmcf localize mrclam` does the same on recordings of real robots.
"""

import os

import matplotlib.pyplot as plt
import numpy as np

import kmcf
from kmcf.kernels import LandmarkSet, Pose

QUICK = bool(os.environ.get("KMCF_QUICK"))
rng = np.random.default_rng(3)
posts = rng.uniform(0, 12, size=(12, 2))


def seen(pose):
    """Return the posts within four metres as rows (number, range, bearing)."""
    distance = np.linalg.norm(posts - pose[:2], axis=1)
    bearing = np.arctan2(*(posts - pose[:2]).T[::-1]) - pose[2]
    return [
        (i, distance[i] + 0.2 * rng.normal(), bearing[i] + 0.1 * rng.normal()) for i in np.flatnonzero(distance < 4)
    ]


poses = rng.uniform([0, 0, -np.pi], [12, 12, np.pi], size=(300 if QUICK else 600, 3))
motion = kmcf.transitions.VelocityMotion(0.05, 0.05, 0.05, 0.05, 0.02, 0.02)
turns = np.repeat([0.28, -0.28, 0.28, -0.28], 22)[: 30 if QUICK else None]  # a figure of eight, twice
commands = np.column_stack([np.full(len(turns), 0.7), turns])  # m/s, rad/s
truth = [np.array([[6.0, 6.0, 0.0]])]
for command in commands[1:]:
    truth.append(motion(truth[-1], command, rng))
truth = np.concatenate(truth)

flt = kmcf.KernelMonteCarloFilter(
    motion, state_kernel=Pose(multiplier=0.4), observation_kernel=LandmarkSet(angles=[2]), angles=(2,), random_state=0
).fit(poses, [seen(pose) for pose in poses])
observed = [seen(pose) for pose in truth]
run = flt.filter(observed, commands)
dead = [run.mean[0][None]]  # the commands alone, from the first estimate on
for command in commands[1:]:
    dead.append(kmcf.transitions.VelocityMotion(0, 0, 0, 0, 0, 0)(dead[-1], command, rng))
error = np.linalg.norm(run.mean[:, :2] - truth[:, :2], axis=1).mean()
rival = np.linalg.norm(np.concatenate(dead)[:, :2] - truth[:, :2], axis=1).mean()
print(f"mean error: filter {error:.2f} m, commands alone {rival:.2f} m")

figure, (plane, counts) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
plane.plot(*posts.T, "s", color="C2", label="posts")
plane.plot(*truth[:, :2].T, "k-", label="true path")
plane.plot(*np.concatenate(dead)[:, :2].T, color="C1", label=f"commands alone ({rival:.1f} m)")
plane.plot(*run.mean[:, :2].T, color="C0", label=f"filter ({error:.1f} m)")
plane.set(xlabel="x (m)", ylabel="y (m)", aspect="equal")
plane.legend(fontsize=8, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0))
counts.step(range(len(truth)), [len(one) for one in observed], color="C2", label="posts in view")
counts.plot(np.linalg.norm(run.mean[:, :2] - truth[:, :2], axis=1), color="C0", label="error of the filter (m)")
counts.set(xlabel="time (s)", ylabel="number; metres", ylim=(0, None))
counts.legend(fontsize=8, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0))
figure.savefig("robot_landmarks.png", dpi=80)
