"""Steps that prepare sentences for comparison.

A step takes a string or a list of strings. The last step of a chain returns a list with one list of units
(words or characters) per sentence.
"""

from __future__ import annotations

import functools
import re
import string
import sys
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = [
    "AbstractTransform",
    "Compose",
    "ExpandCommonEnglishContractions",
    "RemoveEmptyStrings",
    "ReduceToListOfListOfWords",
    "ReduceToListOfListOfChars",
    "ReduceToSingleSentence",
    "RemoveKaldiNonWords",
    "RemoveMultipleSpaces",
    "RemovePunctuation",
    "RemoveSpecificWords",
    "RemoveWhiteSpace",
    "Strip",
    "SubstituteRegexes",
    "SubstituteWords",
    "ToLowerCase",
    "ToUpperCase",
]


class AbstractTransform:
    """Base class of a step: override ``process_string``, or ``process_list`` if sentences depend on each other."""

    def __call__(self, sentences: Any) -> Any:
        """Transforms a sentence or a list of sentences.

        Raises:
            ValueError: If the sentences are neither a string nor a list.
        """
        if isinstance(sentences, str):
            return self.process_string(sentences)
        if isinstance(sentences, list):
            return self.process_list(sentences)
        raise ValueError(f"expected a string or a list of strings, found {sentences!r}")

    def process_string(self, s: str) -> Any:
        """Transforms one sentence."""
        raise NotImplementedError

    def process_list(self, inp: list[str]) -> Any:
        """Transforms each sentence of a list."""
        return [self.process_string(sentence) for sentence in inp]


class Compose:
    """Applies steps one after the other.

    Args:
        transforms: The steps, in order: any callables.

    >>> from metric_suite.compat import jiwer
    >>> jiwer.Compose([jiwer.ToLowerCase(), jiwer.ReduceToListOfListOfWords()])("The Cat")
    [['the', 'cat']]
    """

    def __init__(self, transforms: Any) -> None:
        self.transforms = transforms

    def __call__(self, text: Any) -> Any:
        for transform in self.transforms:
            text = transform(text)
        return text


class BaseRemoveTransform(AbstractTransform):
    """Replaces each of some tokens.

    Args:
        tokens_to_remove: The tokens, replaced in this order.
        replace_token: The replacement.
    """

    def __init__(self, tokens_to_remove: Iterable[str], replace_token: str = "") -> None:
        self.tokens_to_remove = tokens_to_remove
        self.replace_token = replace_token

    def process_string(self, s: str) -> Any:
        for token in self.tokens_to_remove:
            s = s.replace(token, self.replace_token)
        return s


class _ReduceToUnits(AbstractTransform):
    """Base class of the last step, which splits each sentence."""

    def process_list(self, inp: list[str]) -> Any:
        # No sentences count as one empty sentence.
        return [self.process_string(sentence)[0] for sentence in inp] or [[]]


class ReduceToListOfListOfWords(_ReduceToUnits):
    """Splits each sentence into words.

    Args:
        word_delimiter: What separates words. Empty words are dropped.

    >>> ReduceToListOfListOfWords()(["a cat", "sat"])
    [['a', 'cat'], ['sat']]
    """

    def __init__(self, word_delimiter: str = " ") -> None:
        self.word_delimiter = word_delimiter

    def process_string(self, s: str) -> Any:
        return [[word for word in s.split(self.word_delimiter) if word]]


class ReduceToListOfListOfChars(_ReduceToUnits):
    """Splits each sentence into characters (code points).

    >>> ReduceToListOfListOfChars()("cat")
    [['c', 'a', 't']]
    """

    def process_string(self, s: str) -> Any:
        return [list(s)]


class ReduceToSingleSentence(AbstractTransform):
    """Joins all sentences that are not empty, for references and hypotheses that differ in number.

    Args:
        word_delimiter: What is put between sentences.

    >>> ReduceToSingleSentence()(["a cat", "", "sat"])
    ['a cat sat']
    """

    def __init__(self, word_delimiter: str = " ") -> None:
        self.word_delimiter = word_delimiter

    def process_string(self, s: str) -> Any:
        return s

    def process_list(self, inp: list[str]) -> Any:
        sentences = [sentence for sentence in inp if len(sentence) > 0]
        return [f"{self.word_delimiter}".join(sentences)] if sentences else []


class SubstituteRegexes(AbstractTransform):
    r"""Replaces what regular expressions match.

    Args:
        substitutions: The replacement of each expression, applied in order.

    >>> SubstituteRegexes({r"\b(\w+)ed\b": r"\1"})("walked fast")
    'walk fast'
    """

    def __init__(self, substitutions: Mapping[str, str]) -> None:
        self.substitutions = substitutions

    def process_string(self, s: str) -> Any:
        for pattern, replacement in self.substitutions.items():
            s = re.sub(pattern, replacement, s)
        return s


