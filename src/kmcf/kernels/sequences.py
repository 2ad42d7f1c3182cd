"""A kernel for strings and sequences of symbols."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import comb
from typing import Any, Self, TypeAlias

import numpy as np
from scipy.sparse import csr_array

from kmcf.kernels.kernel import Kernel
from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf.numerics.objects import Objects, as_objects
from kmcf.support.estimators import not_fitted

Word: TypeAlias = tuple[Hashable, ...]
_MOST_NEIGHBOURS = 100_000
_TOO_SHORT: Word = ()


@dataclass(frozen=True)
class WordCounts:
    """How often each word occurs in each of n sequences.

    Attributes
    ----------
    counts : sparse array (n, words)
        One row per sequence.
    columns : dict
        The column of each word.
    """

    counts: Any
    columns: dict[Word, int]

    def __len__(self) -> int:
        return int(self.counts.shape[0])

    def __getitem__(self, indices: IntArray) -> WordCounts:
        return WordCounts(self.counts[indices], self.columns)


class Spectrum(Kernel):
    r"""Spectrum kernel on strings or sequences of any hashable symbols.

    .. math:: k(s, t) = \sum_{w} c_w(s)\, c_w(t) ,

    where :math:`c_w(s)` counts the occurrences of the word w among the contiguous words of length ``length`` in s
    (Leslie, Eskin and Noble 2002). With ``mismatches`` m > 0 every word counts as an occurrence of all words that
    differ from it in at most m places (Leslie et al. 2004). With ``normalize`` it is divided by
    :math:`\sqrt{k(s, s)\,k(t, t)}`.

    Sequences shorter than ``length`` (also the empty one) have no words; they resemble each other, k = 1, and nothing
    else. Symbols that no example has are allowed: words with them resemble only words that agree there.

    Parameters
    ----------
    length : int
        Length of the words.
    mismatches : int
        m, how many symbols of a word may differ; below ``length``. The number of words grows like
        (length × size of the alphabet)^m.
    normalize : bool
        Make the diagonal 1, so that long sequences do not dominate.
    alphabet : sequence, optional
        Symbols that may replace one another. None: those of the examples. Used with mismatches only.

    Attributes
    ----------
    alphabet_ : tuple
        The alphabet in use (with mismatches only).

    Examples
    --------
    >>> Spectrum(2, normalize=False)(["abab", "ba"], ["ab", "b"])
    array([[2., 0.],
           [0., 0.]])
    >>> Spectrum(2, mismatches=1, alphabet="ab", normalize=False)(["ab"], ["bb"])
    array([[2.]])
    """

    def __init__(
        self,
        length: int = 3,
        mismatches: int = 0,
        normalize: bool = True,
        alphabet: Sequence[Hashable] | None = None,
    ) -> None:
        self.length = length
        self.mismatches = mismatches
        self.normalize = normalize
        self.alphabet = alphabet

    @property
    def structured(self) -> bool:
        """True: a list of sequences stays a list."""
        return True

    def fit(self, objects: Any, states: Any = None) -> Self:
        """Learn the alphabet from the examples if it is needed and was not given."""
        self._check()
        sequences = list(_read_sequences(as_objects(objects, "the kernel's examples", structured=True)))
        if self.mismatches:
            found = sorted({symbol for sequence in sequences for symbol in sequence}, key=repr)
            self.alphabet_ = tuple(found if self.alphabet is None else dict.fromkeys(self.alphabet))
            self._check_size(len(self.alphabet_))
        longest = max((len(sequence) for sequence in sequences), default=0)
        if longest < self.length:
            raise ValueError(
                f"all example sequences are shorter than length = {self.length} (the longest has {longest} symbols): "
                "Spectrum could not tell them apart; lower length."
            )
        return self

    def prepare(self, objects: Objects) -> WordCounts:
        """Count the words of each sequence, and scale the counts if asked to."""
        self._check()
        alphabet = self._alphabet() if self.mismatches else ()
        if self.mismatches:
            self._check_size(len(alphabet))
        columns: dict[Word, int] = {}
        neighbours: dict[Word, list[int]] = {}
        places, values, ends = [], [], [0]
        for sequence in _read_sequences(objects):
            totals: Counter[int] = Counter()
            for word, count in self._words(sequence).items():
                if word not in neighbours:
                    near = _neighbours(word, self.mismatches, alphabet)
                    neighbours[word] = [columns.setdefault(other, len(columns)) for other in near]
                for column in neighbours[word]:
                    totals[column] += count
            places += list(totals.keys())
            values += list(totals.values())
            ends.append(len(places))
        shape = (len(ends) - 1, len(columns))
        counts = csr_array((np.asarray(values, dtype=np.float64), np.asarray(places, dtype=np.intp), ends), shape=shape)
        if self.normalize:
            counts = csr_array(counts.multiply(1.0 / np.sqrt(_squared_norms(counts))[:, None]))
        return WordCounts(counts, columns)

    def evaluate(self, a: WordCounts, b: WordCounts) -> FloatArray:
        """Return the inner products of the word counts."""
        if a.columns is b.columns:
            return np.asarray((a.counts @ b.counts.T).toarray())
        if len(b.columns) > len(a.columns):
            return self.evaluate(b, a).T
        translated = np.asarray([a.columns.get(word, -1) for word in b.columns], dtype=np.intp)
        entries = b.counts.tocoo()
        known = translated[entries.col] >= 0
        places = (entries.row[known], translated[entries.col[known]])
        counts = csr_array((entries.data[known], places), shape=(len(b), len(a.columns)))
        return np.asarray((a.counts @ counts.T).toarray())

    def evaluate_diagonal(self, a: WordCounts) -> FloatArray:
        """Return the squared norms of the word counts."""
        return np.ones(len(a)) if self.normalize else _squared_norms(a.counts)

    def _words(self, sequence: Word) -> Counter[Word]:
        words = Counter(sequence[i : i + self.length] for i in range(len(sequence) - self.length + 1))
        return words or Counter([_TOO_SHORT])

    def _check(self) -> None:
        for name, least in (("length", 1), ("mismatches", 0)):
            value = getattr(self, name)
            if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
                raise ValueError(f"Spectrum has {name} = {value!r}; it must be an integer of at least {least}.")
        if self.mismatches >= self.length:
            raise ValueError(f"Spectrum has mismatches = {self.mismatches}; it must be below length = {self.length}.")

    def _alphabet(self) -> tuple[Hashable, ...]:
        if hasattr(self, "alphabet_"):
            return self.alphabet_
        if self.alphabet is None:
            raise not_fitted(
                "Spectrum with mismatches learns its alphabet from examples: call fit(examples) first, or give one."
            )
        self._check_size(len(self.alphabet))
        return tuple(dict.fromkeys(self.alphabet))

    def _check_size(self, symbols: int) -> None:
        near = sum(comb(self.length, m) * max(symbols - 1, 0) ** m for m in range(self.mismatches + 1))
        if near > _MOST_NEIGHBOURS:
            raise ValueError(
                f"with an alphabet of {symbols} symbols every word of length {self.length} has {near} words within "
                f"{self.mismatches} mismatches; lower mismatches or length, or use fewer symbols."
            )


def _read_sequences(objects: Objects) -> Iterator[Word]:
    """Yield each sequence as a tuple of symbols."""
    for number, sequence in enumerate(objects):
        wrong = isinstance(sequence, dict | set | frozenset) or not hasattr(sequence, "__len__")
        if wrong or getattr(sequence, "ndim", 1) != 1:
            raise TypeError(f"Spectrum compares strings or sequences of symbols, but object {number} is {sequence!r}.")
        symbols = tuple(sequence.tolist() if isinstance(sequence, np.ndarray) else sequence)
        try:
            hash(symbols)
        except TypeError as error:
            raise TypeError(f"object {number} has symbols that cannot be counted ({error}).") from error
        yield symbols


def _neighbours(word: Word, mismatches: int, alphabet: tuple[Hashable, ...]) -> list[Word]:
    """Return the words made from a word by replacing at most ``mismatches`` of its symbols."""
    found = {word: None}
    for places in combinations(range(len(word)), mismatches):
        choices = [(*alphabet, word[i]) if i in places else (word[i],) for i in range(len(word))]
        found.update(dict.fromkeys(product(*choices)))
    return list(found)


def _squared_norms(counts: Any) -> FloatArray:
    return np.asarray(counts.multiply(counts).sum(axis=1), dtype=np.float64).ravel()
