"""`metric_suite.compat.sacrebleu`: golden rows, rows by hand, and the same as sacreBLEU where it is installed."""

import gzip
import itertools
import json
import logging
import subprocess
import sys

import pytest
from golden import rows
from hypothesis import given, settings
from hypothesis import strategies as st

import metric_suite
from metric_suite.compat import sacrebleu as ours
from metric_suite.compat.sacrebleu.metrics import helpers
from metric_suite.compat.sacrebleu.tokenizers import TOKENIZERS
from metric_suite.compat.sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer

# The last field of our signatures.
BY = f"by:metric-suite:{metric_suite.__version__}"


def sets(row):
    """The reference sets of a row, whose segments can have different numbers of references."""
    return [list(texts) for texts in itertools.zip_longest(*row["references"])]


def each(*files):
    """Rows as parameters, by their ids."""
    return pytest.mark.parametrize("row", [pytest.param(row, id=row["id"]) for file in files for row in rows(file)])


def check_score(metric, score, result):
    for name, expected in result.items():
        if name in ("text", "signature", "signature_short", "statistics"):
            continue
        if isinstance(metric, ours.TER) and isinstance(expected, float):
            # Mean lengths of references are added up exactly, then rounded once.
            expected = pytest.approx(expected, rel=1e-12)
        assert getattr(score, name) == expected, name
    assert str(score) == repr(score) == score.format() == result["text"]
    if "signature" in result:
        assert str(metric.get_signature()) == f"{result['signature']}|{BY}"
        assert metric.get_signature().format(short=True) == f"{result['signature_short']}|{BY}"


def check_row(kind, row):
    metric = kind(**row["options"])
    check_score(metric, metric.corpus_score(row["predictions"], sets(row)), row["result"])
    if row["level"] == "sentence":
        check_score(metric, metric.sentence_score(row["predictions"][0], row["references"][0]), row["result"])
    return kind(**row["options"])._extract_corpus_statistics(row["predictions"], sets(row))


@each("translation/bleu.jsonl")
def test_bleu(row):
    assert check_row(ours.BLEU, row) == row["segments"]


@each("translation/chrf.jsonl")
def test_chrf(row):
    statistics = check_row(ours.CHRF, row)
    assert statistics == row["segments"]
    assert [sum(column) for column in zip(*statistics)] == row["result"]["statistics"]


@each("translation/ter.jsonl")
def test_ter(row):
    statistics = check_row(ours.TER, row)
    assert statistics == [[edits, pytest.approx(sum(lengths) / len(lengths))] for edits, lengths in row["segments"]]


@each("translation/undefined.jsonl")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_undefined(row):
    metric = getattr(ours, row["metric"].upper())(**row["options"])
    hypotheses, streams = row["hypotheses"], row["reference_streams"]
    segments = list(zip(hypotheses, *streams)) if streams else []
    error = row["result"].get("error")
    if any(set(references) == {None} for _, *references in segments):
        # sacreBLEU raises errors of several types, or counts a reference of -1 tokens.
        with pytest.raises(ValueError, match=r"segment \d has no reference"):
            metric.corpus_score(hypotheses, streams)
    elif error == "IndexError" and segments:
        # Without orders the score is 0, but sacreBLEU fails if segments have different numbers of references.
        assert row["options"] == {"char_order": 0}
        assert metric.corpus_score(hypotheses, streams).score == 0
    elif error is not None:
        with pytest.raises(Exception) as raised:
            metric.corpus_score(hypotheses, streams)
        assert type(raised.value).__name__ == error
    else:
        check_score(metric, metric.corpus_score(hypotheses, streams), row["result"])


TER_OPTIONS = ("normalized", "no_punct", "asian_support", "case_sensitive")


