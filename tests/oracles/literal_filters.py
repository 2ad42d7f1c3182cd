"""Filters written out letter by letter: Algorithm 3, and the filter of Kernel Bayes' Rule with a learnt transition."""

import numpy as np
from bayes_rules import RULES, algorithm_1, sum_rule
from herding_by_hand import algorithm_2, resampling_loss
from kernels_by_hand import matrix


def generator(seed, stream, time):
    """The random numbers of one step."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(stream, time)))


def algorithm_3(
    X,
    Y,
    observations,
    *,
    k_X,
    k_Y,
    epsilon,
    delta,
    transition,
    seed,
    controls=None,
    initial=None,
    stream=0,
    rule="kbr",
    resampling="herding",
    n_resample=100,
    threshold=2.0,
    n_particles=None,
    reject=False,
):
    """Run the Kernel Monte Carlo Filter; return one dictionary per step.

    ``observations`` is a list; None is missing. With ``reject`` a step whose observation resembles no example, or whose
    weights sum to at most 1e-3, keeps its prediction; the paper's algorithm has no such rule.
    """
    n = len(X)
    N = min(n, 1000) if n_particles is None else n_particles
    G_X, G_Y = matrix(k_X, X, X), matrix(k_Y, Y, Y)
    rng = generator(seed, stream, 0)
    draws = X[rng.integers(n, size=N)] if initial is None else initial(N, rng)
    sample, sample_weights = np.array(draws), [1.0 / N] * N
    steps = []
    for t, y in enumerate(observations, start=1):
        rng = generator(seed, stream, t)
        if t > 1:
            control = None if controls is None else controls[t - 1]
            sample = np.array(transition(np.array(sample), control, rng))
        step = {"sum": np.nan, "loss": np.nan, "rejected": False}
        corrected = False
        if y is not None:
            m_pi = np.array([sum(g * k_X(q, x) for g, x in zip(sample_weights, sample, strict=True)) for q in X])
            k_y = np.array([k_Y(q, y) for q in Y])
            w = RULES[rule](k_y, m_pi, G_X, G_Y, epsilon, delta)
            corrected = not reject or (k_y.max() >= 1e-8 * G_Y.diagonal().max() and w.sum() > 1e-3)
            step["rejected"] = not corrected
        if not corrected:
            step |= {"states": sample, "weights": np.array(sample_weights)}
        else:
            step["sum"] = w.sum()
            w = w / w.sum()
            step |= {"states": X, "weights": w}
            sample, sample_weights = X, list(w)
            if resampling != "none" and sum(w**2) > threshold / n:
                if resampling == "herding":
                    picks = algorithm_2(w, G_X, min(n_resample, n, N))
                else:
                    positive = np.where(w > 0, w, 0.0)
                    picks = list(rng.choice(n, size=N, p=positive / positive.sum()))
                step["loss"] = resampling_loss(w, G_X, picks)
                sample = X[[picks[i % len(picks)] for i in range(N)]]
                sample_weights = [1.0 / N] * N
        step["mean"] = sum(g * x for g, x in zip(step["weights"], step["states"], strict=True))
        steps.append(step)
    return steps


def kernel_bayes_filter(
    X, Y, observations, *, k_X, k_Y, epsilon, delta, start, pairs, transition_epsilon, k_U=None, controls=None
):
    """Sum rule, Kernel Bayes' Rule, normalise; return the means.

    ``start`` are the initial states and their weights, ``pairs`` the states before and after, and the controls between
    (None: there were none). ``observations`` is a list; None is missing.
    """
    before, after, pair_controls = pairs
    G_X, G_Y, G = matrix(k_X, X, X), matrix(k_Y, Y, Y), matrix(k_X, before, before)
    if pair_controls is not None:
        G = G * matrix(k_U, pair_controls, pair_controls)
    states, weights = start
    means = []
    for t, y in enumerate(observations):
        if t:
            values = matrix(k_X, before, states) @ weights
            if pair_controls is not None:
                values = values * matrix(k_U, pair_controls, [controls[t]])[:, 0]
            states, weights = after, sum_rule(values, G, transition_epsilon)
        if y is not None:
            m_pi = matrix(k_X, X, states) @ weights
            weights = algorithm_1(matrix(k_Y, Y, [y])[:, 0], m_pi, G_X, G_Y, epsilon, delta)
            states, weights = X, weights / weights.sum()
        means.append(weights @ states)
    return np.array(means)
