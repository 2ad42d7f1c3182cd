"""Bad input gets a sentence: its type, and a telling part of what it says."""

import numpy as np
import pytest
from numpy.linalg import LinAlgError
from sklearn.exceptions import NotFittedError

import kmcf
from kmcf.kernels import AsinhScaled, Circular, Columns, Gaussian, Laplace, Linear, Matern

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 2))
Y = np.column_stack([X[:, 0], X[:, 1], X[:, 0] * X[:, 1]]) + 0.1 * RNG.normal(size=(20, 3))


def stay(states, control, rng):
    return states


def make(transition=stay, **settings):
    return kmcf.KernelMonteCarloFilter(transition, random_state=0, **settings)


def fitted(transition=stay, **settings):
    return make(transition, **settings).fit(X, Y)


def with_bad(array, value, row=3):
    changed = array.copy()
    changed[row, 0] = value
    return changed


# --- examples ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("states", "observations", "error", "sentence"),
    [
        (X, Y[:-1], ValueError, "20 states but 19 observations"),
        (X[:-2], Y, ValueError, "18 states but 20 observations"),
        ([], [], ValueError, "at least two examples .* got 0"),
        (np.empty((0, 2)), np.empty((0, 3)), ValueError, "at least two examples .* got 0"),
        (X[:1], Y[:1], ValueError, "at least two examples .* got 1"),
        (np.empty((5, 0)), Y[:5], ValueError, "states have no columns"),
        (X, np.empty((20, 0)), ValueError, "observations have no columns"),
        (with_bad(X, np.nan), Y, ValueError, r"states contain NaN or infinity in 1 of 20 .*example 3"),
        (with_bad(X, np.inf), Y, ValueError, r"states contain NaN or infinity in 1 of 20 .*example 3"),
        (X, with_bad(Y, np.nan, 7), ValueError, r"observations contain NaN or infinity in 1 of 20 .*example 7"),
        (X, with_bad(Y, -np.inf, 7), ValueError, r"observations contain NaN or infinity in 1 of 20 .*example 7"),
        ("pose", Y, TypeError, "states must be an array or a list .* not str"),
        (None, Y, TypeError, "states must be an array or a list .* not NoneType"),
        (X, 3.0, TypeError, "observations must be an array or a list .* not float"),
        (X, np.array(3.0), TypeError, "observations must be an array or a list .* not a single number"),
        (X + 1j, Y, TypeError, "complex numbers"),
        (["here", "there"] * 10, Y, TypeError, "states are a list of 20 objects .str.: pass a state_kernel"),
        (X, ["a", "b"] * 10, TypeError, "observations are a list of 20 objects .str.: pass an observation_kernel"),
        (X, [[1.0, 2.0], [1.0]] * 10, TypeError, "pass an observation_kernel"),
    ],
)
def test_bad_examples(states, observations, error, sentence):
    with pytest.raises(error, match=sentence):
        make().fit(states, observations)


# --- settings ---------------------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("seed", [-1, "seven", 1.5, True])
def test_random_state_of_the_wrong_kind(seed):
    with pytest.raises(ValueError, match=r"random_state = .*non-negative integer or a NumPy Generator"):
        make().set_params(random_state=seed).fit(X, Y)


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


# --- kernels ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", ["state_kernel", "observation_kernel"])
@pytest.mark.parametrize("kind", [Gaussian, Laplace, Matern, Circular])
@pytest.mark.parametrize("bandwidth", [0.0, -1.0, np.nan, np.inf])
def test_bandwidths_must_be_positive(which, kind, bandwidth):
    with pytest.raises(ValueError, match=rf"{kind.__name__} has bandwidth = .*positive"):
        fitted(**{which: kind(bandwidth)})


def test_bandwidths_of_the_wrong_number():
    with pytest.raises(ValueError, match="2 bandwidths but the data have 3 columns"):
        fitted(observation_kernel=Gaussian(np.array([1.0, 2.0])))


def test_columns_that_do_not_exist():
    with pytest.raises(ValueError, match="columns 3 of data with 3 columns"):
        fitted(observation_kernel=Columns(Gaussian(), 3))


@pytest.mark.parametrize("which", ["state_kernel", "observation_kernel"])
@pytest.mark.parametrize(
    ("kernel", "sentence"),
    [
        (Gaussian, r"got the class Gaussian; write Gaussian\(\)"),
        (3.0, "must be a kmcf kernel, a scikit-learn kernel, a callable"),
        ("rbf", "must be a kmcf kernel.* not 'rbf'"),
        (X, "must be a kmcf kernel"),
    ],
)
def test_kernels_of_the_wrong_type(which, kernel, sentence):
    with pytest.raises(TypeError, match=f"{which} {sentence}" if "must" in sentence else sentence):
        fitted(**{which: kernel})


@pytest.mark.parametrize("kernel", [Gaussian(), Laplace(), AsinhScaled(Gaussian()), 2 * Gaussian() + Linear()])
def test_an_unfitted_kernel_says_so(kernel):
    with pytest.raises(NotFittedError, match=r"learns .* call fit\(examples\) first"):
        kernel(X)


