"""Indoor positioning from Bluetooth.

A person carries a Bluetooth beacon through a furnished room with twelve receivers. Eight recorded walks are the
examples, the ninth is followed from an unknown start, without any model of how radio waves spread.

Data: nine recorded walks that come with the package.
"""

import os

import matplotlib.pyplot as plt
import numpy as np

import kmcf

QUICK = bool(os.environ.get("KMCF_QUICK"))
tracks = kmcf.datasets.ble_tracks()  # one observation per second: twelve strengths in dBm
test = tracks.pop()[: 30 if QUICK else None]
states, strengths = kmcf.datasets.examples(tracks[:3] if QUICK else tracks)

walk = kmcf.transitions.GaussianRandomWalk(0.5)  # steps of half a metre per second, in any direction
flt = kmcf.KernelMonteCarloFilter(walk, observation_kernel=kmcf.kernels.Gaussian(), random_state=0)
run = flt.fit(states, strengths).filter(test.observations, times=test.time)
nearest = kmcf.baselines.NearestNeighbor().fit(states, strengths).filter(test.observations)

errors = np.linalg.norm(run.mean - test.states, axis=1)
rival_errors = np.linalg.norm(nearest.mean - test.states, axis=1)
error, rival = errors.mean(), rival_errors.mean()
print(f"mean error: filter {error:.2f} m, most similar example {rival:.2f} m")

figure, (room, over_time) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
room.plot(*states.T, ".", color="0.8", markersize=3, label="examples")
room.plot(*test.states.T, "k-", label="true path")
room.plot(*run.mean.T, color="C0", label="filter")
room.plot(*np.array(list(kmcf.datasets.ble_receivers().values()))[:, :2].T, "^", color="C2", label="receivers")
room.set(xlabel="x (m)", ylabel="y (m)", aspect="equal")
room.legend(fontsize=8, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0))
over_time.plot(test.time, rival_errors, color="C1", label=f"most similar example (mean {rival:.1f} m)")
over_time.plot(test.time, errors, color="C0", label=f"filter (mean {error:.1f} m)")
over_time.set(xlabel="time (s)", ylabel="error (m)", ylim=(0, None))
over_time.legend(fontsize=8)
figure.savefig("indoor_radio.png", dpi=80)
