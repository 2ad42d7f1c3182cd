"""A rat on a track, from spikes of 31 neurons.

A rat runs on a track while the spikes of 31 neurons of its hippocampus are counted in quarters of a second. The first
70 % of the time are examples, and the rest is decoded. The state has velocities, and moves as recorded ones did nearby.
The rival is the usual decoder: Poisson firing with smoothed place fields, in a particle filter with the same motion.

Data: a recording that comes with the package (position in pixels).
"""

import os

import matplotlib.pyplot as plt
import numpy as np

import kmcf

QUICK = bool(os.environ.get("KMCF_QUICK"))
track = kmcf.datasets.linear_track(bin=0.5 if QUICK else 0.25, least_speed=20.0)
split = int(0.7 * len(track))
train = kmcf.datasets.with_velocity_columns(track[:split])
test = track[split : split + 40 if QUICK else None]  # positions only, to judge by
states, counts = kmcf.datasets.examples(train)
motion = kmcf.transitions.RecordedMoves().fit(train)

flt = kmcf.KernelMonteCarloFilter(
    motion,
    state_kernel=kmcf.kernels.Gaussian(multiplier=0.25),
    epsilon=1e-3,
    observation_kernel=kmcf.kernels.Counts(),
    tolerance="auto",
    random_state=0,
).fit(states, counts)
poisson = kmcf.baselines.PoissonParticleFilter(motion, columns=(0, 1), random_state=0).fit(states, counts)
run = flt.filter(test.observations, times=test.time)
other = poisson.filter(test.observations, times=test.time)
distances = [np.linalg.norm(one.mean[:, :2] - test.states, axis=1) for one in (run, other)]
error, rival = (np.median(distance) for distance in distances)
print(f"median error: kernel filter {error:.0f} px, Poisson filter {rival:.0f} px")

shown = slice(0, 160)
figure, axes = plt.subplots(2, 1, figsize=(8, 4.6), sharex=True, layout="constrained")
axes[0].imshow(np.minimum(test.observations[shown].T, 6), aspect="auto", cmap="Greys", origin="lower")
axes[0].set(ylabel="neuron", title="spike counts (darker: more; 6 and above black)")
axes[1].plot(test.states[shown, 0], "k-", label="truth")
axes[1].plot(run.mean[shown, 0], "C0-", label=f"kernel filter (median error {error:.0f} px)")
axes[1].plot(other.mean[shown, 0], "C1--", label=f"Poisson filter ({rival:.0f} px)")
axes[1].set(xlabel="bin of 0.25 s, running only", ylabel="along the track (px)")
axes[1].legend(fontsize=8, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
figure.savefig("spikes.png", dpi=80)
