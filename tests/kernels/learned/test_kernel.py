"""The learnt kernel: what it learns, that it does not cheat, and what it refuses."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVR

import kmcf
from kmcf.datasets import paper_model
from kmcf.kernels import Gaussian, Learned


@pytest.fixture(scope="module")
def examples():
    """Ten numbers whose common scale tells the state."""
    trajectory = paper_model("3a").simulate(250, random_state=0)
    return trajectory.states, trajectory.observations


@pytest.fixture(scope="module")
def fitted(examples):
    states, observations = examples
    return Learned().fit(observations, states)


def test_similar_summaries_mean_similar_states(examples, fitted):
    states, _ = examples
    fresh = paper_model("3a").simulate(200, random_state=9)
    learnt = fitted(fresh.observations, examples[1]).argmax(axis=1)
    plain = Gaussian().fit(examples[1])(fresh.observations, examples[1]).argmax(axis=1)
    errors = [np.mean(np.abs(states[nearest] - fresh.states)) for nearest in (learnt, plain)]
    assert errors[0] < 0.7 * errors[1]


def test_it_is_a_kernel(examples, fitted):
    _, observations = examples
    matrix = fitted(observations[:60])
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-12)
    assert np.linalg.eigvalsh(matrix).min() > -1e-10
    np.testing.assert_allclose(np.diag(matrix), fitted.diagonal(observations[:60]))
    single = np.array([[fitted(a[None], b[None])[0, 0] for b in observations[:5]] for a in observations[:5]])
    np.testing.assert_allclose(single, matrix[:5, :5], atol=1e-9)


def test_examples_have_out_of_sample_summaries(examples):
    """The state of an example must not leak into its own summary: with pure noise as observations nothing is learnt."""
    rng = np.random.default_rng(0)
    states, noise = rng.normal(size=(200, 1)), rng.normal(size=(200, 8))
    kernel = Learned().fit(noise, states)
    summaries = kernel.summary(noise)
    inputs = np.column_stack([summaries, np.ones(200)])
    residuals = states - inputs @ np.linalg.lstsq(inputs, states, rcond=None)[0]
    assert np.sum(residuals**2) / np.sum((states - states.mean()) ** 2) > 0.6
    del examples


def test_new_observations_get_predictions_and_known_ones_their_own(examples, fitted):
    _, observations = examples
    together = fitted.summary(np.concatenate([observations[:3], observations[:3] + 1e-9]))
    np.testing.assert_array_equal(together[:3], fitted.summary(observations[:3]))
    assert np.abs(together[3:] - together[:3]).max() > 1e-6  # in-sample against out-of-sample


def test_duplicated_observations_share_one_summary():
    rng = np.random.default_rng(0)
    states = rng.normal(size=(60, 1))
    observations = np.repeat(rng.normal(size=(30, 4)), 2, axis=0)
    kernel = Learned().fit(observations, states)
    np.testing.assert_array_equal(kernel.summary(observations)[::2], kernel.summary(observations)[1::2])


def test_two_modes_stay_two_modes():
    """|x| is observed: y and the states ±x are all one can know. A summary by the mean would be blind; ours is not."""
    rng = np.random.default_rng(0)
    states = rng.uniform(-3, 3, size=(400, 1))
    observations = np.abs(states) @ np.ones((1, 3)) + 0.1 * rng.normal(size=(400, 3))
    flt = kmcf.KernelMonteCarloFilter(
        lambda s, u, r: s,
        observation_kernel=Learned(),
        initial=lambda m, r: r.uniform(-3, 3, size=(m, 1)),
        random_state=0,
    ).fit(states, observations)
    belief = flt.step(flt.start(), [2.0, 2.0, 2.0])
    assert belief.probability((1.5, 2.5)) > 0.3
    assert belief.probability((-2.5, -1.5)) > 0.3
    assert belief.probability((-1.2, 1.2)) < 0.2


def test_several_states_and_angles():
    rng = np.random.default_rng(0)
    poses = np.column_stack([rng.uniform(0, 5, size=(300, 2)), rng.uniform(-np.pi, np.pi, 300)])
    observations = np.column_stack(
        [poses[:, :2] + 0.1 * rng.normal(size=(300, 2)), np.cos(poses[:, 2]), np.sin(poses[:, 2])]
    )
    kernel = Learned(angles=(2,)).fit(observations, poses)
    near = kernel(observations[:1], observations[:1] + 0.05)[0, 0]
    turned = observations[:1] * np.array([1, 1, -1, -1])
    assert near > 0.9 > kernel(observations[:1], turned)[0, 0]


def test_any_regressor_and_any_feature_extractor(examples):
    states, observations = examples
    kernel = Learned(Ridge(), kernel=Gaussian(multiplier=0.7)).fit(observations, states)
    assert kernel(observations[:4]).shape == (4, 4)
    words = ["x" * int(k) for k in np.clip(np.rint(5 + states[:, 0]), 0, 12)]
    textual = Learned(features=lambda objects: np.array([[len(word), 1.0] for word in objects])).fit(words, states)
    assert textual(["xx", "xxxxxxxx"], ["xx"])[0, 0] > textual(["xx", "xxxxxxxx"], ["xx"])[1, 0]


def test_it_is_deterministic_and_clonable(examples):
    states, observations = examples
    one, two = Learned().fit(observations, states), clone(Learned()).fit(observations, states)
    np.testing.assert_array_equal(one.summary(observations), two.summary(observations))
    product = Gaussian() * Learned()
    assert product.fit(observations, states)(observations[:3]).shape == (3, 3)


def test_more_examples_than_it_trains_on(monkeypatch, examples):
    monkeypatch.setattr("kmcf.kernels.learned.kernel.MOST_TRAINING", 100)
    states, observations = examples
    kernel = Learned().fit(observations, states)
    assert np.isfinite(kernel.summary(observations)).all()


def test_constant_columns_and_constant_states():
    rng = np.random.default_rng(0)
    observations = np.column_stack([rng.normal(size=(50, 3)), np.ones(50)])
    assert np.isfinite(Learned().fit(observations, rng.normal(size=(50, 1)))(observations)).all()
    assert np.isfinite(Learned().fit(observations, np.ones((50, 1)))(observations)).all()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((np.zeros((20, 3)),), ValueError, "pairs"),
        ((np.zeros((20, 3)), np.zeros((19, 1))), ValueError, "19 states but 20"),
        ((np.zeros((5, 3)), np.zeros((5, 1))), ValueError, "at least 10 examples"),
        ((np.zeros((20, 3)), ["a"] * 20), TypeError, "numeric states"),
        ((["a"] * 20, np.zeros((20, 1))), TypeError, "numeric arrays"),
    ],
)
def test_bad_input_gets_a_sentence(arguments, error, message):
    with pytest.raises(error, match=message):
        Learned().fit(*arguments)


def test_bad_angles_and_features_get_a_sentence(examples):
    states, observations = examples
    with pytest.raises(ValueError, match=r"angles = \[5\], but the states have 1 columns"):
        Learned(angles=[5]).fit(observations, states)
    spoilt = observations.copy()
    spoilt[7, 2] = np.nan
    with pytest.raises(ValueError, match="feature extractor returned NaN or infinity for object 7"):
        Learned(features=lambda rows: spoilt[: len(rows)]).fit(observations, states)


def test_one_feature_per_object_is_a_column(examples):
    states, observations = examples
    as_vector = Learned(features=lambda rows: np.abs(rows).sum(axis=1)).fit(observations, states)
    as_column = Learned().fit(np.abs(observations).sum(axis=1)[:, None], states)
    np.testing.assert_allclose(
        as_vector(observations[:9]), as_column(np.abs(observations[:9]).sum(axis=1)[:, None]), rtol=1e-10
    )


def test_regressors_of_a_single_target_are_fitted_per_target(examples):
    states, observations = examples
    magnitudes = np.log(np.abs(observations) + 0.1)
    kernel = Learned(SVR()).fit(magnitudes, states)
    low, high = np.argsort(states[:, 0])[[20, -20]]
    assert kernel(magnitudes[[low]], magnitudes[[high]])[0, 0] < 0.7 * kernel(magnitudes[[low]])[0, 0]
    with pytest.raises(ValueError, match="alpha"):  # its own errors still reach the user
        Learned(Ridge(alpha=-1.0)).fit(observations, states)


def test_regressors_without_a_seed_get_the_kernel_s(examples):
    states, observations = examples
    forest = RandomForestRegressor(5)
    first, second = (Learned(make_pipeline(forest)).fit(observations, states).summary(observations) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    other = Learned(forest, random_state=1).fit(observations, states).summary(observations)
    assert not np.array_equal(first, other)
    assert forest.random_state is None


def test_the_filter_tells_which_states_are_angles():
    rng = np.random.default_rng(0)
    headings = rng.uniform(-np.pi, np.pi, size=(80, 1))
    seen = np.column_stack([np.cos(headings), np.sin(headings)]) + 0.1 * rng.normal(size=(80, 2))

    def turn(states, control, rng):
        return states + 0.1 * rng.normal(size=states.shape)

    given = Gaussian() * Learned()
    flt = kmcf.KernelMonteCarloFilter(turn, observation_kernel=given, angles=(0,), random_state=0).fit(headings, seen)
    told = Learned(angles=[0]).fit(seen, headings)
    np.testing.assert_allclose(flt.observation_kernel_.second.summary(seen), told.summary(seen), atol=1e-9)
    assert given.second.angles is None


def test_unfitted_and_bad_feature_extractor(examples):
    with pytest.raises(ValueError, match="learnt nothing yet"):
        Learned()(examples[1][:2])
    with pytest.raises(ValueError, match="one row per object"):
        Learned(features=lambda objects: np.zeros(3)).fit(examples[1], examples[0])
