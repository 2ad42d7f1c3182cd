"""Volatility that nobody sees.

Returns are noise whose size changes slowly: x is the logarithm of the variance, y = exp(x/2)/2 times noise (the paper's
model 2a). The filter learns from pairs (volatility, return) of the past and is compared with a particle filter that
knows the formula.

Data: simulated.
"""

import os

import matplotlib.pyplot as plt
import numpy as np

import kmcf

QUICK = bool(os.environ.get("KMCF_QUICK"))
model = kmcf.datasets.paper_model("2a")
past = model.simulate(200 if QUICK else 600, random_state=0)
today = model.simulate(60 if QUICK else 150, random_state=1)

flt = kmcf.KernelMonteCarloFilter(model.transition, initial=model.initial, random_state=0)
flt.fit(past.states, past.observations)
run = flt.filter(today.observations)
knowing = kmcf.baselines.ParticleFilter(
    model.transition, model.log_likelihood, initial=model.initial, n_particles=2000, random_state=0
).fit(past.states, past.observations)
best = knowing.filter(today.observations)

error, rival = (np.sqrt(np.mean((one.mean - today.states) ** 2)) for one in (run, best))
low, high = run.interval[:, :, 0].T
print(f"root mean squared error: from examples {error:.2f}, knowing the model {rival:.2f}")

figure, (top, bottom) = plt.subplots(2, 1, figsize=(8, 4.6), sharex=True, layout="constrained")
top.bar(range(len(today.observations)), today.observations[:, 0], color="0.4")
top.set(ylabel="return (%)")
bottom.fill_between(range(len(low)), low, high, color="C0", alpha=0.2, label="95 % interval")
bottom.plot(today.states, "k-", label="truth")
bottom.plot(run.mean, "C0-", label=f"from examples (rmse {error:.2f})")
bottom.plot(best.mean, "C1--", label=f"particle filter that knows the model ({rival:.2f})")
bottom.set(xlabel="day", ylabel="log variance x")
bottom.legend(fontsize=8, ncols=2)
figure.savefig("stochastic_volatility.png", dpi=80)
