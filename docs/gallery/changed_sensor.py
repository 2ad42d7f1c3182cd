"""A sensor that has changed since the examples were recorded.

The sensor now shows 60 % of what it showed, and two units more. A test notices it, and the filter is adapted
from the new observations alone. That is experimental and does not always succeed; a few new pairs are safer.

Data: simulated (the paper's model 4b, a folded sensor on a walk with known controls).
"""

import os

import matplotlib.pyplot as plt
import numpy as np

import kmcf

QUICK = bool(os.environ.get("KMCF_QUICK"))
model = kmcf.datasets.paper_model("4b")
train, test = (
    model.simulate(120 if QUICK else 250, random_state=0),
    model.simulate(60 if QUICK else 150, random_state=1),
)
now = 0.6 * test.observations + 2.0

flt = kmcf.KernelMonteCarloFilter(model.transition, initial=model.initial, n_particles=60, random_state=0)
flt.fit(train.states, train.observations)
verdict = kmcf.sensor_changed(flt, now, test.controls, rate=0.1)
found = kmcf.adapt(flt, now, controls=test.controls)
print(verdict)
print(found)
runs = {"not adapted": flt.filter(now, test.controls), "adapted": found.filter.filter(now, test.controls)}
rival, error = (np.sqrt(np.mean((run.mean - test.states) ** 2)) for run in runs.values())
print(f"root mean squared error: before {rival:.2f}, adapted {error:.2f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.6), width_ratios=[1, 1.6], layout="constrained")
line = np.array([-4.0, 4.0])
left.plot(line, line, color="0.7", label="no change")
left.plot(line, 0.6 * line + 2.0, "k--", label="what happened")
if found.adapted:
    left.plot(line, found.change.scale * line + found.change.shift, "C0-", label="what was found")
left.set(xlabel="the old sensor would show (no unit)", ylabel="the sensor shows now (no unit)")
left.legend(fontsize=8)
right.plot(test.states, "k-", label="truth")
right.plot(runs["not adapted"].mean, "C1-", label=f"not adapted (rmse {rival:.2f})")
right.plot(runs["adapted"].mean, "C0-", label=f"adapted (rmse {error:.2f})")
right.set(xlabel="step", ylabel="state (no unit)")
right.legend(fontsize=8)
figure.savefig("changed_sensor.png", dpi=80)