@each("translation/tokenizers.jsonl")
def test_tokenizers(row):
    for rule, expected in row["tokens"].items():
        name, *flags = rule.split("-")
        if name in TOKENIZERS:
            text = row["text"].lower() if flags else row["text"]
            assert TOKENIZERS[name]()(text.rstrip()).split() == expected, rule
        elif name == "ter":
            tokenizer = TercomTokenizer(**{flag: True for flag in flags if flag in TER_OPTIONS})
            once = tokenizer(row["text"])
            assert (tokenizer(once) if "reference" in flags else once).split() == expected, rule


def run(argv, folder, stdin=None, environment=None):
    command = [sys.executable, "-m", "metric_suite.compat.sacrebleu", *argv]
    done = subprocess.run(command, cwd=folder, input=stdin, capture_output=True, env=environment)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@each("translation/cli.jsonl")
def test_command(row, tmp_path):
    for name, text in row["files"].items():
        (tmp_path / name).write_bytes(text.encode())
    stdin = row["files"][row["stdin"]].encode() if row["stdin"] else None
    status, out, err = run(row["argv"], tmp_path, stdin)
    assert status == row["exit"], err
    assert (err.splitlines() or [""])[-1] == row["stderr_last"]
    assert out == with_own_field(row["stdout"])


def with_own_field(text):
    """What sacreBLEU printed, with the last field of our signatures."""
    for version in ("|version:2.6.0", "|v:2.6.0"):
        text = text.replace(version, f"{version}|{BY}")
    key, _, value = BY.partition(":")
    return text.replace(' "version": "2.6.0"\n', f' "version": "2.6.0",\n "{key}": "{value}"\n')


@pytest.mark.parametrize(
    ("argv", "status", "message"),
    [
        (["-i", "one"], 1, "no references"),
        (["one", "-i", "none"], 1, "none"),
        (["one", "-i", "one", "one"], 1, "2 systems"),
        (["one", "one", "-nr", "2", "-i", "one"], 1, "single file"),
        (["one", "-nr", "2", "-i", "one"], 17, "line 1: expected 2 fields, but found 1."),
        (["one", "-i", "one", "-sl", "-m", "bleu", "ter"], 1, "single metric"),
        (["latin", "-i", "one"], 1, "latin: 'utf-8'"),
        (["empty", "-i", "empty"], 1, "no segments"),
        (["one", "-i", "one", "-tok", "spm"], 1, "tokenize='none'"),
        (["one", "-i", "one", "-tok", "14"], 2, "invalid choice: '14'"),
        (["one", "-i", "one", "-t", "wmt14"], 2, "-t is not offered: pass the references"),
        (["one", "-i", "one", "--paired-bs"], 2, "use `metric compare`"),
        (["one", "-i", "one", "-m", "meteor"], 2, "meteor"),
    ],
)
def test_errors_of_the_command(argv, status, message, tmp_path):
    for name, text in (("one", b"a b\n"), ("latin", b"\xe9\n"), ("empty", b"")):
        (tmp_path / name).write_bytes(text)
    found = run(argv, tmp_path)
    assert (found[0], found[1]) == (status, ""), found
    assert message in found[2].splitlines()[-1]
    assert "Traceback" not in found[2]


def test_options_of_the_command(tmp_path):
    (tmp_path / "h").write_text("a b c d e\nx\n")
    (tmp_path / "r.gz").write_bytes(gzip.compress(b"a b c d f\nx\n"))
    assert run(["r.gz", "-i", "h", "-b"], tmp_path)[1] == "67.6\n"
    assert run(["r.gz", "-i", "h", "-m", "ter", "bleu", "-b"], tmp_path)[1] == "[\n67.6,\n16.7\n]\n"
    assert run(["r.gz", "-b"], tmp_path, b"a b c d e\rx\r\n")[1] == "67.6\n"
    both = run(["r.gz", "-i", "h", "-m", "bleu", "ter"], tmp_path, environment={"SACREBLEU_FORMAT": "text"})[1]
    assert len({line.index(" = ") for line in both.splitlines()}) == 1
    assert "tok:zh" in run(["r.gz", "-i", "h", "-l", "en-zh"], tmp_path)[1]
    interval = json.loads(run(["r.gz", "-i", "h", "-ci"], tmp_path)[1])
    # As sacreBLEU 2.6.0 prints it. About a quarter of the samples have the second segment twice, and the score 0.
    assert (interval["bs"], interval["confidence"]) == ("1000", "μ = 50.2 ± 33.8")


