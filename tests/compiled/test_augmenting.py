"""Pairs made up from the examples, on the device."""

import numpy as np
from jax_cases import MODEL, TEST, TRAIN, fitted

import kmcf


def test_jax_and_numpy_know_the_same_pairs_and_correct_alike():
    compiled = fitted(augment=None)
    host = kmcf.KernelMonteCarloFilter(MODEL.transition, initial=MODEL.initial, n_resample=30, random_state=3)
    host.fit(TRAIN.states, TRAIN.observations)
    assert compiled.augmented_ == host.augmented_ == 435
    belief = compiled.step(compiled.start(), TEST.observations[0])
    np.testing.assert_array_equal(belief.states[:150], TRAIN.states)
    prior = host.rule_.correct(
        kmcf.bayes_rule.Sample(compiled.start().states, np.full(150, 1 / 150)), TEST.observations[:1]
    )
    np.testing.assert_allclose(belief.weights, prior.weights(), atol=1e-7)
    assert np.isin(fitted(augment=None, initial=None).start().states, TRAIN.states).all()
