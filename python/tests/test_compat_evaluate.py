"""Modules for Hugging Face's evaluate, and scorers for scikit-learn."""

import importlib.util
import warnings

import numpy
import pytest
from golden import rows
from hypothesis import given, settings
from hypothesis import strategies as st

import metric_suite.evaluate
from metric_suite.sklearn import make_scorer

evaluate = pytest.importorskip("evaluate")


def module(name):
    """Returns `_compute` of a module, which evaluate calls with plain lists."""
    path = metric_suite.evaluate.path(name) / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"loaded_{name}", path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    (found,) = (value for value in vars(loaded).values() if isinstance(value, type) and issubclass(value, evaluate.Metric))
    metric = object.__new__(found)
    return lambda predictions, references, **options: found._compute(metric, predictions, references, **options)


COMPUTE = {name: module(name) for name in metric_suite.evaluate.NAMES}

QUESTIONS = [
    {"id": "a", "answers": {"text": ["the cat"], "answer_start": [0]}},
    {"id": "b", "answers": {"text": [], "answer_start": []}},
]


BLEU = {
    "bleu": 1.0,
    "precisions": [1.0] * 4,
    "brevity_penalty": 1.0,
    "length_ratio": 1.0,
    "translation_length": 4,
    "reference_length": 4,
}
SACREBLEU = {
    "score": pytest.approx(100),
    "counts": [4, 3, 2, 1],
    "totals": [4, 3, 2, 1],
    "precisions": [100.0] * 4,
    "bp": 1.0,
    "sys_len": 4,
    "ref_len": 4,
}


def test_names():
    assert metric_suite.evaluate.NAMES == [
        "accuracy",
        "bleu",
        "brier_score",
        "cer",
        "chrf",
        "confusion_matrix",
        "exact_match",
        "f1",
        "mae",
        "mape",
        "matthews_correlation",
        "mean_iou",
        "mse",
        "pearsonr",
        "precision",
        "r_squared",
        "recall",
        "roc_auc",
        "rouge",
        "sacrebleu",
        "spearmanr",
        "squad",
        "squad_v2",
        "ter",
        "wer",
    ]
    with pytest.raises(ValueError, match="no module 'meteor'"):
        metric_suite.evaluate.path("meteor")


