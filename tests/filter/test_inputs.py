"""Reading examples, observations, controls and seeds: what is understood, and what gets a sentence."""

import numpy as np
import pytest
from controlled_walk import MODEL, data, fitted, push
from vector_examples import X, Y, make, with_bad
from vector_examples import fitted as fitted_to_vectors

import kmcf

# --- bad input --------------------------------------------------------------------------------------------------------


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


def test_gaps_that_a_kernel_cannot_handle():
    """A function of the user's does not say what it makes of some of the columns."""

    def kernel(a, b):
        return np.exp(-0.5 * ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2))

    flt = make(observation_kernel=kernel).fit(X, Y)
    for use in (lambda y: flt.step(flt.start(), y), lambda y: flt.filter([Y[0], y])):
        with pytest.raises(ValueError, match=r"partly NaN \(1 of 3 values\).*pass None"):
            use([np.nan, 0, 0])
    with pytest.raises(ValueError, match=r"observations contain NaN or infinity in 1 of 20 .*example 7"):
        make(observation_kernel=kernel).fit(X, with_bad(Y, np.nan, 7))


@pytest.mark.parametrize("seed", [-1, "seven", 1.5, True])
def test_random_state_of_the_wrong_kind(seed):
    with pytest.raises(ValueError, match=r"random_state = .*non-negative integer or a NumPy Generator"):
        make().set_params(random_state=seed).fit(X, Y)


@pytest.mark.parametrize(
    ("y", "error", "sentence"),
    [
        (Y[0, :2], ValueError, r"an observation has shape \(2,\).*\(3,\)"),
        (1.0, ValueError, r"an observation has shape \(\).*\(3,\)"),
        (Y[:2], ValueError, r"an observation has shape \(2, 3\)"),
        ("left", TypeError, "an observation is 'left', but the examples are numeric"),
        ([np.inf, 0, 0], ValueError, "contains infinity"),
    ],
)
def test_bad_observations(y, error, sentence):
    flt = fitted_to_vectors()
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
        fitted_to_vectors().filter(observations)


def test_controls_of_the_wrong_length():
    flt = fitted_to_vectors()
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


def test_pandas_data_are_read_as_arrays():
    pandas = pytest.importorskip("pandas")
    expected = fitted_to_vectors().filter(Y[:4]).mean
    flt = make().fit(pandas.DataFrame(X), pandas.DataFrame(Y))
    np.testing.assert_array_equal(flt.filter(pandas.DataFrame(Y[:4])).mean, expected)


def test_columns_in_another_order_than_the_examples_are_refused(tmp_path):
    pandas = pytest.importorskip("pandas")
    seen = pandas.DataFrame(Y, columns=["a", "b", "c"])
    flt = make().fit(X, seen)
    flt.save(tmp_path / "model.kmcf")
    turned, words = seen[["a", "c", "b"]], "column 2 of the observations is 'c', but that of the examples was 'b'"
    loaded = kmcf.load(tmp_path / "model.kmcf", transition=flt.transition)
    for one in (flt, loaded):
        with pytest.raises(ValueError, match=words):
            one.filter(turned)
        with pytest.raises(ValueError, match=words):
            one.filter_many([turned])
        with pytest.raises(ValueError, match=words):
            one.step(one.start(), turned.iloc[0])
        with pytest.raises(ValueError, match=words):
            one.partial_fit(X, turned)
        np.testing.assert_array_equal(one.filter(seen[:4]).mean, one.filter(Y[:4]).mean)
        np.testing.assert_array_equal(one.step(one.start(), seen.iloc[0]).mean(), one.filter(Y[:1]).mean[0])
        one.filter(seen.rename(columns=str.upper)[:4])  # other names are nobody's business


def test_whole_numbers_are_read_as_numbers():
    states, observations = np.arange(20), np.arange(20) // 2
    whole = make().fit(states, observations).filter(observations[:4]).mean
    np.testing.assert_array_equal(whole, make().fit(states * 1.0, observations * 1.0).filter([0.0, 0, 1, 1]).mean)


# --- forms of observations --------------------------------------------------------------------------------------------


def test_a_flat_array_of_examples_is_one_column():
    train = MODEL.simulate(40, random_state=0)
    observations, controls = data()
    expected = fitted().filter(observations, controls).mean
    flat = kmcf.KernelMonteCarloFilter(push, random_state=3, n_resample=15, augment=False)
    flat.fit(train.states[:, 0], train.observations[:, 0])
    assert flat.states_.shape == (40, 1)
    for sequence in (observations, observations[:, 0], list(observations[:, 0]), observations[:, 0].tolist()):
        np.testing.assert_array_equal(flat.filter(sequence, controls).mean, expected)
    belief = flat.start()
    for y in (observations[0, 0], float(observations[0, 0]), observations[0], [observations[0, 0]]):
        np.testing.assert_array_equal(flat.step(belief, y).mean(), expected[0])


