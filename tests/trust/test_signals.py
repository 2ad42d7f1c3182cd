import numpy as np

from kmcf.bayes_rule.evidence import Evidence
from kmcf.trust.signals import REASONS, Running, lost, running_means, shift_sizes, signals_of


def test_running_means_of_a_sequence_are_those_of_its_steps():
    rng = np.random.default_rng(0)
    series = rng.normal(size=(3, 2, 40))
    series[:, 0, [0, 7, 8]] = np.nan  # missing observations
    series[0, 1, 5] = np.nan  # no distance, but evidence
    found = running_means(*series)
    for b in range(2):
        running = Running()
        for t in range(40):
            running = running.after(*series[:, b, t])
            np.testing.assert_allclose(found[b, t], running, atol=1e-14)


def test_a_running_mean_forgets_exponentially():
    found = running_means(*np.ones((3, 30)))
    np.testing.assert_allclose(found[:, 0], 1 - 0.9 ** np.arange(1, 31))
    np.testing.assert_allclose(found[:, 2], 1 - 0.96 ** np.arange(1, 31))


def test_shifts_are_the_sizes_of_running_means():
    points = np.random.default_rng(0).normal(size=(2, 20, 3))
    points[1, 4] = np.nan
    found, mean = shift_sizes(points), np.zeros(3)
    for t in range(20):
        if t != 4:
            mean = 0.9 * mean + 0.1 * points[1, t]
            np.testing.assert_allclose(found[1, t], np.sqrt(np.mean(mean**2)))
    assert np.isnan(found[1, 4])


def test_lost_is_the_ratio_of_the_two_predictions():
    weights, similarities = np.array([0.9, 0.1, 0.0]), np.array([0.001, 0.01, 0.9])
    evidence = Evidence(np.log(weights @ similarities), np.log(similarities.mean()), 0.0)
    np.testing.assert_allclose(np.exp(lost(evidence)), similarities.mean() / (weights @ similarities))


def test_what_a_running_mean_has_not_seen_counts_as_usual():
    columns = {
        name: np.zeros(1)
        for name in ("observation_distance", "observation_shift", "relative_evidence", "negative_mass")
    }
    columns |= {"ess": np.array([5.0]), "support_size": np.array([50]), "state_coverage": np.array([0.5])}
    found = signals_of({**columns, "running": np.array([[0.0, 0.1, 0.0, 0.25, 0.0]])}, usual=(3.0, 2.0, 7.0))
    assert set(found) == set(REASONS) - {"leaving"} | {"edge"}  # the one is added up, the other is a part of it
    np.testing.assert_allclose(found["observation_drift"], 0.75 * 3.0)
    np.testing.assert_allclose(found["evidence_drop"], 0.1 + 0.75 * 2.0)
    np.testing.assert_allclose(found["rarity"], 7.0)
    np.testing.assert_allclose(found["ess"], np.log(10.0))
    np.testing.assert_allclose(found["state_distance"], np.log(2.0))
