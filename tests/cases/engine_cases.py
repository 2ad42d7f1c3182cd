"""One filter for every engine: the paper's model 1a and 300 examples."""

import kmcf
from kmcf.datasets import paper_model

MODEL = paper_model("1a")
TRAIN, TEST = MODEL.simulate(300, random_state=0), MODEL.simulate(40, random_state=1)


def fitted(engine="auto", train=TRAIN, model=MODEL, **settings):
    # A threshold of zero makes every engine resample at every step, as the compressed one always does.
    settings = {"resample_threshold": 0.0, "random_state": 3, "augment": False, **settings}
    flt = kmcf.KernelMonteCarloFilter(model.transition, initial=model.initial, engine=engine, **settings)
    return flt.fit(train.states, train.observations)


def tiny(n=15, **settings):
    """A filter whose steps take no time."""
    train = MODEL.simulate(n, random_state=0)
    flt = kmcf.KernelMonteCarloFilter(
        MODEL.transition, initial=MODEL.initial, n_resample=5, random_state=0, engine="exact", **settings
    )
    return flt.fit(train.states, train.observations)