def test_functions():
    hypotheses, references = ["the cat the cat on the mat"], [["the cat sat on the mat"]]
    score = ours.corpus_bleu(hypotheses, references)
    # The words, pairs and triples that are in the reference; half a match counts for no 4-gram.
    assert score.score == pytest.approx(100 * (5 / 7 * 3 / 6 * 1 / 5 * 0.5 / 4) ** 0.25, rel=1e-15)
    assert (score.counts, score.totals, score.prec_str) == ([5, 3, 1, 0], [7, 6, 5, 4], "71.4/50.0/20.0/12.5")
    assert ours.sentence_bleu("a b", ["a b"]).score == pytest.approx(100)
    assert ours.corpus_bleu(["a b"], [["a b"]]).score == 0
    assert ours.raw_corpus_bleu(["a. b"], [["a. b"]]).score == pytest.approx(100)
    assert ours.corpus_chrf(["abc"], [["abd"]]).score == 38.888888888888886
    assert ours.sentence_chrf("abc", ["abd"], eps_smoothing=True).score == 19.444444444444443
    assert ours.corpus_chrf(["a b"], [["ab"]]).score == 100
    assert ours.corpus_chrf(["a b"], [["ab"]], remove_whitespace=False).score < 100
    assert str(ours.sentence_chrf("a", ["a"], word_order=2, beta=0.5)) == "chrF0.5++ = 100.00"
    assert ours.sentence_ter("b a", ["a b"]).score == 50
    assert ours.sentence_ter("A.", ["a"], no_punct=True).score == 0
    assert ours.corpus_ter(["a b c d", "x y"], [["a c b d", "x z w"], ["a b d", "x y z"]]).ref_length == 6.5
    assert ours.__version__ == "2.6.0"
    assert ours.metrics.METRICS == {"BLEU": ours.BLEU, "CHRF": ours.CHRF, "TER": ours.TER}


def test_counts():
    assert ours.BLEU.compute_bleu([9, 7, 5, 3], [10, 8, 6, 4], 11, 11).score == pytest.approx(
        100 * (0.9 * 7 / 8 * 5 / 6 * 3 / 4) ** 0.25
    )
    # Orders above the first are increased, by an integer or by a float.
    for value, counts, totals in ((1, [1, 2], [2, 2]), (0.5, [1, 1.5], [2, 1.5])):
        score = ours.BLEU.compute_bleu(
            [1, 1], [2, 1], 2, 2, smooth_method="add-k", smooth_value=value, max_ngram_order=2
        )
        assert (score.counts, score.totals) == (counts, totals)
        assert [type(count) for count in score.counts] == [type(count) for count in counts]
    with pytest.raises(IndexError):
        ours.BLEU.compute_bleu([1], [1], 1, 1)
    with pytest.raises(AssertionError, match="unknown smooth_method 'sum': expected one of none, floor"):
        ours.BLEU(smooth_method="sum")
    with pytest.raises(ValueError, match="smooth_value -1"):
        ours.BLEU(smooth_method="floor", smooth_value=-1, max_ngram_order=2).corpus_score(["a b"], [["a c"]])
    assert ours.BLEU(max_ngram_order=0).corpus_score(["a"], [["a"]]).score == 0


def test_references_of_the_constructor():
    for kind in (ours.BLEU, ours.CHRF, ours.TER):
        metric = kind(references=[["a b c d", "b"], [None, "c"]])
        with pytest.raises(ValueError, match="compute a score"):
            metric.get_signature()
        expected = kind().corpus_score(["a b c d", "b"], [["a b c d", "b"], ["a b c d", "c"]]).score
        assert metric.corpus_score(["a b c d", "b"], None).score == expected
        assert metric.get_signature().info["nrefs"] == "var"
        with pytest.raises(RuntimeError, match="no references"):
            kind().corpus_score(["a"], None)