def test_scalar_batches():
    """Fitted on (n,), an array (B, T) is B sequences, as is (B, T, 1)."""
    flt = fitted(flat=True)
    batch = np.stack([data(seed=s)[0][:, 0] for s in (1, 2, 3)])
    run = flt.filter(batch)
    assert run.mean.shape == (3, 15, 1)
    np.testing.assert_array_equal(run.mean, flt.filter(batch[..., None]).mean)
    np.testing.assert_array_equal(run.mean[0], flt.filter(batch[0]).mean)


def test_a_list_is_always_one_sequence():
    flt = fitted()
    observations, _ = data()
    run = flt.filter(list(observations))
    assert run.mean.shape == (15, 1)
    np.testing.assert_array_equal(run.mean, flt.filter(observations).mean)
    with pytest.raises(ValueError, match="an observation has shape"):
        flt.filter([observations, observations])


def test_observations_may_come_from_a_generator():
    flt = fitted()
    observations, _ = data()
    np.testing.assert_array_equal(flt.filter(y for y in observations).mean, flt.filter(observations).mean)


@pytest.mark.parametrize("shape", [(4,), (2, 3), (2, 2, 2)])
def test_observations_and_states_of_any_trailing_shape(shape):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2, 3))
    Y = rng.normal(size=(30, *shape))

    def wander(states, control, rng):
        assert states.shape[1:] == (2, 3)
        return states + 0.1 * rng.normal(size=states.shape)

    flt = kmcf.KernelMonteCarloFilter(wander, random_state=0).fit(X, Y)
    run = flt.filter(Y[:5])
    assert run.mean.shape == run.mode.shape == (5, 2, 3)
    assert run.covariance.shape == (5, 6, 6)
    flat = kmcf.KernelMonteCarloFilter(
        lambda s, u, rng: s + 0.1 * rng.normal(size=(len(s), 2, 3)).reshape(len(s), 6), random_state=0
    ).fit(X.reshape(30, 6), Y.reshape(30, -1))
    np.testing.assert_allclose(run.mean.reshape(5, 6), flat.filter(Y[:5].reshape(5, -1)).mean, atol=1e-12)
    assert flt.filter(Y[:6].reshape(2, 3, *shape)).mean.shape == (2, 3, 2, 3)


def test_none_and_nan_mean_the_same():
    flt = fitted()
    observations, controls = data()
    with_nan = observations.copy()
    with_nan[[2, 3, 8]] = np.nan
    with_none = [None if t in (2, 3, 8) else y for t, y in enumerate(observations)]
    a, b = flt.filter(with_nan, controls), flt.filter(with_none, controls)
    np.testing.assert_array_equal(a.mean, b.mean)
    np.testing.assert_array_equal(np.flatnonzero(a.missing), [2, 3, 8])
    assert not a.rejected.any()


def test_all_nan_rows_of_vectors_are_missing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 1))
    Y = X + 0.2 * rng.normal(size=(30, 3))
    flt = kmcf.KernelMonteCarloFilter(push, random_state=0).fit(X, Y)
    ys = Y[:4].copy()
    ys[2] = np.nan
    np.testing.assert_array_equal(flt.filter(ys).missing, [False, False, True, False])


# --- seeds ------------------------------------------------------------------------------------------------------------


def test_the_seed_from_an_integer():
    assert fitted(seed=77).seed_ == 77
    assert fitted(seed=np.int64(77)).seed_ == 77
    assert fitted(seed=0).seed_ == 0


def test_the_seed_from_a_generator_is_its_next_draw():
    seeds = [fitted(seed=np.random.default_rng(s)).seed_ for s in (1, 1, 2)]
    assert seeds[0] == seeds[1] != seeds[2]
    generator = np.random.default_rng(1)
    first, second = (fitted(seed=generator).seed_ for _ in range(2))
    assert first == seeds[0] != second
    assert all(isinstance(seed, int) for seed in seeds)


def test_the_seed_from_nothing_is_fresh_but_stored():
    one, two = fitted(seed=None), fitted(seed=None)
    assert one.seed_ != two.seed_
    assert one.random_state is None
    runs = [one.filter(*data(12)).mean for _ in range(2)]
    np.testing.assert_array_equal(*runs)


def test_global_random_numbers_are_neither_used_nor_changed():
    flt = fitted()
    expected = flt.filter(*data(12)).mean
    np.random.seed(0)  # noqa: NPY002
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    np.testing.assert_array_equal(flt.filter(*data(12)).mean, expected)
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002