@pytest.mark.parametrize(
    ("name", "predictions", "references", "expected"),
    [
        ("wer", ["a b", "c"], ["a x", "c"], 1 / 3),
        ("cer", ["ab"], ["ax"], 0.5),
        ("exact_match", ["a", "b"], ["a", "c"], {"exact_match": 0.5}),
        ("accuracy", [1, 0], [1, 1], {"accuracy": 0.5}),
        ("sacrebleu", ["a b c d"], [["a b c d", "x"]], SACREBLEU),
        ("bleu", ["a b c d"], ["a b c d"], BLEU),
        ("chrf", ["abc"], ["abd"], {"score": 38.888888888888886, "char_order": 6, "word_order": 0, "beta": 2}),
        ("ter", ["b a"], [["a b", "a b c"]], {"score": 40.0, "num_edits": 1, "ref_length": 2.5}),
        ("rouge", ["a b", "c"], [["a x", "a b"], ["d"]], dict.fromkeys(["rouge1", "rouge2", "rougeL", "rougeLsum"], 0.5)),
        ("f1", [0, 0, 1, 1, 0], [0, 1, 0, 1, 0], {"f1": 0.5}),
        ("mse", [2.5, 0, 2, 8], [3, -0.5, 2, 7], {"mse": 0.375}),
        ("mae", [2.5, 0, 2, 8], [3, -0.5, 2, 7], {"mae": 0.5}),
        ("mape", [2.5, 0, 2, 8], [2, -0.5, 2, 8], {"mape": 1.25 / 4}),
        ("r_squared", [1, 2, 5], [1, 2, 3], -1.0),
        ("pearsonr", [1, 3, 2], [1, 2, 3], {"pearsonr": 0.5}),
        ("spearmanr", [10, 9, 2.5, 6, 4], [1, 2, 3, 4, 5], {"spearmanr": pytest.approx(-0.7, rel=1e-12)}),
        (
            "squad",
            [{"id": "a", "prediction_text": "a Cat."}],
            QUESTIONS[:1],
            {"exact_match": 100.0, "f1": 100.0},
        ),
    ],
)
def test_loaded_by_evaluate(name, predictions, references, expected, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_MODULES_CACHE", str(tmp_path))
    metric = evaluate.load(str(metric_suite.evaluate.path(name)), cache_dir=str(tmp_path))
    assert metric.compute(predictions=predictions, references=references) == expected


@pytest.mark.parametrize("row", [pytest.param(row, id=row["id"]) for row in rows("translation/evaluate_bleu.jsonl")])
def test_bleu(row):
    if "error" in row["result"]:
        with pytest.raises(ZeroDivisionError):
            COMPUTE["bleu"](row["predictions"], row["references"], **row["options"])
    else:
        assert COMPUTE["bleu"](row["predictions"], row["references"], **row["options"]) == row["result"]


def test_bleu_of_other_tokens():
    assert COMPUTE["bleu"](["a+b"], ["a+c"], tokenizer=lambda text: text.split("+"), max_order=1)["bleu"] == 0.5
    with pytest.raises(ZeroDivisionError):
        COMPUTE["bleu"]([], [])


@pytest.mark.parametrize("row", [pytest.param(row, id=row["id"]) for row in rows("translation/evaluate_rouge.jsonl")])
def test_rouge(row):
    found = COMPUTE["rouge"](row["predictions"], row["references"], **row["options"])
    expected = row["mean"] if row["options"]["use_aggregator"] else row["result"]
    assert found == {name: pytest.approx(value, rel=1e-12) for name, value in expected.items()}


def test_rouge_with_a_seed(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_MODULES_CACHE", str(tmp_path))
    path = str(metric_suite.evaluate.path("rouge"))
    for row in rows("translation/evaluate_rouge.jsonl"):
        metric = evaluate.load(path, cache_dir=str(tmp_path), seed=row["seed"])
        columns = {"predictions": row["predictions"], "references": row["references"]}
        found = metric.compute(**columns, **row["options"])
        assert found == {name: pytest.approx(value, rel=1e-12) for name, value in row["result"].items()}, row["id"]


def test_options_of_translations():
    assert COMPUTE["sacrebleu"](["A+b"], ["a+b"], lowercase=True, tokenize="char", use_effective_order=True)["bp"] == 1
    assert COMPUTE["chrf"](["A"], ["a"], lowercase=True, word_order=2)["score"] == 100
    assert COMPUTE["ter"](["A。"], ["a"], normalized=True, ignore_punct=True, support_zh_ja_chars=True)["score"] == 0
    assert COMPUTE["ter"](["A"], ["a"], case_sensitive=True)["score"] == 100
    for name in ("sacrebleu", "chrf", "ter"):
        with pytest.raises(ValueError, match="1 to 2 references"):
            COMPUTE[name](["a", "b"], [["a"], ["b", "c"]])
    found = COMPUTE["rouge"](["a|b"], ["b|a"], rouge_types=["rouge1"], tokenizer=lambda text: text.split("|"))
    assert found == {"rouge1": 1}
    assert COMPUTE["rouge"](["running"], ["runs"], rouge_types=["rouge1"], use_stemmer=True) == {"rouge1": 1}


def test_references_without_words():
    for name in ("wer", "cer"):
        with pytest.raises(ZeroDivisionError):
            COMPUTE[name](["a"], [" "])
        assert COMPUTE[name](["a"], [" "], concatenate_texts=True) == 1


def test_exact_match_with_options():
    predictions, references = ["cat?", "theater", "yelling", "agent"], ["the cat", "theater", "YELLING", "agent007"]
    options = {"regexes_to_ignore": ["the ", "(?<=x)y", "yell", "YELL"], "ignore_case": True, "ignore_punctuation": True}
    assert COMPUTE["exact_match"](predictions, references, **options)["exact_match"] == 0.75
    assert COMPUTE["exact_match"](predictions, references, **options, ignore_numbers=True)["exact_match"] == 1.0


def test_questions_without_prediction():
    found = COMPUTE["squad"]([{"id": "a", "prediction_text": "cat"}], [QUESTIONS[0], {**QUESTIONS[0], "id": "c"}])
    assert found == {"exact_match": 50.0, "f1": 50.0}


def test_questions_without_answer():
    predictions = [
        {"id": "a", "prediction_text": "black cat", "no_answer_probability": 0.2},
        {"id": "b", "prediction_text": "dog", "no_answer_probability": 0.7},
    ]
    assert COMPUTE["squad_v2"](predictions, QUESTIONS) == {
        "exact": 0.0,
        "f1": pytest.approx(100 / 3),
        "total": 2,
        "HasAns_exact": 0.0,
        "HasAns_f1": pytest.approx(200 / 3),
        "HasAns_total": 1,
        "NoAns_exact": 0.0,
        "NoAns_f1": 0.0,
        "NoAns_total": 1,
        # That no question has an answer is right for one; then the first, answered, is right by two thirds.
        "best_exact": 50.0,
        "best_exact_thresh": 0.0,
        "best_f1": pytest.approx(250 / 3),
        "best_f1_thresh": 0.2,
    }
    # Above the threshold a question is taken to have no answer.
    found = COMPUTE["squad_v2"](predictions, QUESTIONS, no_answer_threshold=0.5)
    assert (found["exact"], found["NoAns_exact"]) == (50.0, 100.0)


LABELS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30)
AVERAGES = st.sampled_from(["binary", "micro", "macro", "weighted", None])


@settings(deadline=None)
@given(LABELS, AVERAGES, st.sampled_from([None, [2, 0], [1, 7]]), st.sampled_from([0, 1, "warn", 0.5]), st.booleans())
def test_the_same_as_scikit_learn(pairs, average, labels, zero_division, weighted):
    sklearn_metrics = pytest.importorskip("sklearn.metrics")
    if average == "binary":
        pairs, labels = [(a % 2, b % 2) for a, b in pairs], None
    predictions, references = [list(side) for side in zip(*pairs)]
    weights = {"sample_weight": [1 + place % 3 for place in range(len(pairs))]} if weighted else {}
    options = {"labels": labels, "average": average, **weights}

    def outcome(compute):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return compute()
            except ValueError:
                return ValueError

    for name in ("precision", "recall", "f1"):
        zeros = {} if name == "f1" else {"zero_division": zero_division}
        mine = outcome(lambda: COMPUTE[name](predictions, references, **options, **zeros)[name])
        score = getattr(sklearn_metrics, f"{name}_score")
        theirs = outcome(lambda: score(references, predictions, **options, **zeros))
        assert numpy.array_equal(numpy.ravel(mine), numpy.ravel(theirs)), name
    for normalize in (None, "true", "pred", "all"):
        mine = COMPUTE["confusion_matrix"](predictions, references, normalize=normalize, **weights)["confusion_matrix"]
        theirs = sklearn_metrics.confusion_matrix(references, predictions, normalize=normalize, **weights)
        assert numpy.array_equal(mine, theirs)
    mine = COMPUTE["matthews_correlation"](predictions, references, **weights)["matthews_correlation"]
    assert mine == sklearn_metrics.matthews_corrcoef(references, predictions, **weights)
    for normalize in (True, False):
        mine = COMPUTE["accuracy"](predictions, references, normalize=normalize, **weights)["accuracy"]
        assert mine == sklearn_metrics.accuracy_score(references, predictions, normalize=normalize, **weights)


def test_several_labels_per_example():
    pytest.importorskip("sklearn")
    found = COMPUTE["f1"]([[0, 1, 1], [1, 1, 0]], [[0, 1, 1], [0, 1, 0]], average="macro")
    assert found["f1"] == pytest.approx(2 / 3)


def test_scorers():
    pytest.importorskip("sklearn")
    from sklearn.dummy import DummyClassifier
    from sklearn.model_selection import cross_val_score

    features, labels = numpy.zeros((12, 1)), numpy.array([0] * 9 + [1] * 3)
    accuracy = make_scorer("classification", score="accuracy")
    assert cross_val_score(DummyClassifier(), features, labels, scoring=accuracy, cv=3).tolist() == [0.75] * 3
    f1 = make_scorer("classification", score="f1", average="macro", zero_division="0")
    assert f1(DummyClassifier().fit(features, labels), features, labels) == pytest.approx((18 / 21 + 0) / 2)
    undefined = make_scorer("classification", score="cohen_kappa")
    assert numpy.isnan(undefined(DummyClassifier().fit(features[:2], [1, 1]), features[:2], numpy.array([1, 1])))


def test_scorers_of_errors_are_negated():
    pytest.importorskip("sklearn")

    from sklearn.base import BaseEstimator

    class Echo(BaseEstimator):
        def fit(self, features, labels):
            return self

        def predict(self, features):
            return list(features)

    assert make_scorer("wer")(Echo(), ["a x"], ["a b"]) == -0.5


def test_scorers_by_k():
    pytest.importorskip("sklearn")

    from sklearn.base import BaseEstimator, ClassifierMixin

    class Sure(ClassifierMixin, BaseEstimator):
        classes_ = numpy.arange(3)

        def fit(self, features, labels):
            return self

        def predict_proba(self, features):
            return numpy.array([[0.2, 0.5, 0.3]] * len(features))

    options = {"response_method": "predict_proba", "input": "scores", "k": [2]}
    scorer = make_scorer("accuracy-at-k", score="accuracy@2", **options)
    assert scorer(Sure(), [[0], [0]], numpy.array([2, 0])) == 0.5


def test_wrong_scorers():
    pytest.importorskip("sklearn")
    with pytest.raises(ValueError, match="no metric 'nothing'"):
        make_scorer("nothing")
    with pytest.raises(ValueError, match="has no score 'f2': expected one of accuracy"):
        make_scorer("classification", score="f2")


@pytest.mark.parametrize("row", [pytest.param(row, id=row["id"]) for row in rows("ranking/regression.jsonl")])
def test_numbers(row):
    if row["kind"] in ("empty", "NaN", "infinite prediction", "lengths differ"):
        references, predictions = ([float(number) for number in row[side]] for side in ("references", "predictions"))
        for name in ("mse", "pearsonr", "spearmanr"):
            with pytest.raises(metric_suite.MetricError):
                COMPUTE[name](predictions, references)
        return
    expected = {(one["metric"], str(one["options"])): one.get("value") for one in row["results"]}
    weights = {"sample_weight": row["weights"]} if "weights" in row else {}
    # In these rows, the references lose digits.
    if row["kind"] not in ("tiny", "large mean", "very large mean", "opposite signs cancel", "constant: 0.1 three times"):
        found = COMPUTE["mse"](row["predictions"], row["references"], **weights)
        assert found["mse"] == pytest.approx(expected["mse", "{}"], rel=1e-12)
        found = COMPUTE["mse"](row["predictions"], row["references"], squared=False, **weights)
        assert found["mse"] == pytest.approx(expected["rmse", "{}"], rel=1e-12)
        if not weights and not row["kind"].startswith("weights"):
            pearson = expected["pearson", "{}"] if len(row["references"]) > 1 else "nan"
            found = COMPUTE["pearsonr"](row["predictions"], row["references"])["pearsonr"]
            assert found == pytest.approx(float(pearson), rel=1e-12, abs=1e-13, nan_ok=True)
    for name in ("mae", "mape"):
        found = COMPUTE[name](row["predictions"], row["references"], **weights)
        assert found[name] == pytest.approx(expected[name, "{}"], rel=1e-12)
    if ("spearman", "{}") in expected:
        found = COMPUTE["spearmanr"](row["predictions"], row["references"])["spearmanr"]
        assert found == pytest.approx(float(expected["spearman", "{}"]), rel=1e-12, abs=1e-13, nan_ok=True)


def test_numbers_with_options():
    columns = [[0.5, 1], [-1, 1], [7, -6]], [[0, 2], [-1, 2], [8, -5]]
    assert COMPUTE["mse"](*columns)["mse"] == pytest.approx(0.7083333333333334)
    assert COMPUTE["mse"]([1], [2], multioutput="raw_values")["mse"] == [1]
    assert COMPUTE["pearsonr"]([1, 3, 2], [1, 2, 3], return_pvalue=True)["p-value"] == pytest.approx(2 / 3)
    assert COMPUTE["spearmanr"]([1, 3, 2], [1, 2, 3], return_pvalue=True)["spearmanr_pvalue"] == pytest.approx(2 / 3)
