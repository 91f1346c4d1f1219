"""Word or character error rate by jiwer, with its counts."""

import sys

import jiwer
from measure import lines, measure

RATE, PROCESS = {
    "wer": ("wer", jiwer.process_words),
    "cer": ("cer", jiwer.process_characters),
}[sys.argv[1]]


def work():
    output = PROCESS(lines("r.txt"), lines("p.txt"))
    return {
        RATE: getattr(output, RATE),
        "hits": output.hits,
        "substitutions": output.substitutions,
        "deletions": output.deletions,
        "insertions": output.insertions,
    }


measure(work)