class SubstituteWords(AbstractTransform):
    """Replaces whole words.

    Args:
        substitutions: The replacement of each word, applied in order. As in jiwer, a backslash in a
            replacement has the meaning that ``re.sub`` gives it.

    >>> SubstituteWords({"foo": "bar"})("foo foobar")
    'bar foobar'
    """

    def __init__(self, substitutions: Mapping[str, str]) -> None:
        self.substitutions = substitutions

    def process_string(self, s: str) -> Any:
        for word, replacement in self.substitutions.items():
            s = re.sub(rf"\b{re.escape(word)}\b", replacement, s)
        return s


class RemoveSpecificWords(SubstituteWords):
    """Replaces whole words by a space.

    Args:
        words_to_remove: The words.

    >>> RemoveSpecificWords(["the"])("the cat")
    '  cat'
    """

    def __init__(self, words_to_remove: list[str]) -> None:
        super().__init__(dict.fromkeys(words_to_remove, " "))


class RemoveWhiteSpace(BaseRemoveTransform):
    """Removes ASCII white space.

    Args:
        replace_by_space: Whether to put a space in its place.

    >>> RemoveWhiteSpace(replace_by_space=True)("a\\tcat")
    'a cat'
    """

    def __init__(self, replace_by_space: bool = False) -> None:
        super().__init__(list(string.whitespace), " " if replace_by_space else "")


@functools.cache
def _punctuation() -> frozenset[str]:
    characters = map(chr, range(sys.maxunicode + 1))
    return frozenset(character for character in characters if unicodedata.category(character)[0] == "P")


class RemovePunctuation(BaseRemoveTransform):
    """Removes the characters whose Unicode category is punctuation.

    >>> RemovePunctuation()("a cat!")
    'a cat'
    """

    def __init__(self) -> None:
        super().__init__(_punctuation())

    def process_string(self, s: str) -> Any:
        punctuation = _punctuation()
        if self.tokens_to_remove is not punctuation or type(s) is not str:
            return super().process_string(s)
        # Single characters that nothing replaces: their order makes no difference.
        present = punctuation.intersection(s)
        return s.translate(dict.fromkeys(map(ord, present))) if present else s


class RemoveMultipleSpaces(AbstractTransform):
    """Replaces each run of two or more characters of white space by one space.

    >>> RemoveMultipleSpaces()("a   cat ")
    'a cat '
    """

    def process_string(self, s: str) -> Any:
        return re.sub(r"\s{2,}", " ", s)


class Strip(AbstractTransform):
    """Removes white space at both ends."""

    def process_string(self, s: str) -> Any:
        return s.strip()


class RemoveEmptyStrings(AbstractTransform):
    """Drops the sentences of a list that are empty or white space; strips a sentence given alone."""

    def process_string(self, s: str) -> Any:
        return s.strip()

    def process_list(self, inp: list[str]) -> Any:
        return [sentence for sentence in inp if self.process_string(sentence) != ""]


# Whole words before the endings they contain.
_CONTRACTIONS = [
    ("won't", "will not"),
    ("can't", "can not"),
    ("let's", "let us"),
    ("n't", " not"),
    ("'re", " are"),
    ("'s", " is"),
    ("'d", " would"),
    ("'ll", " will"),
    ("'t", " not"),
    ("'ve", " have"),
    ("'m", " am"),
]


class ExpandCommonEnglishContractions(AbstractTransform):
    """Writes out common contractions of English, in lower case.

    >>> ExpandCommonEnglishContractions()("she'll make sure you can't")
    'she will make sure you can not'
    """

    def process_string(self, s: str) -> Any:
        if not isinstance(s, str):
            raise TypeError(f"expected a string, found {s!r}")
        for contraction, expansion in _CONTRACTIONS:
            s = s.replace(contraction, expansion)
        return s


class ToLowerCase(AbstractTransform):
    """Converts to lower case."""

    def process_string(self, s: str) -> Any:
        return s.lower()


class ToUpperCase(AbstractTransform):
    """Converts to upper case."""

    def process_string(self, s: str) -> Any:
        return s.upper()


class RemoveKaldiNonWords(AbstractTransform):
    """Removes what is enclosed in ``[]`` or ``<>``, such as Kaldi's ``[laugh]`` and ``<unk>``.

    >>> RemoveKaldiNonWords()("you <unk> like")
    'you  like'
    """

    def process_string(self, s: str) -> Any:
        return re.sub(r"[<\[][^>\]]*[>\]]", "", s)
