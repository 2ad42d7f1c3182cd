"""A small problem fitted twice: on NumPy and on JAX arrays."""

import jax.numpy as jnp

import kmcf

MODEL = kmcf.datasets.paper_model("1a")
TRAIN, TEST = MODEL.simulate(150, random_state=0), MODEL.simulate(25, random_state=1)


def fitted(train=TRAIN, dtype=jnp.float64, **settings):
    """A filter on JAX arrays, with the model's own transition."""
    arguments = {"transition": MODEL.transition, "initial": MODEL.initial, "n_resample": 30, "random_state": 3}
    flt = kmcf.KernelMonteCarloFilter(**(arguments | {"augment": False} | settings))
    return flt.fit(jnp.asarray(train.states, dtype), jnp.asarray(train.observations, dtype))
