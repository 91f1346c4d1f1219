"""Made-up answers to questions about images, by the rules of two profiles.

usage: python vqa.py exact > vqa_exact.jsonl
       python vqa.py lmms-eval FOLDER > vqa_lmms_eval.jsonl

The profile `exact` has no program: its rows are arithmetic, the comparison of strings in Python. FOLDER holds the
package lmms-eval 0.7.3 (pip download --no-deps lmms-eval==0.7.3, unpacked); its two modules for VQA v2 need none of its
dependencies. Each question has answers of different people. {"error": ...} holds the exception of the program.
"""
import importlib.util
import json
import random
import sys
from unittest.mock import MagicMock

ANSWERS = [
    "yes", "Yes", "YES", "yes.", "yes!", " yes ", "no", "two", "2", "Two.", "two dogs", "2 dogs", "the two dogs", "ten", "10",
    "a", "an apple", "the apple", "apple", "Apple", "none", "0", "zero", "1,000", "1000", "1, 000", "1,,000", "3.5", "3.5.",
    "3 .5", ".5", "...", "u.s.a.", "USA", "dont", "don't", "dont know", "im", "I'm", "Im", "hes", "its", "it's", "wont",
    "left/right", "left / right", "left right", "t-shirt", "t shirt", "tshirt", "red, white", "red white", "red,white",
    "(red)", "[1]", "50%", "50 %", "$5", "#1", "a & b", "12:30", "o'clock", "oclock", "?", "!", "-", "", " ", "\n", "\tyes\n",
    "yes\nno", "yes no", "кот", "Кот", "1٠", "１０", "café", "cafe\u0301", "STRASSE", "straße", "İ", "dark  red", "dark red",
    "red\u00a0wine", "red wine", "x" * 40 + "." * 34, "y'all'd've", "somebody'd", "somebodyd", "'ow's'at", "one-two", "a the an",
]
# Prediction, answers.
EDGES = [
    ("yes", []),
    ("", []),
    ("", [""]),
    ("yes", ["yes"]),
    ("Yes.", ["yes"]),
    ("Yes.", ["yes"] * 10),
    ("yes", ["Yes!"] * 10),
    ("the cat", ["cat"] * 3),
    ("cat", ["the cat"] * 10),
    ("two", ["2"] * 9 + ["three"]),
    ("red", ["red"] + ["blue"] * 9),
    ("red", ["red"] * 2 + ["blue"] * 8),
    ("red", ["red"] * 3 + ["blue"] * 7),
    ("red", ["red"] * 4 + ["blue"] * 6),
    ("red", ["red"] * 10),
    ("red", ["red"] * 2),
    ("red", ["red", "blue"]),
    ("red", [f"answer {place}" for place in range(9)] + ["red"]),
    ("a", ["the"] * 10),
    ("", ["a", "an", "the"]),
    ("1,,000", ["1000"] * 10),
    ("1 000", ["1,,000"] * 10),
    ("1,000", ["1000"] * 10),
    ("5,,5", ["55"] * 10),
    ("a,,b", ["a b"] * 10),
    ("red;1,,2", ["red12"] * 10),
    ("." * 33, ["."] * 10),
    ("x" + "." * 33, ["x"] * 10),
    ("none", ["0"] * 10),
    ("café", ["cafe\u0301"] * 10),
]


def questions():
    yield from EDGES
    rng = random.Random(20261127)
    for _ in range(220):
        pool = rng.sample(ANSWERS, rng.choice([1, 1, 2, 3, 6]))
        answers = [rng.choice(pool) for _ in range(rng.choice([1, 2, 3, 5, 10, 10, 10, 10]))]
        prediction = rng.choice(answers) if rng.random() < 0.7 else rng.choice(ANSWERS)
        change = rng.choice([str, str, str, str.upper, str.title, "{}.".format, "the {}".format, " {}\n".format])
        yield change(prediction), answers


def exact():
    return "arithmetic", lambda prediction, answers: float(prediction in answers)


def lmms_eval(folder):
    for other in ["loguru", "lmms_eval.tasks._task_utils.file_utils"]:
        sys.modules[other] = MagicMock()

    def load(path):
        name = path.replace("/", ".")
        spec = importlib.util.spec_from_file_location(name, f"{folder}/{path}.py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
        return sys.modules[name]

    # The packages around these modules import many others.
    for package in ["lmms_eval", "lmms_eval.tasks", "lmms_eval.tasks._task_utils"]:
        sys.modules[package] = MagicMock()
    load("lmms_eval/tasks/_task_utils/vqa_eval_metric")
    vqav2 = load("lmms_eval/tasks/vqav2/utils")

    def score(prediction, answers):
        people = [{"answer": answer, "answer_id": person} for person, answer in enumerate(answers, 1)]
        try:
            return vqav2.vqav2_process_results({"question_id": 1, "answers": people}, [prediction])["exact_match"]
        except ValueError as error:
            return {"error": repr(error)}

    return "lmms-eval 0.7.3 under Python 3.11", score


def main(program, *arguments):
    name, score = {"exact": exact, "lmms-eval": lmms_eval}[program](*arguments)
    source = f"made-up answers, by vqa.py next to this file; results of {name}"
    print(json.dumps({"_about": {"source": source, "licence": "MIT OR Apache-2.0"}}))
    for place, (prediction, answers) in enumerate(questions()):
        row = {"id": f"vqa-{place:03}", "prediction": prediction, "answers": answers}
        print(json.dumps(row | {"accuracy": score(prediction, answers)}))


main(*sys.argv[1:])