def test_a_kernel_for_vectors_given_objects():
    with pytest.raises(TypeError, match="the kernel Gaussian works on numeric arrays"):
        make(observation_kernel=Gaussian()).fit(X, ["a", "b"] * 10)


@pytest.mark.parametrize(
    ("matrix", "sentence"),
    [
        (np.triu(np.ones((20, 20))), "not symmetric"),
        (np.ones((20, 20)) - np.eye(20), "not positive semi-definite"),
        (-np.eye(20), "not positive semi-definite"),
        (Y, r"square kernel matrix .* shape \(20, 3\)"),
        (np.eye(19), "20 states but 19 observations"),
        (with_bad(np.eye(20), np.nan), "NaN or infinity"),
    ],
)
def test_bad_precomputed_matrices(matrix, sentence):
    with pytest.raises(ValueError, match=sentence):
        make(observation_kernel="precomputed").fit(X, matrix)


def test_a_precomputed_observation_has_one_value_per_example():
    flt = make(observation_kernel="precomputed").fit(X, np.eye(20))
    with pytest.raises(ValueError, match=r"shape \(3,\).*\(20,\)"):
        flt.step(flt.start(), np.ones(3))


def test_states_cannot_be_precomputed():
    with pytest.raises(TypeError, match="state_kernel='precomputed' cannot work"):
        fitted(state_kernel="precomputed")


@pytest.mark.parametrize("which", ["state_kernel", "observation_kernel"])
def test_a_callable_that_returns_a_wrong_shape(which):
    def lopsided(A, B):
        return np.ones(3)

    with pytest.raises(ValueError, match=r"lopsided returned an array of shape \(3,\)"):
        fitted(**{which: lopsided})


@pytest.mark.parametrize("which", ["state_kernel", "observation_kernel"])
def test_a_kernel_that_is_not_positive_definite(which):
    def opposite(A, B):
        return -np.exp(-((A[:, None] - B[None]) ** 2).sum(axis=2))

    with pytest.raises((LinAlgError, ValueError), match=r"not positive (semi-)?definite"):
        fitted(**{which: opposite}, engine="exact").filter(Y[:3])


# --- the user's functions ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("transition", "error", "sentence"),
    [
        (
            lambda s, u, rng: s[:-1],
            ValueError,
            r"transition.* at step 2 returned .*\(19, 2\).*must have shape \(20, 2\)",
        ),
        (lambda s, u, rng: s[:, 0], ValueError, r"transition.* returned .*\(20,\).*must have shape \(20, 2\)"),
        (lambda s, u, rng: np.hstack([s, s]), ValueError, r"transition.* returned .*\(20, 4\)"),
        (lambda s, u, rng: s * np.nan, ValueError, "transition.* returned NaN or infinity for 20 of 20 states"),
        (lambda s, u, rng: with_bad(s, np.inf), ValueError, "transition.* returned NaN or infinity for 1 of 20"),
        (lambda s, u, rng: None, TypeError, "transition.* returned None; it must return the 20 states"),
        (lambda s, u, rng: 1.0, TypeError, "transition.* returned 1.0; it must return the 20 states"),
        (lambda s, u, rng: ["moved"] * len(s), TypeError, "transition.* returned list, not an array of states"),
    ],
)
def test_transitions_that_return_nonsense(transition, error, sentence):
    flt = fitted(transition)
    with pytest.raises(error, match=sentence):
        flt.filter(Y[:3])


@pytest.mark.parametrize(
    ("initial", "error", "sentence"),
    [
        (lambda size, rng: rng.normal(size=(size, 3)), ValueError, r"initial.* \(20, 3\).*must have shape \(20, 2\)"),
        (lambda size, rng: rng.normal(size=(size + 1, 2)), ValueError, r"initial.* \(21, 2\)"),
        (lambda size, rng: np.full((size, 2), np.nan), ValueError, "initial.* returned NaN or infinity"),
        (lambda size, rng: None, TypeError, "initial.* not NoneType"),
    ],
)
def test_initial_distributions_that_return_nonsense(initial, error, sentence):
    flt = fitted(initial=initial)
    with pytest.raises(error, match=sentence):
        flt.start()


def test_object_states_need_as_many_objects_back():
    def same(A, B):
        return np.array([[float(a == b) for b in B] for a in A])

    flt = make(lambda s, u, rng: s[:3], state_kernel=same).fit(["x", "y"] * 10, Y)
    with pytest.raises(ValueError, match="returned 3 states, not 20"):
        flt.filter(Y[:2])


# --- observations and controls ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "error", "sentence"),
    [
        (Y[0, :2], ValueError, r"an observation has shape \(2,\).*\(3,\)"),
        (1.0, ValueError, r"an observation has shape \(\).*\(3,\)"),
        (Y[:2], ValueError, r"an observation has shape \(2, 3\)"),
        ("left", TypeError, "an observation is 'left', but the examples are numeric"),
        ([np.inf, 0, 0], ValueError, "contains infinity"),
        ([np.nan, 0, 0], ValueError, r"partly NaN \(1 of 3 values\).*pass None"),
    ],
)
def test_bad_observations(y, error, sentence):
    flt = fitted()
    with pytest.raises(error, match=sentence):
        flt.step(flt.start(), y)
    with pytest.raises(error, match=sentence):
        flt.filter([Y[0], y])


