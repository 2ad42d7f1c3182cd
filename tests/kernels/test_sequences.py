"""The spectrum kernel against counting by hand and by brute force."""

from itertools import product

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from kmcf.kernels import Spectrum

RNG = np.random.default_rng(0)
STRINGS = ["".join(RNG.choice(list("acgt"), size=RNG.integers(0, 15))) for _ in range(20)]
OTHERS = ["".join(RNG.choice(list("acgt"), size=9)) for _ in range(4)]


def features(string, length, mismatches, alphabet="acgt"):
    """Count by brute force over all words of the alphabet."""
    counts = []
    for word in product(alphabet, repeat=length):
        windows = [string[i : i + length] for i in range(len(string) - length + 1)]
        counts.append(sum(sum(x != y for x, y in zip(word, w, strict=True)) <= mismatches for w in windows))
    return np.array(counts, dtype=float)


def test_a_tiny_example_by_hand():
    # words of length 2 in "abab": ab, ba, ab; in "babb": ba, ab, bb
    np.testing.assert_array_equal(Spectrum(2, normalize=False)(["abab"], ["babb"]), [[2 * 1 + 1 * 1]])
    np.testing.assert_array_equal(Spectrum(2, normalize=False).diagonal(["abab"]), [5.0])


@pytest.mark.parametrize(("length", "mismatches"), [(1, 0), (3, 0), (3, 1), (4, 2)])
def test_kernel_is_the_inner_product_of_brute_force_counts(length, mismatches):
    long_enough = [s for s in STRINGS if len(s) >= length]
    kernel = Spectrum(length, mismatches, normalize=False, alphabet="acgt")
    F, H = (np.array([features(s, length, mismatches) for s in part]) for part in (long_enough, OTHERS))
    np.testing.assert_allclose(kernel(long_enough, OTHERS), F @ H.T)
    np.testing.assert_allclose(kernel(OTHERS, long_enough), H @ F.T)
    np.testing.assert_allclose(kernel.diagonal(long_enough), np.sum(F**2, axis=1))
    normalised = Spectrum(length, mismatches).fit(STRINGS)
    expected = F @ F.T / np.sqrt(np.outer(np.sum(F**2, axis=1), np.sum(F**2, axis=1)))
    np.testing.assert_allclose(normalised(long_enough), expected, rtol=1e-12)


def test_short_sequences_resemble_each_other_only():
    matrix = Spectrum(3)(["ab", "", "abc"])
    np.testing.assert_allclose(matrix, [[1, 1, 0], [1, 1, 0], [0, 0, 1]])


def test_any_symbols_in_any_sequence():
    kernel = Spectrum(2)
    letters = kernel(["abba", "abc"])
    numbers = kernel([np.array([1, 2, 2, 1]), (1, 2, 3)])
    mixed = kernel([list("abba"), ("a", "b", "c")], ["abba", "abc"])
    np.testing.assert_allclose(numbers, letters)
    np.testing.assert_allclose(mixed, letters)
    np.testing.assert_allclose(kernel(np.array([[1, 2, 2, 1], [1, 2, 3, 3]]))[0, 0], 1.0)


def test_unseen_symbols():
    kernel = Spectrum(3, mismatches=1).fit(["abab", "bbaa"])
    assert kernel.alphabet_ == ("a", "b")
    matrix = kernel(["abz", "abab", "zzz", "zzz"])
    assert 0 < matrix[0, 1] < 1
    assert matrix[1, 2] == 0
    assert matrix[2, 3] == pytest.approx(1.0)
    assert np.linalg.eigvalsh(matrix).min() > -1e-12


def test_words_longer_than_all_examples_are_an_error():
    with pytest.raises(ValueError, match=r"shorter than length = 5 \(the longest has 3 symbols\)"):
        Spectrum(5).fit(["abc", "", "ab"])
    Spectrum(3).fit(["abc", ""])


def test_mismatches_need_an_alphabet():
    with pytest.raises(NotFittedError, match="alphabet"):
        Spectrum(3, mismatches=1)(["abc"])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"length": 0}, "length = 0"),
        ({"length": 2.5}, "length = 2.5"),
        ({"mismatches": -1}, "mismatches = -1"),
        ({"length": 2, "mismatches": 2}, "must be below length = 2"),
        ({"length": 12, "mismatches": 6, "alphabet": "abcdefgh"}, "lower mismatches or length"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        Spectrum(**settings).fit(["abc"])


@pytest.mark.parametrize("wrong", [3.0, None, {"a": 1}, np.zeros((2, 2))], ids=repr)
def test_what_is_not_a_sequence_is_named(wrong):
    with pytest.raises(TypeError, match="object 1 is"):
        Spectrum()(["abc", wrong])


def test_symbols_that_cannot_be_counted_are_named():
    with pytest.raises(TypeError, match="object 0 has symbols that cannot be counted"):
        Spectrum(1)([[["a"], ["b"]]])


def test_symbols_without_an_order_can_be_an_alphabet():
    sequences = [("left", 1, None), (None, ("turn", 2), 1)]
    kernel = Spectrum(2, mismatches=1).fit(sequences)
    assert set(kernel.alphabet_) == {"left", 1, None, ("turn", 2)}
    assert 0 < kernel(sequences)[0, 1] < 1
