"""The Bayes' rules with the inverses that they are printed with. Arguments in the paper's order."""

import numpy as np


def prior_coefficients(m_pi, G_X, epsilon):
    """Algorithm 1, line 3: the diagonal of Λ."""
    n = len(m_pi)
    return np.linalg.inv(G_X + n * epsilon * np.eye(n)) @ m_pi


def algorithm_1(k_y, m_pi, G_X, G_Y, epsilon, delta):
    """Kernel Bayes' Rule, line by line."""
    n = len(k_y)
    Lambda = np.diag(prior_coefficients(m_pi, G_X, epsilon))
    LG = Lambda @ G_Y
    return LG @ np.linalg.inv(LG @ LG + delta * np.eye(n)) @ Lambda @ k_y


def importance_rule(k_y, m_pi, G_X, G_Y, epsilon, delta):
    """The importance-weighted rule in its symmetric form: w = √Λ₊ (√Λ₊ G_Y √Λ₊ + δI)⁻¹ √Λ₊ k_Y."""
    n = len(k_y)
    prior = prior_coefficients(m_pi, G_X, epsilon)
    root = np.diag(np.sqrt(np.where(prior > 0, prior, 0.0)))
    return root @ np.linalg.inv(root @ G_Y @ root + delta * np.eye(n)) @ root @ k_y


RULES = {"kbr": algorithm_1, "importance": importance_rule}
"""By the names that the filter knows them by."""


def feature_rule(psi, c, U, V, epsilon, delta, rule="kbr"):
    """The rule for kernels that are inner products of features: those of the examples are the rows of U and V."""
    return RULES[rule](V @ psi, U @ c, U @ U.T, V @ V.T, epsilon, delta)


def algorithm_5(k_y, m_pi, U, V, epsilon, delta):
    """Lines 3 to 5 with explicit inverses and all matrices of the paper."""
    n, r = U.shape
    inner = np.linalg.inv(n * epsilon * np.eye(r) + U.T @ U)
    Lambda = np.diag((np.eye(n) - U @ inner @ U.T) @ m_pi / (n * epsilon))
    B, C, D = Lambda @ V, V.T @ Lambda @ V, V.T
    middle = np.linalg.inv(delta * np.linalg.inv(C) + D @ B)
    return Lambda @ V @ V.T @ (np.eye(n) - B @ middle @ D) @ Lambda @ k_y / delta


def incomplete_cholesky(G, rank):
    """Pivoted incomplete Cholesky, column by column on the full matrix (Fine and Scheinberg 2001)."""
    G = G.copy()
    factor = np.zeros((len(G), rank))
    for k in range(rank):
        pivot = int(np.argmax(np.diag(G)))
        factor[:, k] = G[:, pivot] / np.sqrt(G[pivot, pivot])
        G -= np.outer(factor[:, k], factor[:, k])
    return factor


def rule_on_particles(k_y, gamma, K, G_Y, delta):
    """Weights of particles: γ ∘ max(A ℓ, 0) with the similarities K of particles and examples, normalised by row, in A.

    ℓ = V z = V (VᵀΛV + δI)⁻¹ ψ = (G_Y Λ + δI)⁻¹ k_Y, where Λ = diag(γᵀA).
    """
    A = K / K.sum(axis=1, keepdims=True)
    likelihood = np.linalg.inv(G_Y @ np.diag(gamma @ A) + delta * np.eye(len(k_y))) @ k_y
    return gamma * np.maximum(A @ likelihood, 0.0)


def sum_rule(values, G, epsilon):
    """The kernel sum rule: normalised weights of the successors from the prior's mean at the pairs."""
    size = len(G)
    weights = np.linalg.inv(G + size * epsilon * np.eye(size)) @ values
    return weights / weights.sum()