@pytest.mark.parametrize(
    ("observations", "error", "sentence"),
    [
        (Y[0], ValueError, r"shape \(3,\).*one sequence has shape \(T, 3\), a batch \(B, T, 3\)"),
        (Y[:, :2], ValueError, r"shape \(20, 2\).*one sequence has shape \(T, 3\)"),
        (np.zeros((2, 2, 2, 3)), ValueError, r"shape \(2, 2, 2, 3\)"),
        ("abc", TypeError, "must be a sequence .* not str"),
        (1.0, TypeError, r"must be a sequence .* not float; for a single observation use step"),
        (None, TypeError, "must be a sequence .* not NoneType"),
        ([], ValueError, "empty"),
        (Y[:0], ValueError, "empty"),
        (np.empty((0, 4, 3)), ValueError, "batch holds no sequence"),
        (np.empty((2, 0, 3)), ValueError, "empty"),
    ],
)
def test_bad_sequences(observations, error, sentence):
    with pytest.raises(error, match=sentence):
        fitted().filter(observations)


def test_controls_of_the_wrong_length():
    flt = fitted()
    with pytest.raises(ValueError, match="2 controls for 5 steps"):
        flt.filter(Y[:5], controls=[1, 2])
    with pytest.raises(ValueError, match="6 controls for 5 steps"):
        flt.filter(Y[:5], controls=np.zeros((6, 2)))
    with pytest.raises(TypeError, match="one entry per step, not be a single float"):
        flt.filter(Y[:5], controls=3.0)
    with pytest.raises(ValueError, match="3 sequences of controls for 2 sequences"):
        flt.filter(Y[:6].reshape(2, 3, 3), controls=np.zeros(3))
    with pytest.raises(ValueError, match="2 controls for 3 steps"):
        flt.filter(Y[:6].reshape(2, 3, 3), controls=np.zeros((2, 2)))
    with pytest.raises(ValueError, match="2 sequences of controls for 1 sequences"):
        flt.filter_many([Y[:4]], controls=[[0] * 4, [0] * 4])
    with pytest.raises(ValueError, match="3 controls for 4 steps"):
        flt.filter_many([Y[:4]], controls=[[0] * 3])
    with pytest.raises(ValueError, match="1 controls for 3 steps"):
        flt.forecast(flt.start(), 3, controls=[1])


# --- order of calls ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda flt, belief: flt.start(),
        lambda flt, belief: flt.step(belief, Y[0]),
        lambda flt, belief: flt.filter(Y),
        lambda flt, belief: flt.filter_many([Y]),
        lambda flt, belief: flt.forecast(belief, 2),
    ],
)
def test_everything_needs_fit_first(call):
    with pytest.raises(NotFittedError, match=r"call fit\(states, observations\) first"):
        call(make(), fitted().start())


@pytest.mark.parametrize("belief", [None, Y[0], "belief"])
def test_step_needs_a_belief(belief):
    with pytest.raises(TypeError, match=r"step needs a belief from start\(\)"):
        fitted().step(belief, Y[0])


def test_a_belief_of_another_filter():
    other = make().fit(X[:, :1], Y)
    with pytest.raises(ValueError, match=r"shape \(1,\).*shape \(2,\).*filter that made it"):
        fitted().step(other.start(), Y[0])


@pytest.mark.parametrize("stream", [-1, 1.5, "a"])
def test_streams_are_counted_from_zero(stream):
    with pytest.raises(ValueError, match=r"stream = .*non-negative integer"):
        fitted().start(stream=stream)


@pytest.mark.parametrize("steps", [0, -2, 2.5, None])
def test_forecasts_need_a_step(steps):
    flt = fitted()
    with pytest.raises(ValueError, match=r"steps = .*at least one step"):
        flt.forecast(flt.start(), steps)


# --- what is not an error ---------------------------------------------------------------------------------------------


def test_pandas_data_are_read_as_arrays():
    pandas = pytest.importorskip("pandas")
    expected = fitted().filter(Y[:4]).mean
    flt = make().fit(pandas.DataFrame(X), pandas.DataFrame(Y))
    np.testing.assert_array_equal(flt.filter(pandas.DataFrame(Y[:4])).mean, expected)


def test_whole_numbers_are_read_as_numbers():
    states, observations = np.arange(20), np.arange(20) // 2
    whole = make().fit(states, observations).filter(observations[:4]).mean
    np.testing.assert_array_equal(whole, make().fit(states * 1.0, observations * 1.0).filter([0.0, 0, 1, 1]).mean)


def test_a_failed_fit_can_be_repaired():
    flt = make(epsilon=-1.0)
    with pytest.raises(ValueError, match="epsilon"):
        flt.fit(X, Y)
    assert np.isfinite(flt.set_params(epsilon=0.01).fit(X, Y).filter(Y[:2]).mean).all()
