"""`metric_suite.compat.rouge_score`: golden rows, rows by hand, and the same as rouge-score where it is installed."""

import numpy
import pytest
from golden import rows
from hypothesis import given, settings
from hypothesis import strategies as st

from metric_suite.compat.rouge_score import rouge_scorer, scoring, tokenize, tokenizers

TYPES = ["rouge1", "rouge2", "rougeL", "rougeLsum"]


def each(name):
    """Rows as parameters, by their ids."""
    found = rows(f"translation/{name}.jsonl")
    return pytest.mark.parametrize("row", [pytest.param(row, id=row["id"]) for row in found])


@each("rouge")
def test_scores(row):
    scorer = rouge_scorer.RougeScorer(**row["options"])
    found = scorer.score_multi(row["references"], row["prediction"])
    assert list(found) == row["options"]["rouge_types"]
    assert {name: score._asdict() for name, score in found.items()} == row["result"]
    # The scores of each target are ratios of its counts.
    for target, counts in zip(row["references"], row["each"]):
        for name, score in scorer.score(target, row["prediction"]).items():
            matches, prediction, reference = counts[name]
            assert score.precision == (matches / prediction if prediction else 0)
            assert score.recall == (matches / reference if reference else 0)


@each("rouge_bootstrap")
def test_bootstrap(row):
    options = dict(row["options"])
    resampling = {name: options.pop(name) for name in ("confidence_interval", "n_samples")}
    scorer, aggregator = rouge_scorer.RougeScorer(**options), scoring.BootstrapAggregator(**resampling)
    for texts, prediction in zip(row["references"], row["predictions"]):
        aggregator.add_scores(scorer.score_multi([texts] if isinstance(texts, str) else texts, prediction))
    numpy.random.seed(row["numpy_seed"])
    for name, ends in aggregator.aggregate().items():
        for end, expected in row["result"][name].items():
            assert getattr(ends, end) == pytest.approx(expected, rel=1e-12), (name, end)


@each("stems")
def test_stems(row):
    for word, stem in row["stems"].items():
        # ROUGE leaves words of up to 3 letters as they are.
        expected = stem if len(word) > 3 else word
        assert tokenizers.DefaultTokenizer(use_stemmer=True).tokenize(word) == [expected], word


@each("tokenizers")
def test_tokens(row):
    for rule, stemmer in (("rouge", False), ("rouge-stemmer", True)):
        if rule in row["tokens"]:
            assert tokenizers.DefaultTokenizer(stemmer).tokenize(row["text"]) == row["tokens"][rule]
    assert tokenize.tokenize(row["text"], None) == row["tokens"]["rouge"]


def test_by_hand():
    scorer = rouge_scorer.RougeScorer(TYPES, use_stemmer=True)
    found = scorer.score("The cats were running.\nA dog barked.", "A dog barked.\nThe cat runs.")
    assert found["rouge1"] == scoring.Score(6 / 6, 6 / 7, 2 * (6 / 7) / (6 / 6 + 6 / 7))
    assert found["rouge2"][:2] == (3 / 5, 3 / 6)
    assert found["rougeL"][:2] == (3 / 6, 3 / 7)
    assert found["rougeLsum"][:2] == (6 / 6, 6 / 7)
    assert found == scorer.score_multi(["", "The cats were running.\nA dog barked."], "A dog barked.\nThe cat runs.")


def test_wrong_calls():
    for name in ("rouge0", "rouge10", "rougeLSum", "1", "rouge"):
        with pytest.raises(ValueError, match=f"invalid ROUGE type '{name}'"):
            rouge_scorer.RougeScorer([name]).score("a", "a")
    with pytest.raises(ValueError, match="prediction 0 has no targets"):
        rouge_scorer.RougeScorer(TYPES).score_multi([], "a")
    with pytest.raises(ValueError, match="1 lists of targets and 2 predictions"):
        rouge_scorer.RougeScorer(TYPES).score_all([["a"]], ["a", "b"])
    with pytest.raises(NotImplementedError, match="one per line"):
        rouge_scorer.RougeScorer(TYPES, split_summaries=True)
    with pytest.raises(TypeError):
        rouge_scorer.RougeScorer(TYPES).score(None, "a")
    with pytest.raises(TypeError):
        tokenizers.Tokenizer()
    for interval in (-0.1, 1.1):
        with pytest.raises(ValueError, match="confidence_interval"):
            scoring.BootstrapAggregator(interval)
    with pytest.raises(ValueError, match="n_samples"):
        scoring.BootstrapAggregator(n_samples=0)


