"""Smoothing: where it was.

Eight observations in a row are lost. The filter can only guess ahead and grows unsure; the smoother,
which knows what came after, fills the gap. Sampled paths show what may have happened in it.

Data: simulated (the paper's model 1a, a noisy sensor).
"""

import os

import matplotlib.pyplot as plt
import numpy as np

import kmcf

QUICK = bool(os.environ.get("KMCF_QUICK"))
model = kmcf.datasets.paper_model("1a")
train, test = model.simulate(120 if QUICK else 400, random_state=0), model.simulate(40, random_state=4)
seen = test.observations.copy()
seen[18:26] = np.nan

flt = kmcf.KernelMonteCarloFilter(model.transition, initial=model.initial, random_state=0)
run = flt.fit(train.states, train.observations).smooth(seen)
paths = run.sample_paths(20)
rival, error = (np.sqrt(np.mean((one.mean - test.states) ** 2)) for one in (run.filtered, run))
print(f"root mean squared error: filter {rival:.2f}, smoother {error:.2f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8), sharey=True, layout="constrained")
for axes, one, color, name in ((left, run.filtered, "C1", "filter"), (right, run, "C0", "smoother")):
    mean, spread = one.mean[:, 0], 2 * np.sqrt(np.maximum(one.covariance[:, 0, 0], 0))
    axes.axvspan(17.5, 25.5, color="0.93", label="nothing observed")
    axes.fill_between(range(40), mean - spread, mean + spread, color=color, alpha=0.2, label="± 2 standard deviations")
    axes.plot(mean, color=color, label=f"{name} (rmse {np.sqrt(np.mean((one.mean - test.states) ** 2)):.2f})")
    axes.plot(test.states, "k-", linewidth=1, label="truth")
    axes.set(xlabel="step")
right.plot(paths[:, :, 0].T, color="C0", linewidth=0.4)
right.plot([], color="C0", linewidth=0.4, label="sampled paths")
left.set_ylabel("state (no unit)")
for axes in (left, right):
    axes.legend(fontsize=7, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0))
figure.savefig("smoothing.png", dpi=80)