def test_signatures():
    metric = ours.TER()
    metric.corpus_score(["a"], [["a"]])
    signature = metric.get_signature()
    signature.update("test", "wmt14")
    expected = f"nrefs:1|test:wmt14|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:2.6.0|{BY}"
    assert str(signature) == expected
    assert metric.sentence_score("a", ["a"]).format(1, signature=expected) == f"TER|{expected} = 0.0"
    assert json.loads(metric.sentence_score("a", ["a"]).format(signature=expected, is_json=True))["test"] == "wmt14"


@pytest.mark.parametrize(
    ("hypotheses", "references"),
    [
        ("a b", [["a b"]]),
        (None, [["a"]]),
        ((text for text in "a"), [["a"]]),
        (["a"], "a"),
        (["a"], ["a"]),
        (["a", None], [["a", "b"]]),
        ([1], [["a"]]),
        (["a"], [[1]]),
        (["a"], [None]),
    ],
)
def test_wrong_types(hypotheses, references):
    with pytest.raises(TypeError, match="expected"):
        ours.corpus_bleu(hypotheses, references)


def test_half_of_a_surrogate_pair():
    with pytest.raises(UnicodeEncodeError, match="surrogates not allowed"):
        ours.corpus_bleu(["\ud83d"], [["a"]])


def test_wrong_types_of_sentences():
    for references in ("a", None):
        with pytest.raises(TypeError, match="expected a list of strings"):
            ours.sentence_chrf("a", references)
    with pytest.raises(TypeError, match="the hypothesis has the type list"):
        ours.sentence_ter(["a"], ["a"])
    with pytest.raises(IndexError):
        ours.sentence_bleu("a", [])
    with pytest.raises(ValueError, match="segment 0 has no reference"):
        ours.sentence_bleu("a", [None])
    assert ours.sentence_chrf("ab", [None, "ab"]).score == 100


def test_lists_of_different_lengths():
    message = "3 hypotheses, and reference sets with 2 references: only the first 2"
    with pytest.warns(UserWarning, match=message) as found:
        assert ours.corpus_chrf(["a", "b", "c"], [["a", "b"]]).score == 100
    assert len(found) == 1 and found[0].filename == __file__
    with pytest.warns(UserWarning) as found:
        ours.CHRF().corpus_score(["a"], [["a", "b"]])
    assert len(found) == 1 and found[0].filename == __file__


def test_tokenizers_by_name():
    assert list(ours.BLEU.TOKENIZERS) == ["none", "zh", "13a", "intl", "char"]
    assert ours.BLEU(trg_lang="zh").tokenizer_signature == "zh"
    assert ours.BLEU().tokenizer("a,b") == "a , b"
    assert ours.TER(normalized=True).tokenizer("a,b") == "a , b"
    with pytest.raises(AttributeError):
        ours.BLEU().tokenizer = str.split
    for options in ({"tokenize": "flores200"}, {"trg_lang": "ja"}):
        with pytest.raises(RuntimeError, match="tokenize='none'"):
            ours.BLEU(**options)
    with pytest.raises(ValueError, match="unknown tokenizer 'v13'"):
        ours.BLEU(tokenize="v13")


def test_logged_warnings(caplog):
    caplog.set_level(logging.WARNING, "sacrebleu")
    ours.corpus_bleu(["a ."] * 99, [["a ."] * 99])
    ours.corpus_bleu(["a ."] * 100, [["a ."] * 100], force=True)
    ours.sentence_bleu("a", ["a"])
    ours.BLEU(tokenize="13a", trg_lang="en")
    assert not caplog.messages
    ours.corpus_bleu(["a ."] * 100, [["a ."] * 100])
    ours.BLEU().sentence_score("a", ["a"])
    ours.BLEU(tokenize="13a", trg_lang="zh")
    assert [message.split()[0] for message in caplog.messages] == ["100", "without", "the"]


