"""A small problem to tune on."""

import numpy as np

import kmcf

MODEL = kmcf.datasets.paper_model("1b")
DATA = MODEL.simulate(60, random_state=0)
X, Y, U = DATA.states, DATA.observations, DATA.controls


def flt(**settings):
    """Return a filter for the problem, which knows the examples alone."""
    return kmcf.KernelMonteCarloFilter(MODEL.transition, initial=MODEL.initial, **({"augment": False} | settings))


def squared_errors(train, held_out, seed=5, shown=None, **settings):
    """Fit and filter by hand; the held-out part is a sequence of its own."""
    fitted = flt(random_state=seed, **settings).fit(X[train], Y[train])
    belief, errors = fitted.start(stream=held_out[0] // 30), []
    for t in held_out:
        belief = fitted.step(belief, Y[t] if shown is None or shown[t] else None, U[t])
        errors.append(float(np.sum((belief.mean() - X[t]) ** 2)))
    return errors


def run(n_trials=4, **options):
    """Tune on the problem."""
    options = {"controls": U, "random_state": 5, **options}
    return kmcf.tune(options.pop("flt", flt()), X, Y, n_trials=n_trials, **options)
