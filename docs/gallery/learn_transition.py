"""Learning a transition from observations alone.

Examples say what the sensor shows at which state, but nobody knows how the state moves: how much it forgets at every
step, and how strongly it is shaken. Both numbers are learnt from a later recording without states.

Data: simulated (the paper's model 1a: x' = 0.9 x + noise with standard deviation 1).
"""

import os

import matplotlib.pyplot as plt
import numpy as np

import kmcf

QUICK = bool(os.environ.get("KMCF_QUICK"))
model = kmcf.datasets.paper_model("1a")
train, later = (
    model.simulate(100 if QUICK else 200, random_state=0),
    model.simulate(80 if QUICK else 250, random_state=5),
)


def make(memory, noise):
    """Return the transition with these parameters."""
    return lambda states, control, rng: memory * states + noise * rng.normal(size=states.shape)


guess = {"memory": 0.5, "noise": 3.0}
flt = kmcf.KernelMonteCarloFilter(make(**guess), n_particles=60, random_state=0).fit(train.states, train.observations)
ranges = {"noise": (0.2, 5.0)} if QUICK else {"memory": (0.0, 1.0), "noise": (0.2, 5.0)}
found = kmcf.learn_transition(flt, later.observations, ranges, make=(lambda noise: make(0.9, noise)) if QUICK else make)
print(found)
rival, error = (
    np.sqrt(np.mean((one.filter(later.observations).mean - later.states) ** 2)) for one in (flt, found.best_filter)
)
print(f"root mean squared error: guessed {rival:.2f}, learnt {error:.2f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8), width_ratios=[1, 1.6], layout="constrained")
for k, (name, true) in enumerate({"memory": 0.9, "noise": 1.0}.items()):
    left.plot(k, true, "k_", markersize=16, label="true" if k == 0 else None)
    left.plot(k, guess[name], "C1x", label="guessed" if k == 0 else None)
    if name in found.estimates:
        low, high = found.intervals[name]
        left.plot([k, k], [low, high], "C0-", linewidth=3, alpha=0.5)
        left.plot(k, found.estimates[name], "C0o", label="learnt, with 95 % interval" if k == 0 else None)
left.set(xticks=[0, 1], xticklabels=["memory", "noise"], xlim=(-0.5, 1.5), ylabel="value (no unit)")
left.legend(fontsize=8)
right.plot(later.states[:80], "k-", label="truth")
right.plot(flt.filter(later.observations).mean[:80], "C1-", label=f"guessed (rmse {rival:.2f})")
right.plot(found.best_filter.filter(later.observations).mean[:80], "C0-", label=f"learnt ({error:.2f})")
right.set(xlabel="step", ylabel="state (no unit)")
right.legend(fontsize=8)
figure.savefig("learn_transition.png", dpi=80)
