"""Smoothers that know the model: forward–backward and Viterbi on tables, Rauch–Tung–Striebel for models 1a and 1b."""

import math

import numpy as np


def forward_backward(initial, transition, likelihoods):
    """Marginals p(x_t | all y), (T, S), by summing over all paths forwards and backwards.

    ``transition[i, j]`` is p(j | i), ``likelihoods[t, i]`` is p(y_t | i): all ones where y_t is missing.
    """
    steps = len(likelihoods)
    forward, backward = [initial * likelihoods[0]], [np.ones(len(initial))]
    for t in range(1, steps):
        forward.append((forward[-1] @ transition) * likelihoods[t])
    for t in range(steps - 1, 0, -1):
        backward.append(transition @ (likelihoods[t] * backward[-1]))
    joint = np.array(forward) * np.array(backward[::-1])
    return joint / joint.sum(axis=1, keepdims=True)


def best_path_by_trying(initial, transition, likelihoods):
    """The most probable path of states, found among all paths."""

    def probability(path):
        value = initial[path[0]] * likelihoods[0, path[0]]
        for t in range(1, len(path)):
            value *= transition[path[t - 1], path[t]] * likelihoods[t, path[t]]
        return value

    return max(np.ndindex(*(len(initial),) * len(likelihoods)), key=probability)


def rauch_tung_striebel(observations, controls=None, coefficient=0.9, noise=None):
    """Means and variances given all observations of x' = 0.9 x + (u +) noise, y = x + noise; NaN is missing.

    Also the covariances of x_t and x_{t+1}, (T - 1,). Another coefficient than 0.9, and another variance of the noise
    than that of models 1a and 1b, can be given.
    """
    drift, usual = (0.0, 1.0) if controls is None else (1.0 / math.sqrt(2.0), 0.5)
    noise = usual if noise is None else noise
    mean, variance = 0.0, 1.0 / (1.0 - 0.81)
    filtered, predicted = [], []
    for t, y in enumerate(np.ravel(observations)):
        if t > 0:
            mean = coefficient * mean + (0.0 if controls is None else drift * controls[t])
            variance = coefficient**2 * variance + noise
        predicted.append((mean, variance))
        if not math.isnan(y):
            gain = variance / (variance + 1.0)
            mean, variance = mean + gain * (y - mean), (1.0 - gain) * variance
        filtered.append((mean, variance))
    smoothed, cross = [filtered[-1]], []
    for t in range(len(filtered) - 2, -1, -1):
        gain = coefficient * filtered[t][1] / predicted[t + 1][1]
        mean = filtered[t][0] + gain * (smoothed[-1][0] - predicted[t + 1][0])
        variance = filtered[t][1] + gain**2 * (smoothed[-1][1] - predicted[t + 1][1])
        cross.append(gain * smoothed[-1][1])
        smoothed.append((mean, variance))
    means, variances = np.array(smoothed[::-1]).T
    return means, variances, np.array(cross[::-1])


def expectation_maximisation(observations, coefficient, noise, rounds=1):
    """EM for x' = a x + noise, y = x + standard noise: a and the variance after some rounds (Shumway and Stoffer 1982).

    With P = E[x_t²], R = E[x_{t+1} x_t], S = E[x_{t+1}²] summed over steps: a = R / P, variance = (S − a R) / (T − 1).
    """
    for _ in range(rounds):
        means, variances, cross = rauch_tung_striebel(observations, None, coefficient, noise)
        squares = variances + means**2
        before, after = squares[:-1].sum(), squares[1:].sum()
        both = (cross + means[1:] * means[:-1]).sum()
        coefficient = both / before
        noise = (after - coefficient * both) / len(cross)
    return coefficient, noise
