"""Independent truths for the filter's tests: nothing here is imported from the package.

Algorithm 3 letter by letter, the Kalman filter, a bootstrap particle filter that knows the likelihood.
"""

import math

import numpy as np

# ---------------------------------------------------------------------------------------------------------------------
# Kernels by hand
# ---------------------------------------------------------------------------------------------------------------------


def gaussian(bandwidth):
    """exp(-|a - b|^2 / (2 bandwidth^2)) with explicit loops over pairs."""

    def value(a, b):
        a, b = np.ravel(a), np.ravel(b)
        return math.exp(-float(np.sum((a - b) ** 2)) / (2.0 * bandwidth**2))

    return value


def matrix(kernel, A, B):
    return np.array([[kernel(a, b) for b in B] for a in A])


def median_distance(rows):
    """The median over all pairs i < j."""
    return float(np.median([math.dist(rows[i], rows[j]) for i in range(len(rows)) for j in range(i)]))


def asinh_scaled(examples):
    """z = asinh((y - median) / MAD) per column, MAD unscaled and 1 where it is zero."""
    centre = np.median(examples, axis=0)
    mad = np.median(np.abs(examples - centre), axis=0)
    mad = np.where(mad == 0, 1.0, mad)
    return lambda y: np.arcsinh((np.asarray(y) - centre) / mad)


# ---------------------------------------------------------------------------------------------------------------------
# Algorithm 3, literally
# ---------------------------------------------------------------------------------------------------------------------


def generator(seed, stream, time):
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(stream, time)))


def bayes_rule(G_X, G_Y, m_pi, k_y, epsilon, delta, rule):
    """Algorithm 1, with the inverses it prints; or the importance-weighted rule."""
    n = len(m_pi)
    prior = np.linalg.inv(G_X + n * epsilon * np.eye(n)) @ m_pi
    if rule == "importance":
        L = np.diag(np.maximum(prior, 0.0))
        return L @ np.linalg.inv(G_Y @ L + delta * np.eye(n)) @ k_y
    L = np.diag(prior)
    LG = L @ G_Y
    return LG @ np.linalg.inv(LG @ LG + delta * np.eye(n)) @ L @ k_y


def herd(G_X, weights, size):
    """Algorithm 2: every score from scratch, for every pick."""
    picks = []
    for p in range(1, size + 1):
        scores = []
        for x in range(len(weights)):
            score = sum(weights[i] * G_X[x, i] for i in range(len(weights)))
            score -= sum(G_X[x, j] for j in picks) / p
            scores.append(score)
        picks.append(int(np.argmax(scores)))
    return picks


def algorithm3(
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
            w = bayes_rule(G_X, G_Y, m_pi, k_y, epsilon, delta, rule)
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
                    picks = herd(G_X, w, min(n_resample, n, N))
                else:
                    positive = np.where(w > 0, w, 0.0)
                    picks = list(rng.choice(n, size=N, p=positive / positive.sum()))
                step["loss"] = loss(G_X, w, picks)
                sample = X[[picks[i % len(picks)] for i in range(N)]]
                sample_weights = [1.0 / N] * N
        step["mean"] = sum(g * x for g, x in zip(step["weights"], step["states"], strict=True))
        steps.append(step)
    return steps


def loss(G_X, weights, picks):
    """The RKHS distance of the picks' uniform mean to the weighted mean, all three double sums written out."""
    n, size = len(weights), len(picks)
    square = sum(weights[i] * weights[j] * G_X[i, j] for i in range(n) for j in range(n))
    square -= 2.0 * sum(weights[i] * G_X[i, j] for i in range(n) for j in picks) / size
    square += sum(G_X[i, j] for i in picks for j in picks) / size**2
    return math.sqrt(max(square, 0.0))


# ---------------------------------------------------------------------------------------------------------------------
# The paper's models 1a and 1b, solved exactly; any model, solved by knowing its likelihood
# ---------------------------------------------------------------------------------------------------------------------


def kalman(observations, controls=None):
    """Posterior means and variances of x' = 0.9 x + (u +) noise, y = x + noise, started in the stationary law."""
    drift, noise = (0.0, 1.0) if controls is None else (1.0 / math.sqrt(2.0), 0.5)
    mean, variance = 0.0, 1.0 / (1.0 - 0.81)
    means, variances = [], []
    for t, y in enumerate(np.ravel(observations)):
        if t > 0:
            mean = 0.9 * mean + (0.0 if controls is None else drift * controls[t])
            variance = 0.81 * variance + noise
        gain = variance / (variance + 1.0)
        mean, variance = mean + gain * (y - mean), (1.0 - gain) * variance
        means.append(mean)
        variances.append(variance)
    return np.array(means), np.array(variances)


def bootstrap_particle_filter(model, observations, controls, size=3000, seed=0):
    """Posterior means by sequential importance resampling with the true likelihood, multinomial at every step."""
    rng = np.random.default_rng(seed)
    particles = model.initial(size, rng)
    means = []
    for t, y in enumerate(observations):
        if t > 0:
            particles = model.transition(particles, None if controls is None else controls[t], rng)
        logs = model.log_likelihood(particles, y)
        weights = np.exp(logs - logs.max())
        weights /= weights.sum()
        means.append(weights @ particles)
        particles = particles[rng.choice(size, size=size, p=weights)]
    return np.array(means)


def rmse(estimates, truth):
    return float(np.sqrt(np.mean((np.asarray(estimates) - np.asarray(truth)) ** 2)))
