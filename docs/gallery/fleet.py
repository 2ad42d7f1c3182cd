"""A fleet: hundreds of filters at once.

Three hundred buoys report through the same kind of sensor, so one set of examples serves them all. With JAX arrays the
whole batch runs as one compiled loop; here on a CPU, on a GPU by the same lines.

Data: simulated (the paper's model 1a, a noisy sensor). Needs kmcf[jax].
"""

import os
import time

import jax
import matplotlib.pyplot as plt
import numpy as np

import kmcf

jax.config.update("jax_enable_x64", True)
QUICK = bool(os.environ.get("KMCF_QUICK"))
model = kmcf.datasets.paper_model("1a")
train = model.simulate(150 if QUICK else 500, random_state=0)
fleet = [model.simulate(20 if QUICK else 60, random_state=k) for k in range(1, 21 if QUICK else 301)]
observations = jax.numpy.asarray(np.stack([buoy.observations for buoy in fleet]))
truth = np.stack([buoy.states for buoy in fleet])

flt = kmcf.KernelMonteCarloFilter(model.transition, initial=model.initial, n_particles=128, random_state=0)
flt.fit(jax.numpy.asarray(train.states), jax.numpy.asarray(train.observations))
begin = time.perf_counter()
runs = flt.filter(observations)
means = runs.mean
seconds = time.perf_counter() - begin
errors = np.sqrt(np.mean((means - truth) ** 2, axis=(1, 2)))
error, rival = errors.mean(), truth.std()
print(f"{len(fleet)} buoys, {means[..., 0].size} steps in {seconds:.1f} s with compiling; mean rmse {error:.2f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for k in range(3):
    left.plot(truth[k], color=f"C{k}", linestyle=":", label="truth" if k == 0 else None)
    left.plot(means[k], color=f"C{k}", label=f"buoy {k + 1}, filter")
left.set(xlabel="step", ylabel="state (no unit)")
left.legend(fontsize=8, ncols=2)
right.hist(errors, bins=30, color="C0", label=f"{len(fleet)} buoys")
right.axvline(rival, color="k", linestyle="--", label="knowing nothing")
right.set(xlabel="root mean squared error (no unit)", ylabel="number of buoys")
right.legend(fontsize=8)
figure.savefig("fleet.png", dpi=80)