def test_many_predictions():
    scorer = rouge_scorer.RougeScorer(["rougeL", "rouge1"])
    targets, predictions = [["a b"], ["c", "d e"]], ["a", "d e"]
    found = scorer.score_all(targets, predictions)
    one_by_one = [scorer.score_multi(*pair) for pair in zip(targets, predictions)]
    assert found == {name: [scores[name] for scores in one_by_one] for name in ("rougeL", "rouge1")}
    assert scorer.score_all([], []) == {"rougeL": [], "rouge1": []}


def test_aggregates_of_other_values():
    aggregator = scoring.BootstrapAggregator(n_samples=5)
    assert aggregator.aggregate() == {}
    aggregator.add_scores({"length": 3.0})
    assert aggregator.aggregate() == {"length": scoring.AggregateScore(3.0, 3.0, 3.0)}
    assert scoring.fmeasure(0, 0) == 0


class Bars(tokenizers.Tokenizer):
    """Tokens that are not words, and tokens across lines."""

    def tokenize(self, text):
        return text.split("|")


class Stemmer:
    def stem(self, word):
        return word[:4]


def test_stemmers_of_users():
    assert tokenize.tokenize("Cats dog", Stemmer()) == ["cats", "dog"]
    assert tokenize.tokenize("running", Stemmer()) == ["runn"]


def test_tokenizers_of_users():
    scorer = rouge_scorer.RougeScorer(TYPES, tokenizer=Bars())
    # `b\nc` is one token of the whole text, and two of its lines.
    found = scorer.score("a|b\nc", "c|a\nb")
    assert (found["rouge1"].fmeasure, found["rougeLsum"].fmeasure) == (0, 1)
    assert scorer.score("été|!|été", "!|été")["rouge1"][:2] == (1, 2 / 3)


TEXTS = st.text(st.sampled_from("ab12 .-é|\n"), max_size=24) | st.lists(
    st.sampled_from(["the", "cats", "cat", "running", "runs", "\n", "relational"]), max_size=14
).map(" ".join)


@settings(deadline=None)
@given(
    TEXTS,
    st.lists(TEXTS, min_size=1, max_size=3),
    st.booleans(),
    st.sampled_from([None, Bars()]),
    st.lists(st.sampled_from([*TYPES, "rouge3", "rouge9"]), max_size=4),
)
def test_the_same_as_rouge_score(prediction, targets, stemmer, tokenizer, types):
    pytest.importorskip("rouge_score")
    from rouge_score import rouge_scorer as theirs
    from rouge_score import tokenize as their_tokenize

    options = {"rouge_types": types, "use_stemmer": stemmer, "tokenizer": tokenizer}
    mine, other = rouge_scorer.RougeScorer(**options), theirs.RougeScorer(**options)
    assert mine.score_multi(targets, prediction) == other.score_multi(targets, prediction)
    for target in targets:
        assert mine.score(target, prediction) == other.score(target, prediction)
    assert tokenize.tokenize(prediction, None) == their_tokenize.tokenize(prediction, None)


@settings(deadline=None, max_examples=20)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=9), st.integers(0, 9))
def test_the_same_intervals_as_rouge_score(pairs, seed):
    pytest.importorskip("rouge_score")
    from rouge_score import scoring as theirs

    results = []
    for module in (scoring, theirs):
        aggregator = module.BootstrapAggregator(n_samples=20)
        for first, second in pairs:
            aggregator.add_scores({name: module.Score(first, second, first) for name in ("x", "y")})
        numpy.random.seed(seed)
        found = aggregator.aggregate()
        results.append([value for name in found for end in found[name] for value in end])
    assert results[0] == results[1]
