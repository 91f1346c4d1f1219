"""Made-up answers to questions about charts, judged by relaxed_correctness of google-research/pix2struct.

usage: python relaxed_accuracy.py METRICS.PY > relaxed_accuracy.jsonl

METRICS.PY is pix2struct/metrics.py of that repository at revision 42e2427. The packages that it imports for other metrics
need not be installed. An example is correct if its prediction matches one of its references, as in aggregate_metrics of
the same file. {"error": ...} holds the exception of the program.
"""
import importlib.util
import json
import random
import sys
from unittest.mock import MagicMock

# Reference, predictions.
EDGES = [
    ("100", ["100", "105", "95", "105.0000001", "94.9999999", "105.1", "94.9", "1e2", "100.0", "+100", "-100", " 100 ", "0"]),
    ("100", ["1_00", "1__00", "_100", "100_", "1,00", "$100", "100 USD", "0x64", "100.", "1e2.0", "१००", "١٠٥", "１００", "²"]),
    ("-100", ["-100", "-95", "-105", "-105.1", "100", "−100", "- 100"]),
    ("0.1", ["0.105", "0.095", "0.1050000000000001", "10%", "10.5%", "9.5%", "10 %", "10% ", "%", "10%%", "1e1%", ".1"]),
    ("10%", ["0.1", "10%", "10.5%", "10.6%", "10", "0.105", "9.5%", "10 %", " 10%", "ten percent", "10％"]),
    ("0", ["0", "0.0", "-0", "00", "0%", "", "zero", "1e-300"]),
    ("0.0", ["0", "0.0", "0.0%", "-0.0", "1e-9"]),
    ("0%", ["0%", "0", "0.0%"]),
    ("-0", ["-0", "0"]),
    ("1e-320", ["1e-320", "1.04e-320", "1.1e-320", "0"]),
    ("5e-324", ["5e-324", "0", "1e-323"]),
    ("1e-400", ["1e-400", "0", "1E-400"]),
    ("1e308", ["1e308", "1.05e308", "1.06e308", "1e309", "inf"]),
    ("1.7976931348623157e308", ["1.7976931348623157e308", "-1.7976931348623157e308", "1.8e308", "1.75e308"]),
    ("inf", ["inf", "Inf", "infinity", "-inf", "1", "1e999", "∞"]),
    ("-infinity", ["-infinity", "-Infinity", "-inf", "x"]),
    ("nan", ["nan", "NaN", "1", "none"]),
    ("NaN%", ["nan%", "nan", "5"]),
    ("1", ["inf", "nan", "-inf", "1e-5", "one", "One", "1.05", "0.95", "1.0500000000000003", "0.9499999999999998"]),
    ("2023", ["1950", "2023", "1921.85", "2124.15", "1921", "2125"]),
    ("Yes", ["yes", "YES", "Yes ", " yes", "yes.", "no", "y", ""]),
    ("", ["", " ", "0", "none", "%"]),
    (" ", [" ", "", "\t"]),
    ("%", ["%", "%%", "0%", ""]),
    ("Straße", ["straße", "STRASSE", "strasse", "STRAẞE"]),
    ("İstanbul", ["i̇stanbul", "istanbul", "İSTANBUL", "ISTANBUL"]),
    ("ΟΔΟΣ", ["οδος", "οδοσ", "Οδος", "ΟΔΟΣ"]),
    ("É", ["é", "e\u0301", "E\u0301"]),
    ("Москва", ["москва", "МОСКВА", "Moсква"]),
    ("1,000", ["1000", "1,000", "1,050"]),
    ("$5", ["$5", "5", "$5.1"]),
    ("5 million", ["5 Million", "5000000", "5"]),
    ("[10, 20]", ["[10, 20]", "[10,20]", "10, 20"]),
    ("5:3", ["5:3", "5/3", "1.67"]),
    ("\u30005\u0085", ["5", "5.2", "\u30005\u0085"]),
    ("\u001f5", ["5", "\u001f5"]),
    ("\u001c5\n", ["5", "5.3"]),
    ("5\u0000", ["5", "5\u0000"]),
    ("1" + "0" * 400, ["1" + "0" * 400, "1"]),
    ("0." + "3" * 60, ["0.3333333", "0.35", "0.3499999"]),
]
LISTS = [
    ("red", []),
    ("red", ["blue", "Red"]),
    ("red", ["blue", "green"]),
    ("104", ["90", "100"]),
    ("104", ["ninety", "100%"]),
    ("0.0", ["0", "0.0"]),
    ("nan", ["1", "NaN", "nan"]),
    ("", ["", "x"]),
    ("12%", ["12", "0.12"]),
    ("5", ["0", "4.9", "five"]),
]


def number(rng, value):
    """A number in one of the forms in which charts and models write it."""
    forms = ["{:.0f}", "{:.1f}", "{:.2f}", "{!r}", "{:g}", "{:.3e}", " {:g}", "{:g}\n", "+{:g}"]
    if rng.random() < 0.3:
        return rng.choice(["{:g}%", "{:.1f}%", "{!r}%"]).format(value * 100)
    return rng.choice(forms).format(value)


def examples():
    for reference, predictions in EDGES:
        for prediction in predictions:
            yield prediction, [reference], 0.05
    for prediction, references in LISTS:
        yield prediction, references, 0.05
    rng = random.Random(20261127)
    for _ in range(120):
        tolerance = rng.choice([0.05, 0.05, 0.05, 0.0, 0.01, 0.1, 0.5, 1.0])
        truth = rng.choice([rng.uniform(-2, 2), rng.randint(1, 3000), rng.uniform(0, 1), float(10 ** rng.randint(-6, 9))])
        # At the border, next to it, and anywhere.
        factor = 1 + rng.choice([-1, 1]) * tolerance * rng.choice([1, 1, 1 - 1e-15, 1 + 1e-15, 0.99, 1.01, rng.uniform(0, 2)])
        references = [number(rng, truth)] + [number(rng, rng.uniform(0, 100)) for _ in range(rng.choice([0, 0, 0, 2]))]
        rng.shuffle(references)
        yield number(rng, truth * factor), references, tolerance


def main(path):
    for other in ["pycocoevalcap.tokenizer.ptbtokenizer", "pycocoevalcap.cider.cider", "editdistance"]:
        sys.modules[other] = MagicMock()
    spec = importlib.util.spec_from_file_location("metrics", path)
    metrics = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(metrics)

    def correct(prediction, references, tolerance):
        def judge(target, prediction):
            return metrics.relaxed_correctness(target, prediction, tolerance)

        try:
            return metrics.aggregate_metrics([references], [prediction], judge) == 100.0
        except ValueError as error:
            return {"error": repr(error)}

    source = (
        "made-up answers, by relaxed_accuracy.py next to this file; results of relaxed_correctness in "
        "google-research/pix2struct 42e2427 under Python 3.11"
    )
    print(json.dumps({"_about": {"source": source, "licence": "MIT OR Apache-2.0"}}))
    for place, (prediction, references, tolerance) in enumerate(examples()):
        row = {"id": f"relaxed-{place:03}", "prediction": prediction, "references": references, "tolerance": tolerance}
        print(json.dumps(row | {"correct": correct(prediction, references, tolerance)}))


main(*sys.argv[1:])
