"""Chains of steps that are used often.

``*_default`` compare sentence by sentence. ``*_contiguous`` join all sentences first, for references and hypotheses
that differ in number. ``*_standardize*`` also convert to lower case, write out contractions and remove non-words.
"""

from __future__ import annotations

from typing import Any

from . import transforms as _steps

__all__ = [
    "wer_default",
    "wer_contiguous",
    "wer_standardize",
    "wer_standardize_contiguous",
    "cer_default",
    "cer_contiguous",
]


def _spaces() -> Any:
    return [_steps.RemoveMultipleSpaces(), _steps.Strip()]


def _standard() -> Any:
    return [
        _steps.ToLowerCase(),
        _steps.ExpandCommonEnglishContractions(),
        _steps.RemoveKaldiNonWords(),
        _steps.RemoveWhiteSpace(replace_by_space=True),
        *_spaces(),
    ]


def _words(before: Any, joined: Any = False) -> Any:
    join = [_steps.ReduceToSingleSentence()] if joined else []
    return _steps.Compose([*before, *join, _steps.ReduceToListOfListOfWords()])


wer_default = _words(_spaces())
wer_contiguous = _words(_spaces(), joined=True)
wer_standardize = _words(_standard())
wer_standardize_contiguous = _words(_standard(), joined=True)
cer_default = _steps.Compose([_steps.Strip(), _steps.ReduceToListOfListOfChars()])
cer_contiguous = _steps.Compose([_steps.Strip(), _steps.ReduceToSingleSentence(), _steps.ReduceToListOfListOfChars()])
