"""Scores of generated text by sacreBLEU and rouge-score, and error rates after Whisper's normalizers."""

import math
import sys

from measure import lines, measure


def of_sacrebleu(name):
    import sacrebleu

    score = getattr(sacrebleu, f"corpus_{name}")
    return lambda references, predictions: {name: score(predictions, [references]).score / 100}


def of_rouge(use_stemmer):
    from rouge_score import rouge_scorer

    types = ["rouge1", "rouge2", "rougeL", "rougeLsum"]
    scorer = rouge_scorer.RougeScorer(types, use_stemmer=use_stemmer)

    def score(references, predictions):
        scores = [scorer.score(*pair) for pair in zip(references, predictions)]
        mean = lambda name: math.fsum(score[name].fmeasure for score in scores) / len(scores)  # noqa: E731
        return {name: mean(name) for name in types}

    return score


def of_whisper(name):
    import jiwer
    from whisper_normalizer import basic, english

    normalize = {"whisper-basic": basic.BasicTextNormalizer, "whisper-english": english.EnglishTextNormalizer}[name]()
    prepared = lambda texts: [normalize(text) for text in texts]  # noqa: E731
    return lambda references, predictions: {
        "wer": jiwer.process_words(prepared(references), prepared(predictions)).wer
    }


MODES = {
    "bleu": lambda: of_sacrebleu("bleu"),
    "chrf": lambda: of_sacrebleu("chrf"),
    "ter": lambda: of_sacrebleu("ter"),
    "rouge": lambda: of_rouge(False),
    "rouge-stems": lambda: of_rouge(True),
    "whisper-basic": lambda: of_whisper("whisper-basic"),
    "whisper-english": lambda: of_whisper("whisper-english"),
}
score = MODES[sys.argv[1]]()
measure(lambda: score(lines("r.txt"), lines("p.txt")))
