"""Settings out of range get a sentence at fit: what was wrong, and what is allowed."""

import numpy as np
import pytest
from engine_cases import fitted as fitted_to_model
from vector_examples import X, Y, fitted, make, stay

import kmcf


@pytest.mark.parametrize("value", [0, 0.0, -1.0, np.nan, np.inf, "small", True])
@pytest.mark.parametrize("name", ["epsilon", "delta"])
def test_regularisers_must_be_positive(name, value):
    with pytest.raises(ValueError, match=rf"{name} = .*positive number"):
        fitted(**{name: value})


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"rule": "bayes"}, "rule = 'bayes'.*'kbr', 'importance'"),
        ({"engine": "fast"}, "engine = 'fast'.*'literal', 'exact'"),
        ({"resampling": "systematic"}, "resampling = 'systematic'.*'herding', 'multinomial', 'none'"),
        ({"support": "grid"}, "support = 'grid'.*'examples'"),
        ({"n_resample": 0}, "n_resample = 0.*positive integer"),
        ({"n_resample": 2.5}, "n_resample = 2.5.*positive integer"),
        ({"n_resample": True}, "n_resample = True.*positive integer"),
        ({"n_particles": -3}, "n_particles = -3.*positive integer"),
        ({"resample_threshold": -1.0}, "resample_threshold = -1.0.*non-negative"),
        ({"resample_threshold": np.nan}, "resample_threshold = nan.*non-negative"),
        ({"resample_threshold": None}, "resample_threshold = None.*non-negative"),
        ({"angles": (2,)}, r"angles = \(2,\).*2 is not a state column \(0 to 1\)"),
        ({"angles": (-1,)}, "-1 is not a state column"),
        ({"angles": (0.5,)}, "0.5 is not a state column"),
    ],
)
def test_settings_out_of_range(settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        fitted(**settings)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"transition": 3}, r"transition must be a function \(states, control, rng\)"),
        ({"transition": stay, "initial": 3}, r"initial must be a function \(size, rng\)"),
    ],
)
def test_functions_must_be_functions(settings, sentence):
    with pytest.raises(TypeError, match=sentence):
        make(**settings).fit(X, Y)


def test_a_failed_fit_can_be_repaired():
    flt = make(epsilon=-1.0)
    with pytest.raises(ValueError, match="epsilon"):
        flt.fit(X, Y)
    assert np.isfinite(flt.set_params(epsilon=0.01).fit(X, Y).filter(Y[:2]).mean).all()


@pytest.mark.parametrize("settings", [{"rule": "importance"}, {"resampling": "none"}, {"resample_threshold": np.inf}])
def test_compressed_refuses_what_it_cannot_do(settings):
    with pytest.raises(ValueError, match="engine='lowrank'"):
        fitted_to_model("compressed", **settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rank": 0}, "rank"),
        ({"rank": (3, 4, 5)}, "pair"),
        ({"tolerance": -1.0}, "tolerance"),
        ({"tolerance": "tight"}, "tolerance"),
        ({"n_examples": 0}, "n_examples"),
        ({"n_examples": 1}, "at least 2"),
        ({"rank": 1.5}, "share of the trace"),
        ({"rank": float("nan")}, "share of the trace"),
        ({"engine": "fast"}, "engine"),
    ],
)
def test_bad_settings_get_a_sentence(settings, message):
    with pytest.raises(ValueError, match=message):
        fitted_to_model(**settings)


def test_other_engines_are_refused():
    with pytest.raises(ValueError, match="support='particles' is computed by engine='lowrank'"):
        kmcf.KernelMonteCarloFilter(lambda s, u, r: s, support="particles", engine="compressed").fit(
            np.zeros((5, 1)), np.zeros((5, 1))
        )


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"background": -0.1}, "background = -0.1"),
        ({"resampling": "herding"}, "resampling = 'herding'; it must be one of 'systematic', 'none'"),
        ({"delta": 0.0}, "delta = 0.0"),
        ({"reject": "no"}, "reject = 'no'; it must be True or False or None"),
    ],
)
def test_bad_settings_are_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        kmcf.ParticleLikelihoodFilter(lambda s, u, r: s, **settings).fit(np.zeros((5, 1)), np.zeros((5, 1)))


def test_an_infinite_delta_is_for_particles_only():
    with pytest.raises(ValueError, match="delta = inf"):
        kmcf.KernelMonteCarloFilter(lambda s, u, r: s, delta=np.inf).fit(np.zeros((5, 1)), np.zeros((5, 1)))


@pytest.mark.parametrize(("n", "given", "expected"), [(40, None, 40), (40, 7, 7), (40, 90, 90)])
def test_number_of_particles(n, given, expected):
    assert len(make(n_particles=given).fit(np.arange(n), np.arange(n)).start()) == expected
