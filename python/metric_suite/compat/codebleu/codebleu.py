"""CodeBLEU: Ren et al., *CodeBLEU: a method for automatic evaluation of code synthesis* (2020, arXiv 2009.10297)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..._native import code_keywords, count_code
from . import bleu, weighted_ngram_match
from .dataflow_match import share_of_edges
from .utils import AVAILABLE_LANGS, check_language

__all__ = ["AVAILABLE_LANGS", "calc_codebleu"]


def calc_codebleu(
    references: Sequence[Any],
    predictions: Any,
    lang: str,
    weights: Sequence[float] = (0.25, 0.25, 0.25, 0.25),
    tokenizer: Any = None,
    keywords_dir: Any = None,
) -> dict[str, float]:
    """Returns CodeBLEU and its four components.

    Args:
        references: For each prediction a text or a list of texts.
        predictions: Texts.
        lang: One of ``AVAILABLE_LANGS``.
        weights: The weights of n-gram match, weighted n-gram match, syntax match and dataflow match.
        tokenizer: What splits a text into tokens for both n-gram matches; by default ``str.split``.
        keywords_dir: A directory with a file ``LANG.txt`` of one keyword per line; by default the lists that
            codebleu comes with.

    Returns:
        dict: ``codebleu``, ``ngram_match_score``, ``weighted_ngram_match_score``, ``syntax_match_score`` and
        ``dataflow_match_score``. A dataflow match of 0 counts as 1 in ``codebleu``, as in codebleu 0.7.0.

    Raises:
        AssertionError: If lengths, language, weights or ``keywords_dir`` are wrong.
        ValueError: If a prediction has an empty list of references.
    """
    assert len(references) == len(predictions), (
        f"{len(references)} references and {len(predictions)} predictions: expected as many of each"
    )
    check_language(lang)
    assert len(weights) == 4, f"{len(weights)} weights: expected 4 (alpha, beta, gamma, theta)"
    assert keywords_dir is None or Path(keywords_dir).exists(), f"keywords_dir {keywords_dir} does not exist"

    texts = [[text.strip() for text in (one if isinstance(one, list) else [one])] for one in references]
    hypotheses = [text.strip() for text in predictions]
    ngrams, weighted, syntax, dataflow = count_code(lang, hypotheses, texts)
    if tokenizer is None and keywords_dir is None:
        scores = [_bleu(*ngrams), _bleu(*weighted)]
    else:
        scores = _of_tokens(texts, hypotheses, tokenizer or str.split, _keywords(lang, keywords_dir))
    scores += [syntax[0] / syntax[1], share_of_edges(*dataflow)]
    alpha, beta, gamma, theta = weights
    ngram_match, weighted_match, syntax_match, dataflow_match = scores
    total = alpha * ngram_match + beta * weighted_match + gamma * syntax_match + theta * (dataflow_match or 1)
    return {
        "codebleu": total,
        "ngram_match_score": ngram_match,
        "weighted_ngram_match_score": weighted_match,
        "syntax_match_score": syntax_match,
        "dataflow_match_score": dataflow_match,
    }


def _bleu(orders: Any, hypothesis_length: int, reference_length: int) -> float:
    return bleu.bleu_of_counts(orders, bleu.brevity_penalty(reference_length, hypothesis_length))


def _keywords(lang: str, directory: Any) -> Any:
    """Returns a function that tells which of some tokens are keywords."""
    if directory is None:
        return lambda tokens: code_keywords(lang, tokens)
    lines = (Path(directory) / f"{lang}.txt").read_text(encoding="utf-8").splitlines()
    keywords = {line.strip() for line in lines}
    return lambda tokens: [token in keywords for token in tokens]


def _of_tokens(texts: Any, hypotheses: Sequence[Sequence[Any]], tokenizer: Any, are_keywords: Any) -> Any:
    """Returns both n-gram matches of tokens that only Python can make."""
    tokens = [tokenizer(text) for text in hypotheses]
    references = [[tokenizer(text) for text in one] for one in texts]

    def with_weights(reference: Any) -> Any:
        names = list(dict.fromkeys(reference))
        return [reference, dict(zip(names, (1 if is_keyword else 0.2 for is_keyword in are_keywords(names))))]

    weighted = [[with_weights(reference) for reference in one] for one in references]
    return [bleu.corpus_bleu(references, tokens), weighted_ngram_match.corpus_bleu(weighted, tokens)]
