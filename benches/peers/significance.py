"""Intervals and paired tests: scipy's bootstrap, sacreBLEU's significance tests, hotcoco's comparison."""

import sys

from measure import lines, measure

KIND = sys.argv[1]


def errors(reference, prediction):
    """Errors and words of a line. This is not timed."""
    before = list(range(len(prediction) + 1))
    for row, word in enumerate(reference, 1):
        here = [row]
        for column, other in enumerate(prediction, 1):
            here.append(
                min(before[column] + 1, here[-1] + 1, before[column - 1] + (word != other))
            )
        before = here
    return before[-1], len(reference)


if KIND == "scipy":
    import numpy
    from scipy.stats import bootstrap

    PAIRS = zip(lines("r.txt"), lines("p.txt"))
    COUNTS = numpy.array([errors(r.split(), p.split()) for r, p in PAIRS], dtype=float)

    def work():
        def rate(wrong, words, axis):
            return wrong.sum(axis=axis) / words.sum(axis=axis)

        found = bootstrap(
            (COUNTS[:, 0], COUNTS[:, 1]),
            rate,
            paired=True,
            vectorized=True,
            n_resamples=2000,
            batch=100,
            method="percentile",
            rng=0,
        )
        return {"wer": COUNTS[:, 0].sum() / COUNTS[:, 1].sum(), "low": found.confidence_interval.low}

elif KIND == "accuracy":
    import numpy
    from scipy.stats import bootstrap

    CORRECT = numpy.array([r == p for r, p in zip(lines("r.txt"), lines("p.txt"))], dtype=float)

    def work():
        found = bootstrap(
            (CORRECT,), numpy.mean, vectorized=True, n_resamples=1000, batch=10, method="percentile", rng=0
        )
        return {"string_accuracy": CORRECT.mean(), "low": found.confidence_interval.low}

elif KIND == "confidence":
    from sacrebleu.metrics import BLEU

    def work():
        score = BLEU(references=[lines("r.txt")]).corpus_score(lines("p.txt"), None, n_bootstrap=1000)
        return {"bleu": score.score}

elif KIND == "paired":
    from sacrebleu.metrics import BLEU
    from sacrebleu.significance import PairedTest

    def work():
        references = [lines("r.txt")]
        systems = [("a", lines("p.txt")), ("b", lines("r.txt"))]
        test = PairedTest(
            systems, {"BLEU": BLEU(references=references)}, references, test_type="ar", n_samples=10000
        )
        _, results = test()
        return {"p": results["BLEU"][1].p_value}

elif KIND == "hotcoco":
    from hotcoco import COCO, COCOeval, compare

    def work():
        truth = COCO("r.json")
        systems = []
        for _ in range(2):
            evaluation = COCOeval(truth, truth.load_res("p.json"), "bbox")
            evaluation.evaluate()
            systems.append(evaluation)
        compare(*systems, n_bootstrap=1000)
        return {}

else:
    sys.exit(f"expected scipy, accuracy, confidence, paired or hotcoco, not {KIND!r}")

measure(work)