def test_n_grams():
    assert helpers.extract_all_word_ngrams("a  b a", 1, 2) == ({("a",): 2, ("b",): 1, ("a", "b"): 1, ("b", "a"): 1}, 3)
    assert helpers.extract_all_char_ngrams("ab a", 2) == [{"a": 2, "b": 1}, {"ab": 1, "ba": 1}]
    assert ours.extract_char_ngrams("ab a", 2, include_whitespace=True) == {"ab": 1, "b ": 1, " a": 1}
    assert ours.extract_word_ngrams(["a"], 2) == {}


TEXTS = st.text(st.sampled_from("ab c.,5-'sAß中。\t\n&lt;"), max_size=24)
CORPORA = st.integers(1, 3).flatmap(
    lambda sets: st.lists(st.tuples(*[TEXTS] * (sets + 1)), min_size=1, max_size=5).map(lambda rows: list(zip(*rows)))
)
FLAGS = st.booleans()
OPTIONS = {
    "BLEU": st.fixed_dictionaries(
        {
            "lowercase": FLAGS,
            "tokenize": st.sampled_from(list(TOKENIZERS)),
            "smooth_method": st.sampled_from(["exp", "floor", "add-k", "none"]),
            "smooth_value": st.sampled_from([None, 1, 0.25]),
            "max_ngram_order": st.integers(1, 6),
            "effective_order": FLAGS,
        }
    ),
    "CHRF": st.fixed_dictionaries(
        {
            "char_order": st.integers(1, 7),
            "word_order": st.integers(0, 2),
            "beta": st.sampled_from([1, 2, 0.5]),
            "lowercase": FLAGS,
            "whitespace": FLAGS,
            "eps_smoothing": FLAGS,
        }
    ),
    "TER": st.fixed_dictionaries({name: FLAGS for name in TER_OPTIONS}),
}


@settings(deadline=None)
@given(st.data(), st.sampled_from(list(OPTIONS)), CORPORA)
def test_the_same_as_sacrebleu(data, name, corpus):
    theirs = pytest.importorskip("sacrebleu")
    options = data.draw(OPTIONS[name])
    hypotheses, *references = [list(texts) for texts in corpus]
    mine, other = getattr(ours, name)(**options), getattr(theirs, name)(**options)
    for samples in (1, 20):
        found = mine.corpus_score(hypotheses, references, samples)
        try:
            expected = other.corpus_score(hypotheses, references, samples)
        except TypeError:
            # sacreBLEU cannot take the mean of scores of 64 and of 32 bits, which it has if some are 0.
            assert samples > 1
            continue
        for attribute, value in vars(expected).items():
            if attribute in ("_mean", "_ci"):
                # sacreBLEU adds up the statistics of resampled corpora in 32 bits.
                assert vars(found)[attribute] == pytest.approx(float(value), rel=1e-4, abs=1e-4)
            elif name == "TER" and isinstance(value, float):
                assert vars(found)[attribute] == pytest.approx(value, rel=1e-12)
            else:
                assert vars(found)[attribute] == value, attribute
        assert str(mine.get_signature()) == f"{other.get_signature()}|{BY}"
    rows = other._extract_corpus_statistics(hypotheses, references)
    assert mine._extract_corpus_statistics(hypotheses, references) == [list(map(float, row)) for row in rows]
    if name != "CHRF":
        assert all(mine.tokenizer(text) == other.tokenizer(text) for text in hypotheses)


def test_test_sets() -> None:
    assert ours.get_langpairs_for_testset("wmt19/google/ar") == ["en-de"]
    assert ours.get_langpairs_for_testset("wmt05") == []
    assert "wmt09" in ours.get_available_testsets_for_langpair("it-en")
    assert ours.get_available_testsets()[0] > ours.get_available_testsets()[-1]
    with pytest.raises(NotImplementedError, match="sacrebleu -t wmt19 -l de-en --echo ref"):
        ours.get_reference_files("wmt19", "de-en")
    with pytest.raises(ValueError, match="wmt05"):
        ours.get_source_file("wmt05", "de-en")
