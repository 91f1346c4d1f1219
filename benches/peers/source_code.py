"""CodeBLEU of a corpus, in the language of the first argument."""

import sys

import ordered  # noqa: F401
from codebleu import calc_codebleu
from measure import measure, records


def work():
    references = [[text] for text in records("r.jsonl", "reference")]
    predictions = records("p.jsonl", "prediction")
    score = calc_codebleu(references, predictions, sys.argv[1])
    return {name.removesuffix("_score"): value for name, value in score.items()}


measure(work)
