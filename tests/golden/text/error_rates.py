"""Word and character error rates of made-up transcripts, by the programs that the profiles follow.

usage: python error_rates.py torchmetrics > error_rates_torchmetrics.jsonl
       python error_rates.py huggingface FOLDER > error_rates_huggingface.jsonl

The first command needs torchmetrics 1.8.2 (the committed rows were made with PyTorch 1.13, which its text metrics accept).
The second needs evaluate 0.4.6, jiwer 4.0.0 and the folder `metrics` of huggingface/evaluate at tag v0.4.6, because the
wheel has no metrics. Each row is a data set of one or more pairs. Numbers that are not finite are written as "nan" and
"inf". {"error": ...} holds the exception of the program.
"""
import json
import math
import random
import sys

SPACES = [" "] * 12 + ["  ", "   ", "\t", "\n", " \n ", "\u00a0", "\u2003", "\u3000", "\u001f", "\u0085", "\r\n", "\u200b"]
ENDS = [""] * 8 + [" ", "  ", "\t", "\n", "\u00a0", "\u3000", "\u001c"]
WORDS = [
    "the", "cat", "sat", "on", "a", "mat", "The", "CAT", "don't", "co-operate", "3", "three", "1,000", "50%", "%", "$5.00",
    "naïve", "nai\u0308ve", "Straße", "STRASSE", "кот", "сидел", "на", "коврике", "ёлка", "елка", "猫", "坐在", "垫子上",
    "שָׁלוֹם", "שלום", "مُحَمَّد", "محمد", "क्षत्रिय", "नमस्ते", "สวัสดี", "👍🏽", "👍", "👨\u200d👩\u200d👧", "🇩🇪", "e\u0301", "é",
    ".", ",", "—", "ok.", "ok", "x" * 70, "ab" * 40,
]
EDGES = [
    [("", "")],
    [("", "a b")],
    [("a b", "")],
    [(" ", " ")],
    [(" ", "")],
    [("\t", "a")],
    [("a", "\u3000")],
    [("\u200b", "")],
    [("", ""), ("", "")],
    [("", "x"), ("a", "a")],
    [("a", "a"), ("", "x y z")],
    [("a b c", ""), ("a", "a")],
    [("", ""), ("a b", "a b")],
    [("a\tb", "a b")],
    [("a\t\tb", "a b")],
    [("a\u00a0b", "a b")],
    [("a\u001fb", "a b")],
    [("\u001ca b\u001f", "a b")],
    [("a\u0085b", "a b")],
    [("  a b  ", "a b")],
    [("a b c", "b c d")],
    [("a b c d", "b a d c")],
    [("a a a", "a")],
    [("a", "a a a")],
    [("one", "one two three four five six")],
    [("e\u0301", "é")],
    [("50%", "50 %"), ("1,000", "1 000")],
    [("A", "a")],
    [("a" * 200, "a" * 199 + "b")],
    [(" ".join("ab" * 100), " ".join("ba" * 100))],
]


def text(rng, words):
    joined = "".join(word + rng.choice(SPACES) for word in words[:-1]) + "".join(words[-1:])
    return rng.choice(ENDS) + joined + rng.choice(ENDS)


def changed(rng, words):
    """The words with some of them changed, left out, repeated or exchanged."""
    found = []
    rate = rng.choice([0.0, 0.1, 0.3, 0.8])
    for word in words:
        if rng.random() >= rate:
            found.append(word)
            continue
        kind = rng.randrange(5)
        if kind == 0:
            found.append(rng.choice(WORDS))
        elif kind == 1:
            found += [word, rng.choice(WORDS)]
        elif kind == 2:
            place = rng.randrange(len(word))
            found.append(word[:place] + rng.choice(["", "x", "é"]) + word[place + 1:])
        elif kind == 3:
            found.insert(max(0, len(found) - 1), word)
    return [word for word in found if word]


def data_sets():
    rng = random.Random(20261127)
    yield from EDGES
    for _ in range(210):
        pairs = []
        for _ in range(rng.choice([1, 1, 2, 3, 6])):
            words = [rng.choice(WORDS) for _ in range(rng.choice([0, 1, 2, 3, 5, 8, 20]))]
            other = [rng.choice(WORDS) for _ in range(rng.randrange(6))]
            found = other if rng.random() < 0.1 else changed(rng, words)
            pairs.append((text(rng, words), text(rng, found)))
        yield pairs


def torchmetrics():
    from torchmetrics.functional import text as metrics

    functions = {
        "wer": metrics.word_error_rate,
        "mer": metrics.match_error_rate,
        "wil": metrics.word_information_lost,
        "wip": metrics.word_information_preserved,
        "cer": metrics.char_error_rate,
    }
    return "torchmetrics 1.8.2", lambda predictions, references: {
        name: float(function(predictions, references)) for name, function in functions.items()
    }


def huggingface(folder):
    import evaluate

    metrics = {name: evaluate.load(f"{folder}/{name}") for name in ["wer", "cer"]}

    def score(metric, predictions, references):
        try:
            return metric.compute(predictions=predictions, references=references)
        except ZeroDivisionError as error:
            return {"error": repr(error)}

    return "Hugging Face evaluate 0.4.6 on jiwer 4.0.0", lambda predictions, references: {
        name: score(metric, predictions, references) for name, metric in metrics.items()
    }


def written(value):
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def main(program, *arguments):
    name, score = {"torchmetrics": torchmetrics, "huggingface": huggingface}[program](*arguments)
    source = f"made-up transcripts, by error_rates.py next to this file; results of {name}"
    print(json.dumps({"_about": {"source": source, "licence": "MIT OR Apache-2.0"}}))
    for place, pairs in enumerate(data_sets()):
        references, predictions = map(list, zip(*pairs))
        row = {"id": f"rates-{place:03}", "references": references, "predictions": predictions}
        results = score(predictions, references)
        print(json.dumps(row | {name: written(value) for name, value in results.items()}))


main(*sys.argv[1:])
