"""The types of the function and the class of each metric. Written by ``generate.py`` from the list of metrics."""

# fmt: off
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Literal

from ._metric import Metric
from ._result import CocoResult, Result

def wer(
    *,
    predictions: Any,
    references: Any,
    ids: Any = None,
    fields: Any = None,
    profile: Literal['jiwer', 'torchmetrics', 'huggingface', 'wenet'] = 'jiwer',
    unit: Literal['word', 'mixed'] | None = None,
    case_sensitive: bool = False,
    extract: str | None = None,
    normalize: Sequence[str] | str | None = None,
    max_cells: int = 100000000000,
    samples: bool = False,
    details: bool = False,
    missing: Literal['error', 'empty', 'skip'] | None = None,
    null: Literal['error', 'empty', 'skip'] | None = None,
    as_text: bool = False,
    extra: Literal['error', 'ignore'] | None = None,
    where: str | Sequence[str] | None = None,
    threads: int | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    cluster_field: str | None = None,
    slice_field: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    sort: str | None = None,
) -> Result:
    """Word error rate, match error rate, word information lost and preserved.

    Args:
        predictions: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a string.
        references: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a string.
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices: a mapping, or a data frame.
        profile: Package whose conventions to follow for white space and for empty references.
        unit: Unit to compare: a word, or mixed, which also has each character of scripts without spaces and
            each punctuation character and symbol as a unit [default: word].
        case_sensitive: With the profile wenet: units in upper and lower case differ.
        extract: Score only a part of the prediction: the first group of the first match of REGEX, with fence
            the first fenced block (```), or with last-number the last number, without commas.
        normalize: Steps that normalize both texts, in the order given: a comma-separated list of nfc, nfd,
            nfkc, nfkd, casefold, lower, strip, collapse, whitespace, punctuation, ascii-punctuation, digits,
            ascii-digits, remove-spaces, han-spaces, last-number, whisper-basic, whisper-basic-split, whisper-
            basic-nodiacritics, whisper-basic-nodiacritics-split, whisper-english, open-asr-english, open-asr-
            multilingual, remove(REGEX), replace(REGEX, TEXT), remove-words(WORD ...), replace-words(WORD=TEXT
            ...).
        max_cells: Refuse records whose alignment takes more table cells than this. The default is about 5 s of
            work, where slow cells count several times.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.

    Returns:
        The scores ``wer`` (lower is better); ``mer`` (lower is better); ``wil`` (lower is better); ``wip``
        (higher is better); ``wer_mean`` (lower is better).

    Raises:
        MetricError: An option or a value is wrong.

    >>> import metric_suite
    >>> metric_suite.wer(predictions=["the cat", "a dog"], references=["the cat sat", "a dog"])["wer"]
    0.2
    """

class WER(Metric):
    """Word error rate, match error rate, word information lost and preserved, in batches.

    Args:
        profile: Package whose conventions to follow for white space and for empty references.
        unit: Unit to compare: a word, or mixed, which also has each character of scripts without spaces and
            each punctuation character and symbol as a unit [default: word].
        case_sensitive: With the profile wenet: units in upper and lower case differ.
        extract: Score only a part of the prediction: the first group of the first match of REGEX, with fence
            the first fenced block (```), or with last-number the last number, without commas.
        normalize: Steps that normalize both texts, in the order given: a comma-separated list of nfc, nfd,
            nfkc, nfkd, casefold, lower, strip, collapse, whitespace, punctuation, ascii-punctuation, digits,
            ascii-digits, remove-spaces, han-spaces, last-number, whisper-basic, whisper-basic-split, whisper-
            basic-nodiacritics, whisper-basic-nodiacritics-split, whisper-english, open-asr-english, open-asr-
            multilingual, remove(REGEX), replace(REGEX, TEXT), remove-words(WORD ...), replace-words(WORD=TEXT
            ...).
        max_cells: Refuse records whose alignment takes more table cells than this. The default is about 5 s of
            work, where slow cells count several times.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.
    """
    def __init__(
        self,
        *,
        profile: Literal['jiwer', 'torchmetrics', 'huggingface', 'wenet'] = 'jiwer',
        unit: Literal['word', 'mixed'] | None = None,
        case_sensitive: bool = False,
        extract: str | None = None,
        normalize: Sequence[str] | str | None = None,
        max_cells: int = 100000000000,
        samples: bool = False,
        details: bool = False,
        missing: Literal['error', 'empty', 'skip'] | None = None,
        null: Literal['error', 'empty', 'skip'] | None = None,
        as_text: bool = False,
        extra: Literal['error', 'ignore'] | None = None,
        where: str | Sequence[str] | None = None,
        threads: int | None = None,
        confidence: float | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        cluster_field: str | None = None,
        slice_field: str | Sequence[str] | None = None,
        scores: str | Sequence[str] | None = None,
        sort: str | None = None,
    ) -> None: ...

def cer(
    *,
    predictions: Any,
    references: Any,
    ids: Any = None,
    fields: Any = None,
    profile: Literal['jiwer', 'torchmetrics', 'huggingface', 'wenet'] = 'jiwer',
    unit: Literal['codepoint', 'grapheme'] | None = None,
    case_sensitive: bool = False,
    extract: str | None = None,
    normalize: Sequence[str] | str | None = None,
    max_cells: int = 100000000000,
    samples: bool = False,
    details: bool = False,
    missing: Literal['error', 'empty', 'skip'] | None = None,
    null: Literal['error', 'empty', 'skip'] | None = None,
    as_text: bool = False,
    extra: Literal['error', 'ignore'] | None = None,
    where: str | Sequence[str] | None = None,
    threads: int | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    cluster_field: str | None = None,
    slice_field: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    sort: str | None = None,
) -> Result:
    """Character error rate, and the other rates of wer, counted in characters.

    Args:
        predictions: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a string.
        references: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a string.
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices: a mapping, or a data frame.
        profile: Package whose conventions to follow for white space and for empty references.
        unit: Unit to compare: a Unicode code point, or a grapheme, which readers see as one character [default:
            codepoint].
        case_sensitive: With the profile wenet: units in upper and lower case differ.
        extract: Score only a part of the prediction: the first group of the first match of REGEX, with fence
            the first fenced block (```), or with last-number the last number, without commas.
        normalize: Steps that normalize both texts, in the order given: a comma-separated list of nfc, nfd,
            nfkc, nfkd, casefold, lower, strip, collapse, whitespace, punctuation, ascii-punctuation, digits,
            ascii-digits, remove-spaces, han-spaces, last-number, whisper-basic, whisper-basic-split, whisper-
            basic-nodiacritics, whisper-basic-nodiacritics-split, whisper-english, open-asr-english, open-asr-
            multilingual, remove(REGEX), replace(REGEX, TEXT), remove-words(WORD ...), replace-words(WORD=TEXT
            ...).
        max_cells: Refuse records whose alignment takes more table cells than this. The default is about 5 s of
            work, where slow cells count several times.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.

    Returns:
        The scores ``cer`` (lower is better); ``mer`` (lower is better); ``wil`` (lower is better); ``wip``
        (higher is better); ``cer_mean`` (lower is better).

    Raises:
        MetricError: An option or a value is wrong.

    >>> import metric_suite
    >>> metric_suite.cer(predictions=["abc"], references=["abcd"])["cer"]
    0.25
    """

class CER(Metric):
    """Character error rate, and the other rates of wer, counted in characters, in batches.

    Args:
        profile: Package whose conventions to follow for white space and for empty references.
        unit: Unit to compare: a Unicode code point, or a grapheme, which readers see as one character [default:
            codepoint].
        case_sensitive: With the profile wenet: units in upper and lower case differ.
        extract: Score only a part of the prediction: the first group of the first match of REGEX, with fence
            the first fenced block (```), or with last-number the last number, without commas.
        normalize: Steps that normalize both texts, in the order given: a comma-separated list of nfc, nfd,
            nfkc, nfkd, casefold, lower, strip, collapse, whitespace, punctuation, ascii-punctuation, digits,
            ascii-digits, remove-spaces, han-spaces, last-number, whisper-basic, whisper-basic-split, whisper-
            basic-nodiacritics, whisper-basic-nodiacritics-split, whisper-english, open-asr-english, open-asr-
            multilingual, remove(REGEX), replace(REGEX, TEXT), remove-words(WORD ...), replace-words(WORD=TEXT
            ...).
        max_cells: Refuse records whose alignment takes more table cells than this. The default is about 5 s of
            work, where slow cells count several times.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.
    """
    def __init__(
        self,
        *,
        profile: Literal['jiwer', 'torchmetrics', 'huggingface', 'wenet'] = 'jiwer',
        unit: Literal['codepoint', 'grapheme'] | None = None,
        case_sensitive: bool = False,
        extract: str | None = None,
        normalize: Sequence[str] | str | None = None,
        max_cells: int = 100000000000,
        samples: bool = False,
        details: bool = False,
        missing: Literal['error', 'empty', 'skip'] | None = None,
        null: Literal['error', 'empty', 'skip'] | None = None,
        as_text: bool = False,
        extra: Literal['error', 'ignore'] | None = None,
        where: str | Sequence[str] | None = None,
        threads: int | None = None,
        confidence: float | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        cluster_field: str | None = None,
        slice_field: str | Sequence[str] | None = None,
        scores: str | Sequence[str] | None = None,
        sort: str | None = None,
    ) -> None: ...

def string_accuracy(
    *,
    predictions: Any,
    references: Any,
    ids: Any = None,
    fields: Any = None,
    extract: str | None = None,
    normalize: Sequence[str] | str | None = None,
    samples: bool = False,
    details: bool = False,
    missing: Literal['error', 'empty', 'skip'] | None = None,
    null: Literal['error', 'empty', 'skip'] | None = None,
    as_text: bool = False,
    extra: Literal['error', 'ignore'] | None = None,
    where: str | Sequence[str] | None = None,
    threads: int | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    cluster_field: str | None = None,
    slice_field: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    sort: str | None = None,
) -> Result:
    """Share of texts that equal their reference.

    Args:
        predictions: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a string.
        references: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a string, or `references`: a list of strings.
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices: a mapping, or a data frame.
        extract: Score only a part of the prediction: the first group of the first match of REGEX, with fence
            the first fenced block (```), or with last-number the last number, without commas.
        normalize: Steps that normalize both texts, in the order given: a comma-separated list of nfc, nfd,
            nfkc, nfkd, casefold, lower, strip, collapse, whitespace, punctuation, ascii-punctuation, digits,
            ascii-digits, remove-spaces, han-spaces, last-number, whisper-basic, whisper-basic-split, whisper-
            basic-nodiacritics, whisper-basic-nodiacritics-split, whisper-english, open-asr-english, open-asr-
            multilingual, remove(REGEX), replace(REGEX, TEXT), remove-words(WORD ...), replace-words(WORD=TEXT
            ...).
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.

    Returns:
        The scores ``string_accuracy`` (higher is better).

    Raises:
        MetricError: An option or a value is wrong.

    >>> import metric_suite
    >>> metric_suite.string_accuracy(predictions=["the cat", "a dog"], references=["the cat sat", "a dog"])["string_accuracy"]
    0.5
    """

class StringAccuracy(Metric):
    """Share of texts that equal their reference, in batches.

    Args:
        extract: Score only a part of the prediction: the first group of the first match of REGEX, with fence
            the first fenced block (```), or with last-number the last number, without commas.
        normalize: Steps that normalize both texts, in the order given: a comma-separated list of nfc, nfd,
            nfkc, nfkd, casefold, lower, strip, collapse, whitespace, punctuation, ascii-punctuation, digits,
            ascii-digits, remove-spaces, han-spaces, last-number, whisper-basic, whisper-basic-split, whisper-
            basic-nodiacritics, whisper-basic-nodiacritics-split, whisper-english, open-asr-english, open-asr-
            multilingual, remove(REGEX), replace(REGEX, TEXT), remove-words(WORD ...), replace-words(WORD=TEXT
            ...).
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.
    """
    def __init__(
        self,
        *,
        extract: str | None = None,
        normalize: Sequence[str] | str | None = None,
        samples: bool = False,
        details: bool = False,
        missing: Literal['error', 'empty', 'skip'] | None = None,
        null: Literal['error', 'empty', 'skip'] | None = None,
        as_text: bool = False,
        extra: Literal['error', 'ignore'] | None = None,
        where: str | Sequence[str] | None = None,
        threads: int | None = None,
        confidence: float | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        cluster_field: str | None = None,
        slice_field: str | Sequence[str] | None = None,
        scores: str | Sequence[str] | None = None,
        sort: str | None = None,
    ) -> None: ...

def exact_match(
    *,
    predictions: Any,
    references: Any,
    ids: Any = None,
    fields: Any = None,
    extract: str | None = None,
    normalize: Sequence[str] | str | None = None,
    regexes_to_ignore: Sequence[str] | str | None = None,
    ignore_case: bool = False,
    ignore_punctuation: bool = False,
    ignore_numbers: bool = False,
    votes: str | None = None,
    vote_ties: Literal['first', 'expected', 'strict'] | None = None,
    samples: bool = False,
    details: bool = False,
    missing: Literal['error', 'empty', 'skip'] | None = None,
    null: Literal['error', 'empty', 'skip'] | None = None,
    as_text: bool = False,
    extra: Literal['error', 'ignore'] | None = None,
    where: str | Sequence[str] | None = None,
    threads: int | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    cluster_field: str | None = None,
    slice_field: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    sort: str | None = None,
) -> Result:
    """Share of texts that equal their reference, with the options of Hugging Face's exact_match.

    Args:
        predictions: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a string; with votes, a list of strings.
        references: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a string, or `references`: a list of strings.
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices: a mapping, or a data frame.
        extract: Score only a part of the prediction: the first group of the first match of REGEX, with fence
            the first fenced block (```), or with last-number the last number, without commas.
        normalize: Steps that normalize both texts, in the order given: a comma-separated list of nfc, nfd,
            nfkc, nfkd, casefold, lower, strip, collapse, whitespace, punctuation, ascii-punctuation, digits,
            ascii-digits, remove-spaces, han-spaces, last-number, whisper-basic, whisper-basic-split, whisper-
            basic-nodiacritics, whisper-basic-nodiacritics-split, whisper-english, open-asr-english, open-asr-
            multilingual, remove(REGEX), replace(REGEX, TEXT), remove-words(WORD ...), replace-words(WORD=TEXT
            ...).
        regexes_to_ignore: Patterns to delete first: a regular expression, or a JSON list of them.
        ignore_case: Lowercase both texts.
        ignore_punctuation: Delete ASCII punctuation.
        ignore_numbers: Delete the digits 0 to 9.
        votes: Predictions are lists of answers: score the most frequent one of the first N, or of all.
        vote_ties: With votes: rule for several most frequent answers [default: first].
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.

    Returns:
        The scores ``exact_match`` (higher is better).

    Raises:
        MetricError: An option or a value is wrong.

    >>> import metric_suite
    >>> metric_suite.exact_match(predictions=["the cat", "a dog"], references=["the cat sat", "a dog"])["exact_match"]
    0.5
    """

class ExactMatch(Metric):
    """Share of texts that equal their reference, with the options of Hugging Face's exact_match, in batches.

    Args:
        extract: Score only a part of the prediction: the first group of the first match of REGEX, with fence
            the first fenced block (```), or with last-number the last number, without commas.
        normalize: Steps that normalize both texts, in the order given: a comma-separated list of nfc, nfd,
            nfkc, nfkd, casefold, lower, strip, collapse, whitespace, punctuation, ascii-punctuation, digits,
            ascii-digits, remove-spaces, han-spaces, last-number, whisper-basic, whisper-basic-split, whisper-
            basic-nodiacritics, whisper-basic-nodiacritics-split, whisper-english, open-asr-english, open-asr-
            multilingual, remove(REGEX), replace(REGEX, TEXT), remove-words(WORD ...), replace-words(WORD=TEXT
            ...).
        regexes_to_ignore: Patterns to delete first: a regular expression, or a JSON list of them.
        ignore_case: Lowercase both texts.
        ignore_punctuation: Delete ASCII punctuation.
        ignore_numbers: Delete the digits 0 to 9.
        votes: Predictions are lists of answers: score the most frequent one of the first N, or of all.
        vote_ties: With votes: rule for several most frequent answers [default: first].
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.
    """
    def __init__(
        self,
        *,
        extract: str | None = None,
        normalize: Sequence[str] | str | None = None,
        regexes_to_ignore: Sequence[str] | str | None = None,
        ignore_case: bool = False,
        ignore_punctuation: bool = False,
        ignore_numbers: bool = False,
        votes: str | None = None,
        vote_ties: Literal['first', 'expected', 'strict'] | None = None,
        samples: bool = False,
        details: bool = False,
        missing: Literal['error', 'empty', 'skip'] | None = None,
        null: Literal['error', 'empty', 'skip'] | None = None,
        as_text: bool = False,
        extra: Literal['error', 'ignore'] | None = None,
        where: str | Sequence[str] | None = None,
        threads: int | None = None,
        confidence: float | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        cluster_field: str | None = None,
        slice_field: str | Sequence[str] | None = None,
        scores: str | Sequence[str] | None = None,
        sort: str | None = None,
    ) -> None: ...

def squad(
    *,
    predictions: Any,
    references: Any,
    ids: Any = None,
    fields: Any = None,
    extract: str | None = None,
    normalize: Sequence[str] | str | None = None,
    profile: Literal['v1.1', 'v2', 'mlqa', 'cmrc'] = 'v1.1',
    language: Literal['en', 'es', 'hi', 'vi', 'de', 'ar', 'zh'] | None = None,
    na_prob_file: str | PathLike[str] | None = None,
    na_prob_thresh: float | None = None,
    samples: bool = False,
    details: bool = False,
    missing: Literal['error', 'empty', 'skip'] | None = None,
    null: Literal['error', 'empty', 'skip'] | None = None,
    as_text: bool = False,
    extra: Literal['error', 'ignore'] | None = None,
    where: str | Sequence[str] | None = None,
    threads: int | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    cluster_field: str | None = None,
    slice_field: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    sort: str | None = None,
) -> Result:
    """Exact match and F1 of answers extracted from a text, as in SQuAD.

    Args:
        predictions: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file, or a data set; each value is a string, or with a data file SQuAD's
            predictions file, an object that maps ids to texts. With a threshold and no file of probabilities
            {"prediction_text": ..., "no_answer_probability": ...}.
        references: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file, or a data set; each value is an answer, a list of answers, {"text": a list
            of answers}, or SQuAD's data file (.json). Under v2, an empty list means that there is no answer.
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices: a mapping, or a data frame.
        extract: Score only a part of the prediction: the first group of the first match of REGEX, with fence
            the first fenced block (```), or with last-number the last number, without commas.
        normalize: Steps that normalize both texts, in the order given: a comma-separated list of nfc, nfd,
            nfkc, nfkd, casefold, lower, strip, collapse, whitespace, punctuation, ascii-punctuation, digits,
            ascii-digits, remove-spaces, han-spaces, last-number, whisper-basic, whisper-basic-split, whisper-
            basic-nodiacritics, whisper-basic-nodiacritics-split, whisper-english, open-asr-english, open-asr-
            multilingual, remove(REGEX), replace(REGEX, TEXT), remove-words(WORD ...), replace-words(WORD=TEXT
            ...).
        profile: Version of SQuAD, or the data set whose program to follow. Under v2, a question may have no
            answer.
        language: With the profile mlqa, which needs it: language of the answers.
        na_prob_file: With profile v2 and a data file: probability of each question, by id, that it has no
            answer (.json).
        na_prob_thresh: Questions whose probability of having no answer is above T count as unanswered [default:
            1].
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.

    Returns:
        The scores ``exact_match`` (higher is better); ``f1`` (higher is better).

    Raises:
        MetricError: An option or a value is wrong.

    >>> import metric_suite
    >>> metric_suite.squad(predictions=["the cat"], references=[["a cat", "a dog"]])["f1"]
    1.0
    """

class SQuAD(Metric):
    """Exact match and F1 of answers extracted from a text, as in SQuAD, in batches.

    Args:
        extract: Score only a part of the prediction: the first group of the first match of REGEX, with fence
            the first fenced block (```), or with last-number the last number, without commas.
        normalize: Steps that normalize both texts, in the order given: a comma-separated list of nfc, nfd,
            nfkc, nfkd, casefold, lower, strip, collapse, whitespace, punctuation, ascii-punctuation, digits,
            ascii-digits, remove-spaces, han-spaces, last-number, whisper-basic, whisper-basic-split, whisper-
            basic-nodiacritics, whisper-basic-nodiacritics-split, whisper-english, open-asr-english, open-asr-
            multilingual, remove(REGEX), replace(REGEX, TEXT), remove-words(WORD ...), replace-words(WORD=TEXT
            ...).
        profile: Version of SQuAD, or the data set whose program to follow. Under v2, a question may have no
            answer.
        language: With the profile mlqa, which needs it: language of the answers.
        na_prob_file: With profile v2 and a data file: probability of each question, by id, that it has no
            answer (.json).
        na_prob_thresh: Questions whose probability of having no answer is above T count as unanswered [default:
            1].
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.
    """
    def __init__(
        self,
        *,
        extract: str | None = None,
        normalize: Sequence[str] | str | None = None,
        profile: Literal['v1.1', 'v2', 'mlqa', 'cmrc'] = 'v1.1',
        language: Literal['en', 'es', 'hi', 'vi', 'de', 'ar', 'zh'] | None = None,
        na_prob_file: str | PathLike[str] | None = None,
        na_prob_thresh: float | None = None,
        samples: bool = False,
        details: bool = False,
        missing: Literal['error', 'empty', 'skip'] | None = None,
        null: Literal['error', 'empty', 'skip'] | None = None,
        as_text: bool = False,
        extra: Literal['error', 'ignore'] | None = None,
        where: str | Sequence[str] | None = None,
        threads: int | None = None,
        confidence: float | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        cluster_field: str | None = None,
        slice_field: str | Sequence[str] | None = None,
        scores: str | Sequence[str] | None = None,
        sort: str | None = None,
    ) -> None: ...

def vqa(
    *,
    predictions: Any,
    references: Any,
    ids: Any = None,
    fields: Any = None,
    extract: str | None = None,
    normalize: Sequence[str] | str | None = None,
    profile: Literal['exact', 'fusion-brain-2021', 'vqa-v2', 'vqa-v2-always-normalise'] = 'exact',
    questions: str | PathLike[str] | None = None,
    samples: bool = False,
    details: bool = False,
    missing: Literal['error', 'empty', 'skip'] | None = None,
    null: Literal['error', 'empty', 'skip'] | None = None,
    as_text: bool = False,
    extra: Literal['error', 'ignore'] | None = None,
    where: str | Sequence[str] | None = None,
    threads: int | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    cluster_field: str | None = None,
    slice_field: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    sort: str | None = None,
) -> Result:
    """Accuracy of answers to questions about images.

    Args:
        predictions: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file, or a data set; each value is a string; with an annotation file, VQA v2's
            results file: a list of {"question_id": ..., "answer": ...}.
        references: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file, or a data set; each value is an answer or a list of answers, or {"answer":
            ..., "lang": "en"}, with `lang`, `question_type` and `answer_type` next to it where given; or VQA
            v2's annotation file (.json).
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices: a mapping, or a data frame.
        extract: Score only a part of the prediction: the first group of the first match of REGEX, with fence
            the first fenced block (```), or with last-number the last number, without commas.
        normalize: Steps that normalize both texts, in the order given: a comma-separated list of nfc, nfd,
            nfkc, nfkd, casefold, lower, strip, collapse, whitespace, punctuation, ascii-punctuation, digits,
            ascii-digits, remove-spaces, han-spaces, last-number, whisper-basic, whisper-basic-split, whisper-
            basic-nodiacritics, whisper-basic-nodiacritics-split, whisper-english, open-asr-english, open-asr-
            multilingual, remove(REGEX), replace(REGEX, TEXT), remove-words(WORD ...), replace-words(WORD=TEXT
            ...).
        profile: Convention to follow.
        questions: VQA v2's question file, which must have the questions of the annotation file.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.

    Returns:
        The scores ``accuracy`` (higher is better).

    Raises:
        MetricError: An option or a value is wrong.

    >>> import metric_suite
    >>> metric_suite.vqa(predictions=["yes"], references=[["yes"] * 10])["accuracy"]
    1.0
    """

class VQA(Metric):
    """Accuracy of answers to questions about images, in batches.

    Args:
        extract: Score only a part of the prediction: the first group of the first match of REGEX, with fence
            the first fenced block (```), or with last-number the last number, without commas.
        normalize: Steps that normalize both texts, in the order given: a comma-separated list of nfc, nfd,
            nfkc, nfkd, casefold, lower, strip, collapse, whitespace, punctuation, ascii-punctuation, digits,
            ascii-digits, remove-spaces, han-spaces, last-number, whisper-basic, whisper-basic-split, whisper-
            basic-nodiacritics, whisper-basic-nodiacritics-split, whisper-english, open-asr-english, open-asr-
            multilingual, remove(REGEX), replace(REGEX, TEXT), remove-words(WORD ...), replace-words(WORD=TEXT
            ...).
        profile: Convention to follow.
        questions: VQA v2's question file, which must have the questions of the annotation file.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.
    """
    def __init__(
        self,
        *,
        extract: str | None = None,
        normalize: Sequence[str] | str | None = None,
        profile: Literal['exact', 'fusion-brain-2021', 'vqa-v2', 'vqa-v2-always-normalise'] = 'exact',
        questions: str | PathLike[str] | None = None,
        samples: bool = False,
        details: bool = False,
        missing: Literal['error', 'empty', 'skip'] | None = None,
        null: Literal['error', 'empty', 'skip'] | None = None,
        as_text: bool = False,
        extra: Literal['error', 'ignore'] | None = None,
        where: str | Sequence[str] | None = None,
        threads: int | None = None,
        confidence: float | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        cluster_field: str | None = None,
        slice_field: str | Sequence[str] | None = None,
        scores: str | Sequence[str] | None = None,
        sort: str | None = None,
    ) -> None: ...

def anls(
    *,
    predictions: Any,
    references: Any,
    ids: Any = None,
    fields: Any = None,
    extract: str | None = None,
    normalize: Sequence[str] | str | None = None,
    profile: Literal['paper', 'rrc'] = 'paper',
    max_cells: int = 100000000000,
    samples: bool = False,
    details: bool = False,
    missing: Literal['error', 'empty', 'skip'] | None = None,
    null: Literal['error', 'empty', 'skip'] | None = None,
    as_text: bool = False,
    extra: Literal['error', 'ignore'] | None = None,
    where: str | Sequence[str] | None = None,
    threads: int | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    cluster_field: str | None = None,
    slice_field: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    sort: str | None = None,
) -> Result:
    """Average Normalized Levenshtein Similarity of answers read from documents.

    Args:
        predictions: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a string.
        references: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is an answer or a list of answers.
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices: a mapping, or a data frame.
        extract: Score only a part of the prediction: the first group of the first match of REGEX, with fence
            the first fenced block (```), or with last-number the last number, without commas.
        normalize: Steps that normalize both texts, in the order given: a comma-separated list of nfc, nfd,
            nfkc, nfkd, casefold, lower, strip, collapse, whitespace, punctuation, ascii-punctuation, digits,
            ascii-digits, remove-spaces, han-spaces, last-number, whisper-basic, whisper-basic-split, whisper-
            basic-nodiacritics, whisper-basic-nodiacritics-split, whisper-english, open-asr-english, open-asr-
            multilingual, remove(REGEX), replace(REGEX, TEXT), remove-words(WORD ...), replace-words(WORD=TEXT
            ...).
        profile: Score of a similarity of 0.5: 0 as in the paper, or 0.5 as in the program of the Robust Reading
            Competition.
        max_cells: Refuse records whose alignment takes more table cells than this. The default is about 5 s of
            work, where slow cells count several times.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.

    Returns:
        The scores ``anls`` (higher is better).

    Raises:
        MetricError: An option or a value is wrong.

    >>> import metric_suite
    >>> metric_suite.anls(predictions=["abcd"], references=[["abcx", "z"]])["anls"]
    0.75
    """

class ANLS(Metric):
    """Average Normalized Levenshtein Similarity of answers read from documents, in batches.

    Args:
        extract: Score only a part of the prediction: the first group of the first match of REGEX, with fence
            the first fenced block (```), or with last-number the last number, without commas.
        normalize: Steps that normalize both texts, in the order given: a comma-separated list of nfc, nfd,
            nfkc, nfkd, casefold, lower, strip, collapse, whitespace, punctuation, ascii-punctuation, digits,
            ascii-digits, remove-spaces, han-spaces, last-number, whisper-basic, whisper-basic-split, whisper-
            basic-nodiacritics, whisper-basic-nodiacritics-split, whisper-english, open-asr-english, open-asr-
            multilingual, remove(REGEX), replace(REGEX, TEXT), remove-words(WORD ...), replace-words(WORD=TEXT
            ...).
        profile: Score of a similarity of 0.5: 0 as in the paper, or 0.5 as in the program of the Robust Reading
            Competition.
        max_cells: Refuse records whose alignment takes more table cells than this. The default is about 5 s of
            work, where slow cells count several times.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.
    """
    def __init__(
        self,
        *,
        extract: str | None = None,
        normalize: Sequence[str] | str | None = None,
        profile: Literal['paper', 'rrc'] = 'paper',
        max_cells: int = 100000000000,
        samples: bool = False,
        details: bool = False,
        missing: Literal['error', 'empty', 'skip'] | None = None,
        null: Literal['error', 'empty', 'skip'] | None = None,
        as_text: bool = False,
        extra: Literal['error', 'ignore'] | None = None,
        where: str | Sequence[str] | None = None,
        threads: int | None = None,
        confidence: float | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        cluster_field: str | None = None,
        slice_field: str | Sequence[str] | None = None,
        scores: str | Sequence[str] | None = None,
        sort: str | None = None,
    ) -> None: ...

def relaxed_accuracy(
    *,
    predictions: Any,
    references: Any,
    ids: Any = None,
    fields: Any = None,
    extract: str | None = None,
    normalize: Sequence[str] | str | None = None,
    tolerance: float = 0.05,
    samples: bool = False,
    details: bool = False,
    missing: Literal['error', 'empty', 'skip'] | None = None,
    null: Literal['error', 'empty', 'skip'] | None = None,
    as_text: bool = False,
    extra: Literal['error', 'ignore'] | None = None,
    where: str | Sequence[str] | None = None,
    threads: int | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    cluster_field: str | None = None,
    slice_field: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    sort: str | None = None,
) -> Result:
    """Share of answers within 5% of the reference number, or equal to the reference text (ChartQA's relaxed accuracy).

    Args:
        predictions: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a string or a number.
        references: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is an answer or a list of answers, each a string or a number.
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices: a mapping, or a data frame.
        extract: Score only a part of the prediction: the first group of the first match of REGEX, with fence
            the first fenced block (```), or with last-number the last number, without commas.
        normalize: Steps that normalize both texts, in the order given: a comma-separated list of nfc, nfd,
            nfkc, nfkd, casefold, lower, strip, collapse, whitespace, punctuation, ascii-punctuation, digits,
            ascii-digits, remove-spaces, han-spaces, last-number, whisper-basic, whisper-basic-split, whisper-
            basic-nodiacritics, whisper-basic-nodiacritics-split, whisper-english, open-asr-english, open-asr-
            multilingual, remove(REGEX), replace(REGEX, TEXT), remove-words(WORD ...), replace-words(WORD=TEXT
            ...).
        tolerance: Relative tolerance of numbers.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.

    Returns:
        The scores ``relaxed_accuracy`` (higher is better).

    Raises:
        MetricError: An option or a value is wrong.

    >>> import metric_suite
    >>> metric_suite.relaxed_accuracy(predictions=["103", 120], references=[100, 100])["relaxed_accuracy"]
    0.5
    """

class RelaxedAccuracy(Metric):
    """Share of answers within 5% of the reference number, or equal to the reference text (ChartQA's relaxed accuracy), in batches.

    Args:
        extract: Score only a part of the prediction: the first group of the first match of REGEX, with fence
            the first fenced block (```), or with last-number the last number, without commas.
        normalize: Steps that normalize both texts, in the order given: a comma-separated list of nfc, nfd,
            nfkc, nfkd, casefold, lower, strip, collapse, whitespace, punctuation, ascii-punctuation, digits,
            ascii-digits, remove-spaces, han-spaces, last-number, whisper-basic, whisper-basic-split, whisper-
            basic-nodiacritics, whisper-basic-nodiacritics-split, whisper-english, open-asr-english, open-asr-
            multilingual, remove(REGEX), replace(REGEX, TEXT), remove-words(WORD ...), replace-words(WORD=TEXT
            ...).
        tolerance: Relative tolerance of numbers.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.
    """
    def __init__(
        self,
        *,
        extract: str | None = None,
        normalize: Sequence[str] | str | None = None,
        tolerance: float = 0.05,
        samples: bool = False,
        details: bool = False,
        missing: Literal['error', 'empty', 'skip'] | None = None,
        null: Literal['error', 'empty', 'skip'] | None = None,
        as_text: bool = False,
        extra: Literal['error', 'ignore'] | None = None,
        where: str | Sequence[str] | None = None,
        threads: int | None = None,
        confidence: float | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        cluster_field: str | None = None,
        slice_field: str | Sequence[str] | None = None,
        scores: str | Sequence[str] | None = None,
        sort: str | None = None,
    ) -> None: ...

def edit_similarity(
    *,
    predictions: Any,
    references: Any,
    ids: Any = None,
    fields: Any = None,
    extract: str | None = None,
    normalize: Sequence[str] | str | None = None,
    max_cells: int = 100000000000,
    samples: bool = False,
    details: bool = False,
    missing: Literal['error', 'empty', 'skip'] | None = None,
    null: Literal['error', 'empty', 'skip'] | None = None,
    as_text: bool = False,
    extra: Literal['error', 'ignore'] | None = None,
    where: str | Sequence[str] | None = None,
    threads: int | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    cluster_field: str | None = None,
    slice_field: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    sort: str | None = None,
) -> Result:
    """Mean of 1 less the Levenshtein distance over the length of the longer text.

    Args:
        predictions: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a string.
        references: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a string.
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices: a mapping, or a data frame.
        extract: Score only a part of the prediction: the first group of the first match of REGEX, with fence
            the first fenced block (```), or with last-number the last number, without commas.
        normalize: Steps that normalize both texts, in the order given: a comma-separated list of nfc, nfd,
            nfkc, nfkd, casefold, lower, strip, collapse, whitespace, punctuation, ascii-punctuation, digits,
            ascii-digits, remove-spaces, han-spaces, last-number, whisper-basic, whisper-basic-split, whisper-
            basic-nodiacritics, whisper-basic-nodiacritics-split, whisper-english, open-asr-english, open-asr-
            multilingual, remove(REGEX), replace(REGEX, TEXT), remove-words(WORD ...), replace-words(WORD=TEXT
            ...).
        max_cells: Refuse records whose alignment takes more table cells than this. The default is about 5 s of
            work, where slow cells count several times.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.

    Returns:
        The scores ``edit_similarity`` (higher is better).

    Raises:
        MetricError: An option or a value is wrong.

    >>> import metric_suite
    >>> metric_suite.edit_similarity(predictions=["abcd"], references=["abcx"])["edit_similarity"]
    0.75
    """

class EditSimilarity(Metric):
    """Mean of 1 less the Levenshtein distance over the length of the longer text, in batches.

    Args:
        extract: Score only a part of the prediction: the first group of the first match of REGEX, with fence
            the first fenced block (```), or with last-number the last number, without commas.
        normalize: Steps that normalize both texts, in the order given: a comma-separated list of nfc, nfd,
            nfkc, nfkd, casefold, lower, strip, collapse, whitespace, punctuation, ascii-punctuation, digits,
            ascii-digits, remove-spaces, han-spaces, last-number, whisper-basic, whisper-basic-split, whisper-
            basic-nodiacritics, whisper-basic-nodiacritics-split, whisper-english, open-asr-english, open-asr-
            multilingual, remove(REGEX), replace(REGEX, TEXT), remove-words(WORD ...), replace-words(WORD=TEXT
            ...).
        max_cells: Refuse records whose alignment takes more table cells than this. The default is about 5 s of
            work, where slow cells count several times.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.
    """
    def __init__(
        self,
        *,
        extract: str | None = None,
        normalize: Sequence[str] | str | None = None,
        max_cells: int = 100000000000,
        samples: bool = False,
        details: bool = False,
        missing: Literal['error', 'empty', 'skip'] | None = None,
        null: Literal['error', 'empty', 'skip'] | None = None,
        as_text: bool = False,
        extra: Literal['error', 'ignore'] | None = None,
        where: str | Sequence[str] | None = None,
        threads: int | None = None,
        confidence: float | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        cluster_field: str | None = None,
        slice_field: str | Sequence[str] | None = None,
        scores: str | Sequence[str] | None = None,
        sort: str | None = None,
    ) -> None: ...

def bleu(
    *,
    predictions: Any,
    references: Any,
    ids: Any = None,
    fields: Any = None,
    extract: str | None = None,
    normalize: Sequence[str] | str | None = None,
    profile: Literal['sacrebleu', 'evaluate', 'codexglue-generation', 'codexglue-summarization'] = 'sacrebleu',
    tokenize: Literal['13a', 'intl', 'zh', 'char', 'none'] | None = None,
    lowercase: bool = False,
    smooth: Literal['exp', 'floor', 'add-k', 'add-one', 'none'] | None = None,
    smooth_method: Literal['exp', 'floor', 'add-k', 'add-one', 'none'] | None = None,
    smooth_value: float | None = None,
    max_order: int | None = None,
    max_ngram_order: int | None = None,
    effective_order: bool = False,
    samples: bool = False,
    details: bool = False,
    missing: Literal['error', 'empty', 'skip'] | None = None,
    null: Literal['error', 'empty', 'skip'] | None = None,
    as_text: bool = False,
    extra: Literal['error', 'ignore'] | None = None,
    where: str | Sequence[str] | None = None,
    threads: int | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    cluster_field: str | None = None,
    slice_field: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    sort: str | None = None,
) -> Result:
    """BLEU: n-grams of generated texts that are in their references.

    Args:
        predictions: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a text.
        references: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a text or a list of texts.
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices: a mapping, or a data frame.
        extract: Score only a part of the prediction: the first group of the first match of REGEX, with fence
            the first fenced block (```), or with last-number the last number, without commas.
        normalize: Steps that normalize both texts, in the order given: a comma-separated list of nfc, nfd,
            nfkc, nfkd, casefold, lower, strip, collapse, whitespace, punctuation, ascii-punctuation, digits,
            ascii-digits, remove-spaces, han-spaces, last-number, whisper-basic, whisper-basic-split, whisper-
            basic-nodiacritics, whisper-basic-nodiacritics-split, whisper-english, open-asr-english, open-asr-
            multilingual, remove(REGEX), replace(REGEX, TEXT), remove-words(WORD ...), replace-words(WORD=TEXT
            ...).
        profile: Program whose tokens and formula to follow.
        tokenize: Rules that split texts into tokens: 13a for Western languages, zh for Chinese, char for each
            character, intl for all punctuation of Unicode, none for tokens separated by white space [default:
            13a].
        lowercase: Compare texts in lowercase.
        smooth: Treatment of orders without matches. sacrebleu: exp, floor, add-k, none [default: exp];
            evaluate: none, add-one [default: none]; codexglue-generation: add-one, none [default: add-one].
        smooth_method: The same as ``smooth``.
        smooth_value: With smooth="floor" or add-k: what is added [default: 0.1 for floor, 1 for add-k].
        max_order: Greatest length of n-grams [default: 4].
        max_ngram_order: The same as ``max_order``.
        effective_order: Leave out orders of which the predictions have no n-grams, as for short texts.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.

    Returns:
        The scores ``bleu`` (higher is better); ``sentence_bleu`` (higher is better).

    Raises:
        MetricError: An option or a value is wrong.

    >>> import metric_suite
    >>> metric_suite.bleu(predictions=["a b c d e"], references=[["a b c d x"]])["bleu"]
    0.66874...
    """

class BLEU(Metric):
    """BLEU: n-grams of generated texts that are in their references, in batches.

    Args:
        extract: Score only a part of the prediction: the first group of the first match of REGEX, with fence
            the first fenced block (```), or with last-number the last number, without commas.
        normalize: Steps that normalize both texts, in the order given: a comma-separated list of nfc, nfd,
            nfkc, nfkd, casefold, lower, strip, collapse, whitespace, punctuation, ascii-punctuation, digits,
            ascii-digits, remove-spaces, han-spaces, last-number, whisper-basic, whisper-basic-split, whisper-
            basic-nodiacritics, whisper-basic-nodiacritics-split, whisper-english, open-asr-english, open-asr-
            multilingual, remove(REGEX), replace(REGEX, TEXT), remove-words(WORD ...), replace-words(WORD=TEXT
            ...).
        profile: Program whose tokens and formula to follow.
        tokenize: Rules that split texts into tokens: 13a for Western languages, zh for Chinese, char for each
            character, intl for all punctuation of Unicode, none for tokens separated by white space [default:
            13a].
        lowercase: Compare texts in lowercase.
        smooth: Treatment of orders without matches. sacrebleu: exp, floor, add-k, none [default: exp];
            evaluate: none, add-one [default: none]; codexglue-generation: add-one, none [default: add-one].
        smooth_method: The same as ``smooth``.
        smooth_value: With smooth="floor" or add-k: what is added [default: 0.1 for floor, 1 for add-k].
        max_order: Greatest length of n-grams [default: 4].
        max_ngram_order: The same as ``max_order``.
        effective_order: Leave out orders of which the predictions have no n-grams, as for short texts.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.
    """
    def __init__(
        self,
        *,
        extract: str | None = None,
        normalize: Sequence[str] | str | None = None,
        profile: Literal['sacrebleu', 'evaluate', 'codexglue-generation', 'codexglue-summarization'] = 'sacrebleu',
        tokenize: Literal['13a', 'intl', 'zh', 'char', 'none'] | None = None,
        lowercase: bool = False,
        smooth: Literal['exp', 'floor', 'add-k', 'add-one', 'none'] | None = None,
        smooth_method: Literal['exp', 'floor', 'add-k', 'add-one', 'none'] | None = None,
        smooth_value: float | None = None,
        max_order: int | None = None,
        max_ngram_order: int | None = None,
        effective_order: bool = False,
        samples: bool = False,
        details: bool = False,
        missing: Literal['error', 'empty', 'skip'] | None = None,
        null: Literal['error', 'empty', 'skip'] | None = None,
        as_text: bool = False,
        extra: Literal['error', 'ignore'] | None = None,
        where: str | Sequence[str] | None = None,
        threads: int | None = None,
        confidence: float | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        cluster_field: str | None = None,
        slice_field: str | Sequence[str] | None = None,
        scores: str | Sequence[str] | None = None,
        sort: str | None = None,
    ) -> None: ...

def chrf(
    *,
    predictions: Any,
    references: Any,
    ids: Any = None,
    fields: Any = None,
    extract: str | None = None,
    normalize: Sequence[str] | str | None = None,
    profile: Literal['sacrebleu'] = 'sacrebleu',
    char_order: int = 6,
    word_order: int = 0,
    beta: float = 2.0,
    lowercase: bool = False,
    whitespace: bool = False,
    eps_smoothing: bool = False,
    samples: bool = False,
    details: bool = False,
    missing: Literal['error', 'empty', 'skip'] | None = None,
    null: Literal['error', 'empty', 'skip'] | None = None,
    as_text: bool = False,
    extra: Literal['error', 'ignore'] | None = None,
    where: str | Sequence[str] | None = None,
    threads: int | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    cluster_field: str | None = None,
    slice_field: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    sort: str | None = None,
) -> Result:
    """chrF and chrF++: n-grams of characters and words that texts share.

    Args:
        predictions: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a text.
        references: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a text or a list of texts.
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices: a mapping, or a data frame.
        extract: Score only a part of the prediction: the first group of the first match of REGEX, with fence
            the first fenced block (```), or with last-number the last number, without commas.
        normalize: Steps that normalize both texts, in the order given: a comma-separated list of nfc, nfd,
            nfkc, nfkd, casefold, lower, strip, collapse, whitespace, punctuation, ascii-punctuation, digits,
            ascii-digits, remove-spaces, han-spaces, last-number, whisper-basic, whisper-basic-split, whisper-
            basic-nodiacritics, whisper-basic-nodiacritics-split, whisper-english, open-asr-english, open-asr-
            multilingual, remove(REGEX), replace(REGEX, TEXT), remove-words(WORD ...), replace-words(WORD=TEXT
            ...).
        profile: Program to follow.
        char_order: Greatest length of n-grams of characters.
        word_order: Greatest length of n-grams of words; 2 is chrF++.
        beta: How many times as important as precision recall is.
        lowercase: Compare texts in lowercase.
        whitespace: Count white space as characters.
        eps_smoothing: Take the mean of F over all orders, as the program chrF++.py does.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.

    Returns:
        The scores ``chrf`` (higher is better).

    Raises:
        MetricError: An option or a value is wrong.

    >>> import metric_suite
    >>> metric_suite.chrf(predictions=["the cat"], references=["the cat"])["chrf"]
    1.0
    """

class CHRF(Metric):
    """chrF and chrF++: n-grams of characters and words that texts share, in batches.

    Args:
        extract: Score only a part of the prediction: the first group of the first match of REGEX, with fence
            the first fenced block (```), or with last-number the last number, without commas.
        normalize: Steps that normalize both texts, in the order given: a comma-separated list of nfc, nfd,
            nfkc, nfkd, casefold, lower, strip, collapse, whitespace, punctuation, ascii-punctuation, digits,
            ascii-digits, remove-spaces, han-spaces, last-number, whisper-basic, whisper-basic-split, whisper-
            basic-nodiacritics, whisper-basic-nodiacritics-split, whisper-english, open-asr-english, open-asr-
            multilingual, remove(REGEX), replace(REGEX, TEXT), remove-words(WORD ...), replace-words(WORD=TEXT
            ...).
        profile: Program to follow.
        char_order: Greatest length of n-grams of characters.
        word_order: Greatest length of n-grams of words; 2 is chrF++.
        beta: How many times as important as precision recall is.
        lowercase: Compare texts in lowercase.
        whitespace: Count white space as characters.
        eps_smoothing: Take the mean of F over all orders, as the program chrF++.py does.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.
    """
    def __init__(
        self,
        *,
        extract: str | None = None,
        normalize: Sequence[str] | str | None = None,
        profile: Literal['sacrebleu'] = 'sacrebleu',
        char_order: int = 6,
        word_order: int = 0,
        beta: float = 2.0,
        lowercase: bool = False,
        whitespace: bool = False,
        eps_smoothing: bool = False,
        samples: bool = False,
        details: bool = False,
        missing: Literal['error', 'empty', 'skip'] | None = None,
        null: Literal['error', 'empty', 'skip'] | None = None,
        as_text: bool = False,
        extra: Literal['error', 'ignore'] | None = None,
        where: str | Sequence[str] | None = None,
        threads: int | None = None,
        confidence: float | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        cluster_field: str | None = None,
        slice_field: str | Sequence[str] | None = None,
        scores: str | Sequence[str] | None = None,
        sort: str | None = None,
    ) -> None: ...

def ter(
    *,
    predictions: Any,
    references: Any,
    ids: Any = None,
    fields: Any = None,
    extract: str | None = None,
    normalize: Sequence[str] | str | None = None,
    profile: Literal['sacrebleu', 'corrected'] = 'sacrebleu',
    normalized: bool = False,
    no_punct: bool = False,
    asian_support: bool = False,
    case_sensitive: bool = False,
    max_cells: int = 100000000000,
    samples: bool = False,
    details: bool = False,
    missing: Literal['error', 'empty', 'skip'] | None = None,
    null: Literal['error', 'empty', 'skip'] | None = None,
    as_text: bool = False,
    extra: Literal['error', 'ignore'] | None = None,
    where: str | Sequence[str] | None = None,
    threads: int | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    cluster_field: str | None = None,
    slice_field: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    sort: str | None = None,
) -> Result:
    """Translation edit rate (TER): edits and shifts of words per word of the references.

    Args:
        predictions: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a text.
        references: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a text or a list of texts.
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices: a mapping, or a data frame.
        extract: Score only a part of the prediction: the first group of the first match of REGEX, with fence
            the first fenced block (```), or with last-number the last number, without commas.
        normalize: Steps that normalize both texts, in the order given: a comma-separated list of nfc, nfd,
            nfkc, nfkd, casefold, lower, strip, collapse, whitespace, punctuation, ascii-punctuation, digits,
            ascii-digits, remove-spaces, han-spaces, last-number, whisper-basic, whisper-basic-split, whisper-
            basic-nodiacritics, whisper-basic-nodiacritics-split, whisper-english, open-asr-english, open-asr-
            multilingual, remove(REGEX), replace(REGEX, TEXT), remove-words(WORD ...), replace-words(WORD=TEXT
            ...).
        profile: sacrebleu prepares references twice, as sacreBLEU does; corrected prepares them once, as
            predictions are.
        normalized: Replace entities of XML, and separate punctuation from words.
        no_punct: Remove punctuation.
        asian_support: With normalized or no_punct: also for Chinese and Japanese.
        case_sensitive: Words in upper and lower case differ.
        max_cells: Refuse records whose alignment takes more table cells than this. The default is about 5 s of
            work, where slow cells count several times.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.

    Returns:
        The scores ``ter`` (lower is better).

    Raises:
        MetricError: An option or a value is wrong.

    >>> import metric_suite
    >>> metric_suite.ter(predictions=["a b c x"], references=[["a b c d"]])["ter"]
    0.25
    """

class TER(Metric):
    """Translation edit rate (TER): edits and shifts of words per word of the references, in batches.

    Args:
        extract: Score only a part of the prediction: the first group of the first match of REGEX, with fence
            the first fenced block (```), or with last-number the last number, without commas.
        normalize: Steps that normalize both texts, in the order given: a comma-separated list of nfc, nfd,
            nfkc, nfkd, casefold, lower, strip, collapse, whitespace, punctuation, ascii-punctuation, digits,
            ascii-digits, remove-spaces, han-spaces, last-number, whisper-basic, whisper-basic-split, whisper-
            basic-nodiacritics, whisper-basic-nodiacritics-split, whisper-english, open-asr-english, open-asr-
            multilingual, remove(REGEX), replace(REGEX, TEXT), remove-words(WORD ...), replace-words(WORD=TEXT
            ...).
        profile: sacrebleu prepares references twice, as sacreBLEU does; corrected prepares them once, as
            predictions are.
        normalized: Replace entities of XML, and separate punctuation from words.
        no_punct: Remove punctuation.
        asian_support: With normalized or no_punct: also for Chinese and Japanese.
        case_sensitive: Words in upper and lower case differ.
        max_cells: Refuse records whose alignment takes more table cells than this. The default is about 5 s of
            work, where slow cells count several times.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.
    """
    def __init__(
        self,
        *,
        extract: str | None = None,
        normalize: Sequence[str] | str | None = None,
        profile: Literal['sacrebleu', 'corrected'] = 'sacrebleu',
        normalized: bool = False,
        no_punct: bool = False,
        asian_support: bool = False,
        case_sensitive: bool = False,
        max_cells: int = 100000000000,
        samples: bool = False,
        details: bool = False,
        missing: Literal['error', 'empty', 'skip'] | None = None,
        null: Literal['error', 'empty', 'skip'] | None = None,
        as_text: bool = False,
        extra: Literal['error', 'ignore'] | None = None,
        where: str | Sequence[str] | None = None,
        threads: int | None = None,
        confidence: float | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        cluster_field: str | None = None,
        slice_field: str | Sequence[str] | None = None,
        scores: str | Sequence[str] | None = None,
        sort: str | None = None,
    ) -> None: ...

def rouge(
    *,
    predictions: Any,
    references: Any,
    ids: Any = None,
    fields: Any = None,
    extract: str | None = None,
    normalize: Sequence[str] | str | None = None,
    profile: Literal['rouge-score'] = 'rouge-score',
    types: Sequence[str] | str | None = None,
    rouge_types: Sequence[str] | str | None = None,
    stemmer: bool = False,
    use_stemmer: bool = False,
    max_cells: int = 100000000000,
    samples: bool = False,
    details: bool = False,
    missing: Literal['error', 'empty', 'skip'] | None = None,
    null: Literal['error', 'empty', 'skip'] | None = None,
    as_text: bool = False,
    extra: Literal['error', 'ignore'] | None = None,
    where: str | Sequence[str] | None = None,
    threads: int | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    cluster_field: str | None = None,
    slice_field: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    sort: str | None = None,
) -> Result:
    """ROUGE: n-grams and subsequences of words that a summary shares with its reference.

    Args:
        predictions: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a text.
        references: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a text or a list of texts.
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices: a mapping, or a data frame.
        extract: Score only a part of the prediction: the first group of the first match of REGEX, with fence
            the first fenced block (```), or with last-number the last number, without commas.
        normalize: Steps that normalize both texts, in the order given: a comma-separated list of nfc, nfd,
            nfkc, nfkd, casefold, lower, strip, collapse, whitespace, punctuation, ascii-punctuation, digits,
            ascii-digits, remove-spaces, han-spaces, last-number, whisper-basic, whisper-basic-split, whisper-
            basic-nodiacritics, whisper-basic-nodiacritics-split, whisper-english, open-asr-english, open-asr-
            multilingual, remove(REGEX), replace(REGEX, TEXT), remove-words(WORD ...), replace-words(WORD=TEXT
            ...).
        profile: Program to follow.
        types: Types to score: 1 to 9 for n-grams, L for the longest common subsequence, Lsum for that of each
            line. By default 1,2,L,Lsum.
        rouge_types: The same as ``types``.
        stemmer: Compare the stems of words, by Porter's rules.
        use_stemmer: The same as ``stemmer``.
        max_cells: Refuse records whose alignment takes more table cells than this. The default is about 5 s of
            work, where slow cells count several times.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.

    Returns:
        The scores ``rougeTYPE`` (higher is better).

    Raises:
        MetricError: An option or a value is wrong.

    >>> import metric_suite
    >>> metric_suite.rouge(predictions=["a b"], references=["a b c d"], types=["1"])["rouge1_recall"]
    0.5
    """

class ROUGE(Metric):
    """ROUGE: n-grams and subsequences of words that a summary shares with its reference, in batches.

    Args:
        extract: Score only a part of the prediction: the first group of the first match of REGEX, with fence
            the first fenced block (```), or with last-number the last number, without commas.
        normalize: Steps that normalize both texts, in the order given: a comma-separated list of nfc, nfd,
            nfkc, nfkd, casefold, lower, strip, collapse, whitespace, punctuation, ascii-punctuation, digits,
            ascii-digits, remove-spaces, han-spaces, last-number, whisper-basic, whisper-basic-split, whisper-
            basic-nodiacritics, whisper-basic-nodiacritics-split, whisper-english, open-asr-english, open-asr-
            multilingual, remove(REGEX), replace(REGEX, TEXT), remove-words(WORD ...), replace-words(WORD=TEXT
            ...).
        profile: Program to follow.
        types: Types to score: 1 to 9 for n-grams, L for the longest common subsequence, Lsum for that of each
            line. By default 1,2,L,Lsum.
        rouge_types: The same as ``types``.
        stemmer: Compare the stems of words, by Porter's rules.
        use_stemmer: The same as ``stemmer``.
        max_cells: Refuse records whose alignment takes more table cells than this. The default is about 5 s of
            work, where slow cells count several times.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.
    """
    def __init__(
        self,
        *,
        extract: str | None = None,
        normalize: Sequence[str] | str | None = None,
        profile: Literal['rouge-score'] = 'rouge-score',
        types: Sequence[str] | str | None = None,
        rouge_types: Sequence[str] | str | None = None,
        stemmer: bool = False,
        use_stemmer: bool = False,
        max_cells: int = 100000000000,
        samples: bool = False,
        details: bool = False,
        missing: Literal['error', 'empty', 'skip'] | None = None,
        null: Literal['error', 'empty', 'skip'] | None = None,
        as_text: bool = False,
        extra: Literal['error', 'ignore'] | None = None,
        where: str | Sequence[str] | None = None,
        threads: int | None = None,
        confidence: float | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        cluster_field: str | None = None,
        slice_field: str | Sequence[str] | None = None,
        scores: str | Sequence[str] | None = None,
        sort: str | None = None,
    ) -> None: ...

def cpwer(
    *,
    predictions: Any,
    references: Any,
    ids: Any = None,
    fields: Any = None,
    collar: float | None = None,
    reference_timing: Literal['characters', 'character-points', 'equal', 'equal-points', 'segment', 'word'] | None = None,
    prediction_timing: Literal['characters', 'character-points', 'equal', 'equal-points', 'segment', 'word'] | None = None,
    order: Literal['start', 'file'] | None = None,
    unit: Literal['word', 'codepoint', 'grapheme', 'mixed'] = 'word',
    normalize: Sequence[str] | str | None = None,
    max_cells: int = 100000000000,
    samples: bool = False,
    details: bool = False,
    missing: Literal['error', 'empty', 'skip'] | None = None,
    null: Literal['error', 'empty', 'skip'] | None = None,
    as_text: bool = False,
    extra: Literal['error', 'ignore'] | None = None,
    where: str | Sequence[str] | None = None,
    threads: int | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    cluster_field: str | None = None,
    slice_field: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    sort: str | None = None,
) -> Result:
    """Word error rate of several speakers, each paired with a speaker of the prediction.

    Args:
        predictions: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a list of segments {speaker, start, end, words}.
        references: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a list of segments {speaker, start, end, words}.
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices: a mapping, or a data frame.
        collar: Match words only if their times are less than this apart; 5 is usual.
        reference_timing: With collar: times of the words of a reference segment [default: characters].
        prediction_timing: With collar: times of the words of a predicted segment [default: character-points].
        order: Order of the segments [default: start, where all of a side have times].
        unit: Unit to compare.
        normalize: Steps that normalize both texts, in the order given: a comma-separated list of nfc, nfd,
            nfkc, nfkd, casefold, lower, strip, collapse, whitespace, punctuation, ascii-punctuation, digits,
            ascii-digits, remove-spaces, han-spaces, last-number, whisper-basic, whisper-basic-split, whisper-
            basic-nodiacritics, whisper-basic-nodiacritics-split, whisper-english, open-asr-english, open-asr-
            multilingual, remove(REGEX), replace(REGEX, TEXT), remove-words(WORD ...), replace-words(WORD=TEXT
            ...).
        max_cells: Refuse records whose alignment takes more table cells than this. The default is about 5 s of
            work, where slow cells count several times.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.

    Returns:
        The scores ``cp_wer`` (lower is better); ``tcp_wer`` (lower is better).

    Raises:
        MetricError: An option or a value is wrong.

    >>> import metric_suite
    >>> metric_suite.cpwer(predictions=[[{"speaker": "A", "start": 0, "end": 1, "words": "a b"}]], references=[[{"speaker": "A", "start": 0, "end": 1, "words": "a b"}]])["cp_wer"]
    0.0
    """

class CPWER(Metric):
    """Word error rate of several speakers, each paired with a speaker of the prediction, in batches.

    Args:
        collar: Match words only if their times are less than this apart; 5 is usual.
        reference_timing: With collar: times of the words of a reference segment [default: characters].
        prediction_timing: With collar: times of the words of a predicted segment [default: character-points].
        order: Order of the segments [default: start, where all of a side have times].
        unit: Unit to compare.
        normalize: Steps that normalize both texts, in the order given: a comma-separated list of nfc, nfd,
            nfkc, nfkd, casefold, lower, strip, collapse, whitespace, punctuation, ascii-punctuation, digits,
            ascii-digits, remove-spaces, han-spaces, last-number, whisper-basic, whisper-basic-split, whisper-
            basic-nodiacritics, whisper-basic-nodiacritics-split, whisper-english, open-asr-english, open-asr-
            multilingual, remove(REGEX), replace(REGEX, TEXT), remove-words(WORD ...), replace-words(WORD=TEXT
            ...).
        max_cells: Refuse records whose alignment takes more table cells than this. The default is about 5 s of
            work, where slow cells count several times.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.
    """
    def __init__(
        self,
        *,
        collar: float | None = None,
        reference_timing: Literal['characters', 'character-points', 'equal', 'equal-points', 'segment', 'word'] | None = None,
        prediction_timing: Literal['characters', 'character-points', 'equal', 'equal-points', 'segment', 'word'] | None = None,
        order: Literal['start', 'file'] | None = None,
        unit: Literal['word', 'codepoint', 'grapheme', 'mixed'] = 'word',
        normalize: Sequence[str] | str | None = None,
        max_cells: int = 100000000000,
        samples: bool = False,
        details: bool = False,
        missing: Literal['error', 'empty', 'skip'] | None = None,
        null: Literal['error', 'empty', 'skip'] | None = None,
        as_text: bool = False,
        extra: Literal['error', 'ignore'] | None = None,
        where: str | Sequence[str] | None = None,
        threads: int | None = None,
        confidence: float | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        cluster_field: str | None = None,
        slice_field: str | Sequence[str] | None = None,
        scores: str | Sequence[str] | None = None,
        sort: str | None = None,
    ) -> None: ...

def orcwer(
    *,
    predictions: Any,
    references: Any,
    ids: Any = None,
    fields: Any = None,
    search: Literal['exact', 'greedy'] = 'exact',
    collar: float | None = None,
    reference_timing: Literal['characters', 'character-points', 'equal', 'equal-points', 'segment', 'word'] | None = None,
    prediction_timing: Literal['characters', 'character-points', 'equal', 'equal-points', 'segment', 'word'] | None = None,
    order: Literal['start', 'file'] | None = None,
    unit: Literal['word', 'codepoint', 'grapheme', 'mixed'] = 'word',
    normalize: Sequence[str] | str | None = None,
    max_cells: int = 100000000000,
    samples: bool = False,
    details: bool = False,
    missing: Literal['error', 'empty', 'skip'] | None = None,
    null: Literal['error', 'empty', 'skip'] | None = None,
    as_text: bool = False,
    extra: Literal['error', 'ignore'] | None = None,
    where: str | Sequence[str] | None = None,
    threads: int | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    cluster_field: str | None = None,
    slice_field: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    sort: str | None = None,
) -> Result:
    """Word error rate of several speakers, whose segments go where they fit best.

    Args:
        predictions: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a list of segments {speaker, start, end, words}.
        references: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a list of segments {speaker, start, end, words}.
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices: a mapping, or a data frame.
        search: Search for the assignment of segments; greedy: fast, and rarely with more errors.
        collar: Match words only if their times are less than this apart; 5 is usual.
        reference_timing: With collar: times of the words of a reference segment [default: characters].
        prediction_timing: With collar: times of the words of a predicted segment [default: character-points].
        order: Order of the segments [default: start, where all of a side have times].
        unit: Unit to compare.
        normalize: Steps that normalize both texts, in the order given: a comma-separated list of nfc, nfd,
            nfkc, nfkd, casefold, lower, strip, collapse, whitespace, punctuation, ascii-punctuation, digits,
            ascii-digits, remove-spaces, han-spaces, last-number, whisper-basic, whisper-basic-split, whisper-
            basic-nodiacritics, whisper-basic-nodiacritics-split, whisper-english, open-asr-english, open-asr-
            multilingual, remove(REGEX), replace(REGEX, TEXT), remove-words(WORD ...), replace-words(WORD=TEXT
            ...).
        max_cells: Refuse records whose alignment takes more table cells than this. The default is about 5 s of
            work, where slow cells count several times.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.

    Returns:
        The scores ``orc_wer`` (lower is better); ``tcorc_wer`` (lower is better).

    Raises:
        MetricError: An option or a value is wrong.

    >>> import metric_suite
    >>> metric_suite.orcwer(predictions=[[{"speaker": "A", "start": 0, "end": 1, "words": "a b"}]], references=[[{"speaker": "A", "start": 0, "end": 1, "words": "a b"}]])["orc_wer"]
    0.0
    """

class ORCWER(Metric):
    """Word error rate of several speakers, whose segments go where they fit best, in batches.

    Args:
        search: Search for the assignment of segments; greedy: fast, and rarely with more errors.
        collar: Match words only if their times are less than this apart; 5 is usual.
        reference_timing: With collar: times of the words of a reference segment [default: characters].
        prediction_timing: With collar: times of the words of a predicted segment [default: character-points].
        order: Order of the segments [default: start, where all of a side have times].
        unit: Unit to compare.
        normalize: Steps that normalize both texts, in the order given: a comma-separated list of nfc, nfd,
            nfkc, nfkd, casefold, lower, strip, collapse, whitespace, punctuation, ascii-punctuation, digits,
            ascii-digits, remove-spaces, han-spaces, last-number, whisper-basic, whisper-basic-split, whisper-
            basic-nodiacritics, whisper-basic-nodiacritics-split, whisper-english, open-asr-english, open-asr-
            multilingual, remove(REGEX), replace(REGEX, TEXT), remove-words(WORD ...), replace-words(WORD=TEXT
            ...).
        max_cells: Refuse records whose alignment takes more table cells than this. The default is about 5 s of
            work, where slow cells count several times.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.
    """
    def __init__(
        self,
        *,
        search: Literal['exact', 'greedy'] = 'exact',
        collar: float | None = None,
        reference_timing: Literal['characters', 'character-points', 'equal', 'equal-points', 'segment', 'word'] | None = None,
        prediction_timing: Literal['characters', 'character-points', 'equal', 'equal-points', 'segment', 'word'] | None = None,
        order: Literal['start', 'file'] | None = None,
        unit: Literal['word', 'codepoint', 'grapheme', 'mixed'] = 'word',
        normalize: Sequence[str] | str | None = None,
        max_cells: int = 100000000000,
        samples: bool = False,
        details: bool = False,
        missing: Literal['error', 'empty', 'skip'] | None = None,
        null: Literal['error', 'empty', 'skip'] | None = None,
        as_text: bool = False,
        extra: Literal['error', 'ignore'] | None = None,
        where: str | Sequence[str] | None = None,
        threads: int | None = None,
        confidence: float | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        cluster_field: str | None = None,
        slice_field: str | Sequence[str] | None = None,
        scores: str | Sequence[str] | None = None,
        sort: str | None = None,
    ) -> None: ...

def dicpwer(
    *,
    predictions: Any,
    references: Any,
    ids: Any = None,
    fields: Any = None,
    collar: float | None = None,
    reference_timing: Literal['characters', 'character-points', 'equal', 'equal-points', 'segment', 'word'] | None = None,
    prediction_timing: Literal['characters', 'character-points', 'equal', 'equal-points', 'segment', 'word'] | None = None,
    order: Literal['start', 'file'] | None = None,
    unit: Literal['word', 'codepoint', 'grapheme', 'mixed'] = 'word',
    normalize: Sequence[str] | str | None = None,
    max_cells: int = 100000000000,
    samples: bool = False,
    details: bool = False,
    missing: Literal['error', 'empty', 'skip'] | None = None,
    null: Literal['error', 'empty', 'skip'] | None = None,
    as_text: bool = False,
    extra: Literal['error', 'ignore'] | None = None,
    where: str | Sequence[str] | None = None,
    threads: int | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    cluster_field: str | None = None,
    slice_field: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    sort: str | None = None,
) -> Result:
    """Word error rate of several speakers, to whom each predicted segment goes where it fits best.

    Args:
        predictions: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a list of segments {speaker, start, end, words}.
        references: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a list of segments {speaker, start, end, words}.
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices: a mapping, or a data frame.
        collar: Match words only if their times are less than this apart; 5 is usual.
        reference_timing: With collar: times of the words of a reference segment [default: characters].
        prediction_timing: With collar: times of the words of a predicted segment [default: character-points].
        order: Order of the segments [default: start, where all of a side have times].
        unit: Unit to compare.
        normalize: Steps that normalize both texts, in the order given: a comma-separated list of nfc, nfd,
            nfkc, nfkd, casefold, lower, strip, collapse, whitespace, punctuation, ascii-punctuation, digits,
            ascii-digits, remove-spaces, han-spaces, last-number, whisper-basic, whisper-basic-split, whisper-
            basic-nodiacritics, whisper-basic-nodiacritics-split, whisper-english, open-asr-english, open-asr-
            multilingual, remove(REGEX), replace(REGEX, TEXT), remove-words(WORD ...), replace-words(WORD=TEXT
            ...).
        max_cells: Refuse records whose alignment takes more table cells than this. The default is about 5 s of
            work, where slow cells count several times.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.

    Returns:
        The scores ``di_cp_wer`` (lower is better); ``di_tcp_wer`` (lower is better).

    Raises:
        MetricError: An option or a value is wrong.

    >>> import metric_suite
    >>> metric_suite.dicpwer(predictions=[[{"speaker": "A", "start": 0, "end": 1, "words": "a b"}]], references=[[{"speaker": "A", "start": 0, "end": 1, "words": "a b"}]])["di_cp_wer"]
    0.0
    """

class DICPWER(Metric):
    """Word error rate of several speakers, to whom each predicted segment goes where it fits best, in batches.

    Args:
        collar: Match words only if their times are less than this apart; 5 is usual.
        reference_timing: With collar: times of the words of a reference segment [default: characters].
        prediction_timing: With collar: times of the words of a predicted segment [default: character-points].
        order: Order of the segments [default: start, where all of a side have times].
        unit: Unit to compare.
        normalize: Steps that normalize both texts, in the order given: a comma-separated list of nfc, nfd,
            nfkc, nfkd, casefold, lower, strip, collapse, whitespace, punctuation, ascii-punctuation, digits,
            ascii-digits, remove-spaces, han-spaces, last-number, whisper-basic, whisper-basic-split, whisper-
            basic-nodiacritics, whisper-basic-nodiacritics-split, whisper-english, open-asr-english, open-asr-
            multilingual, remove(REGEX), replace(REGEX, TEXT), remove-words(WORD ...), replace-words(WORD=TEXT
            ...).
        max_cells: Refuse records whose alignment takes more table cells than this. The default is about 5 s of
            work, where slow cells count several times.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.
    """
    def __init__(
        self,
        *,
        collar: float | None = None,
        reference_timing: Literal['characters', 'character-points', 'equal', 'equal-points', 'segment', 'word'] | None = None,
        prediction_timing: Literal['characters', 'character-points', 'equal', 'equal-points', 'segment', 'word'] | None = None,
        order: Literal['start', 'file'] | None = None,
        unit: Literal['word', 'codepoint', 'grapheme', 'mixed'] = 'word',
        normalize: Sequence[str] | str | None = None,
        max_cells: int = 100000000000,
        samples: bool = False,
        details: bool = False,
        missing: Literal['error', 'empty', 'skip'] | None = None,
        null: Literal['error', 'empty', 'skip'] | None = None,
        as_text: bool = False,
        extra: Literal['error', 'ignore'] | None = None,
        where: str | Sequence[str] | None = None,
        threads: int | None = None,
        confidence: float | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        cluster_field: str | None = None,
        slice_field: str | Sequence[str] | None = None,
        scores: str | Sequence[str] | None = None,
        sort: str | None = None,
    ) -> None: ...

def codebleu(
    *,
    predictions: Any,
    references: Any,
    ids: Any = None,
    fields: Any = None,
    extract: str | None = None,
    lang: Literal['java', 'c_sharp', 'python', 'c', 'cpp', 'javascript', 'php', 'go', 'ruby', 'rust', 'typescript'] | None = None,
    lang_field: str | None = None,
    profile: Literal['codexglue', 'codebleu-0.7', 'fusion-brain-2021', 'paper', 'corrected'] = 'codexglue',
    weights: Sequence[float] | float | None = None,
    on_limit: Literal['error', 'zero'] = 'error',
    samples: bool = False,
    details: bool = False,
    missing: Literal['error', 'empty', 'skip'] | None = None,
    null: Literal['error', 'empty', 'skip'] | None = None,
    as_text: bool = False,
    extra: Literal['error', 'ignore'] | None = None,
    where: str | Sequence[str] | None = None,
    threads: int | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    cluster_field: str | None = None,
    slice_field: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    sort: str | None = None,
) -> Result:
    """CodeBLEU of source code, from n-grams, keywords, syntax trees and dataflow.

    Args:
        predictions: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a string.
        references: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a string, or `references`: a list of strings.
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices: a mapping, or a data frame.
        extract: Score only a part of the prediction: the first group of the first match of REGEX, with fence
            the first fenced block (```), or with last-number the last number, without commas.
        lang: Language of all texts.
        lang_field: Field next to the reference that names the language of the example, instead of lang.
        profile: Definition to follow. Syntax and dataflow match are recalls: code added to a prediction hardly
            lowers them.
        weights: Weights of ngram_match, weighted_ngram_match, syntax_match and dataflow_match. They must sum to
            1. By default 0.25,0.25,0.25,0.25.
        on_limit: Treatment of texts beyond the limits of the parser: stop with an error, or score them as if
            they had no syntax and no dataflow.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.

    Returns:
        The scores ``codebleu`` (higher is better); ``ngram_match`` (higher is better); ``weighted_ngram_match``
        (higher is better); ``syntax_match`` (higher is better); ``dataflow_match`` (higher is better).

    Raises:
        MetricError: An option or a value is wrong.

    >>> import metric_suite
    >>> metric_suite.codebleu(predictions=["x = 1"], references=["x = 1"], lang="python", profile="codebleu-0.7")["syntax_match"]
    1.0
    """

class CodeBLEU(Metric):
    """CodeBLEU of source code, from n-grams, keywords, syntax trees and dataflow, in batches.

    Args:
        extract: Score only a part of the prediction: the first group of the first match of REGEX, with fence
            the first fenced block (```), or with last-number the last number, without commas.
        lang: Language of all texts.
        lang_field: Field next to the reference that names the language of the example, instead of lang.
        profile: Definition to follow. Syntax and dataflow match are recalls: code added to a prediction hardly
            lowers them.
        weights: Weights of ngram_match, weighted_ngram_match, syntax_match and dataflow_match. They must sum to
            1. By default 0.25,0.25,0.25,0.25.
        on_limit: Treatment of texts beyond the limits of the parser: stop with an error, or score them as if
            they had no syntax and no dataflow.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.
    """
    def __init__(
        self,
        *,
        extract: str | None = None,
        lang: Literal['java', 'c_sharp', 'python', 'c', 'cpp', 'javascript', 'php', 'go', 'ruby', 'rust', 'typescript'] | None = None,
        lang_field: str | None = None,
        profile: Literal['codexglue', 'codebleu-0.7', 'fusion-brain-2021', 'paper', 'corrected'] = 'codexglue',
        weights: Sequence[float] | float | None = None,
        on_limit: Literal['error', 'zero'] = 'error',
        samples: bool = False,
        details: bool = False,
        missing: Literal['error', 'empty', 'skip'] | None = None,
        null: Literal['error', 'empty', 'skip'] | None = None,
        as_text: bool = False,
        extra: Literal['error', 'ignore'] | None = None,
        where: str | Sequence[str] | None = None,
        threads: int | None = None,
        confidence: float | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        cluster_field: str | None = None,
        slice_field: str | Sequence[str] | None = None,
        scores: str | Sequence[str] | None = None,
        sort: str | None = None,
    ) -> None: ...

def pass_at_k(
    *,
    predictions: Any,
    ids: Any = None,
    fields: Any = None,
    k: Sequence[int] | int | None = None,
    group_field: str | None = None,
    samples: bool = False,
    details: bool = False,
    missing: Literal['error', 'empty', 'skip'] | None = None,
    null: Literal['error', 'empty', 'skip'] | None = None,
    as_text: bool = False,
    extra: Literal['error', 'ignore'] | None = None,
    where: str | Sequence[str] | None = None,
    threads: int | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    cluster_field: str | None = None,
    slice_field: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    sort: str | None = None,
) -> Result:
    """Probability that one of k samples of a task passes (pass@k), and that all do (pass^k).

    Args:
        predictions: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a list of true and false, or of 1 and 0, one per sample, or
            {"n": samples, "c": those that pass}; with group_field, one of these.
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices: a mapping, or a data frame.
        k: Number of samples to draw, or several such numbers. By default 1.
        group_field: Field that holds the task, if each record is one sample.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.

    Returns:
        The scores ``pass@K`` (higher is better); ``pass_all@K`` (higher is better).

    Raises:
        MetricError: An option or a value is wrong.

    >>> import metric_suite
    >>> metric_suite.pass_at_k(predictions=[[True, False], [True, True]], k=[1])["pass@1"]
    0.75
    """

class PassAtK(Metric):
    """Probability that one of k samples of a task passes (pass@k), and that all do (pass^k), in batches.

    Args:
        k: Number of samples to draw, or several such numbers. By default 1.
        group_field: Field that holds the task, if each record is one sample.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.
    """
    def __init__(
        self,
        *,
        k: Sequence[int] | int | None = None,
        group_field: str | None = None,
        samples: bool = False,
        details: bool = False,
        missing: Literal['error', 'empty', 'skip'] | None = None,
        null: Literal['error', 'empty', 'skip'] | None = None,
        as_text: bool = False,
        extra: Literal['error', 'ignore'] | None = None,
        where: str | Sequence[str] | None = None,
        threads: int | None = None,
        confidence: float | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        cluster_field: str | None = None,
        slice_field: str | Sequence[str] | None = None,
        scores: str | Sequence[str] | None = None,
        sort: str | None = None,
    ) -> None: ...

def classification(
    *,
    predictions: Any,
    references: Any,
    ids: Any = None,
    fields: Any = None,
    extract: str | None = None,
    normalize: Sequence[str] | str | None = None,
    average: Literal['micro', 'macro', 'weighted'] = 'macro',
    zero_division: Literal['undefined', '0', '1'] = 'undefined',
    labels: Sequence[str] | str | None = None,
    kappa: Literal['none', 'linear', 'quadratic'] | None = None,
    groups: Literal['none', 'class'] = 'none',
    samples: bool = False,
    details: bool = False,
    missing: Literal['error', 'empty', 'skip'] | None = None,
    null: Literal['error', 'empty', 'skip'] | None = None,
    as_text: bool = False,
    extra: Literal['error', 'ignore'] | None = None,
    where: str | Sequence[str] | None = None,
    threads: int | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    cluster_field: str | None = None,
    slice_field: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    sort: str | None = None,
) -> Result:
    """Single-label classification: accuracy, precision, recall and F1, as in scikit-learn except for zero_division.

    Args:
        predictions: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a label, which is an integer or a string.
        references: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a label, which is an integer or a string.
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices: a mapping, or a data frame.
        extract: Score only a part of the prediction: the first group of the first match of REGEX, with fence
            the first fenced block (```), or with last-number the last number, without commas.
        normalize: Steps that normalize both texts, in the order given: a comma-separated list of nfc, nfd,
            nfkc, nfkd, casefold, lower, strip, collapse, whitespace, punctuation, ascii-punctuation, digits,
            ascii-digits, remove-spaces, han-spaces, last-number, whisper-basic, whisper-basic-split, whisper-
            basic-nodiacritics, whisper-basic-nodiacritics-split, whisper-english, open-asr-english, open-asr-
            multilingual, remove(REGEX), replace(REGEX, TEXT), remove-words(WORD ...), replace-words(WORD=TEXT
            ...).
        average: How to average precision, recall and F1 over classes.
        zero_division: Score to report for 0 / 0, such as the precision of a class that is never predicted. Also
            used for Cohen's kappa and the Matthews correlation if all labels are equal. scikit-learn uses 0.
        labels: Classes to include in the averages and the table, for example only the positive class [default:
            all].
        kappa: Cost of a disagreement in cohen_kappa, by the distance of both classes. labels then gives their
            order, and examples with other labels do not count [default: every disagreement costs the same, over
            all labels].
        groups: Tables in addition to the total. details writes the confusions, for up to 1,000 classes as a
            matrix.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.

    Returns:
        The scores ``accuracy`` (higher is better); ``precision`` (higher is better); ``recall`` (higher is
        better); ``f1`` (higher is better); ``balanced_accuracy`` (higher is better); ``cohen_kappa`` (higher is
        better); ``matthews_correlation`` (higher is better).

    Raises:
        MetricError: An option or a value is wrong.

    >>> import metric_suite
    >>> metric_suite.classification(predictions=["cat", "dog"], references=["cat", "cat"])["accuracy"]
    0.5
    """

class Classification(Metric):
    """Single-label classification: accuracy, precision, recall and F1, as in scikit-learn except for zero_division, in batches.

    Args:
        extract: Score only a part of the prediction: the first group of the first match of REGEX, with fence
            the first fenced block (```), or with last-number the last number, without commas.
        normalize: Steps that normalize both texts, in the order given: a comma-separated list of nfc, nfd,
            nfkc, nfkd, casefold, lower, strip, collapse, whitespace, punctuation, ascii-punctuation, digits,
            ascii-digits, remove-spaces, han-spaces, last-number, whisper-basic, whisper-basic-split, whisper-
            basic-nodiacritics, whisper-basic-nodiacritics-split, whisper-english, open-asr-english, open-asr-
            multilingual, remove(REGEX), replace(REGEX, TEXT), remove-words(WORD ...), replace-words(WORD=TEXT
            ...).
        average: How to average precision, recall and F1 over classes.
        zero_division: Score to report for 0 / 0, such as the precision of a class that is never predicted. Also
            used for Cohen's kappa and the Matthews correlation if all labels are equal. scikit-learn uses 0.
        labels: Classes to include in the averages and the table, for example only the positive class [default:
            all].
        kappa: Cost of a disagreement in cohen_kappa, by the distance of both classes. labels then gives their
            order, and examples with other labels do not count [default: every disagreement costs the same, over
            all labels].
        groups: Tables in addition to the total. details writes the confusions, for up to 1,000 classes as a
            matrix.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.
    """
    def __init__(
        self,
        *,
        extract: str | None = None,
        normalize: Sequence[str] | str | None = None,
        average: Literal['micro', 'macro', 'weighted'] = 'macro',
        zero_division: Literal['undefined', '0', '1'] = 'undefined',
        labels: Sequence[str] | str | None = None,
        kappa: Literal['none', 'linear', 'quadratic'] | None = None,
        groups: Literal['none', 'class'] = 'none',
        samples: bool = False,
        details: bool = False,
        missing: Literal['error', 'empty', 'skip'] | None = None,
        null: Literal['error', 'empty', 'skip'] | None = None,
        as_text: bool = False,
        extra: Literal['error', 'ignore'] | None = None,
        where: str | Sequence[str] | None = None,
        threads: int | None = None,
        confidence: float | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        cluster_field: str | None = None,
        slice_field: str | Sequence[str] | None = None,
        scores: str | Sequence[str] | None = None,
        sort: str | None = None,
    ) -> None: ...

def classification_scores(
    *,
    predictions: Any,
    references: Any,
    ids: Any = None,
    fields: Any = None,
    weights: Any = None,
    sample_weight: Any = None,
    profile: Literal['textbook', 'sklearn', 'torchmetrics'] = 'textbook',
    positive: str | None = None,
    classes: Sequence[str] | str | None = None,
    average: Literal['macro', 'weighted', 'micro'] = 'macro',
    multi_class: Literal['ovr', 'ovo'] = 'ovr',
    bins: int | None = None,
    norm: Literal['l1', 'l2', 'max'] = 'l1',
    weight_field: str | None = None,
    allow_decision_values: bool = False,
    groups: Literal['none', 'class'] = 'none',
    samples: bool = False,
    details: bool = False,
    missing: Literal['error', 'empty', 'skip'] | None = None,
    null: Literal['error', 'empty', 'skip'] | None = None,
    as_text: bool = False,
    extra: Literal['error', 'ignore'] | None = None,
    where: str | Sequence[str] | None = None,
    threads: int | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    cluster_field: str | None = None,
    slice_field: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    sort: str | None = None,
) -> Result:
    """Scores of classes: ROC AUC, average precision, log loss, Brier score, calibration error.

    Args:
        predictions: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a number (two classes), or a list or an object of numbers, one
            per class.
        references: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a label, which is an integer, a string or a boolean.
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices: a mapping, or a data frame.
        weights: A weight per example, instead of ``weight_field``.
        sample_weight: The same as ``weights``, as scikit-learn calls it.
        profile: Convention: undefined scores are null (textbook), or 0 as in scikit-learn; or the bins of
            torchmetrics.
        positive: Label that a high score means, if there are two [default: 1 or true].
        classes: Classes in the order of the scores of a row [default: the labels that occur, sorted].
        average: How to average ROC AUC and average precision over three or more classes.
        multi_class: ROC AUC of each class against the rest (ovr), or of each pair (ovo).
        bins: Number of bins of the calibration error [default: 10, or 15 of torchmetrics].
        norm: Calibration error: mean gap (l1), root of the mean square (l2), or greatest gap (max).
        weight_field: Field next to the reference with the weight of the example.
        allow_decision_values: Accept any finite score, and leave out the scores that need probabilities.
        groups: Tables in addition to the total: each of three or more classes against the rest.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.

    Returns:
        The scores ``roc_auc`` (higher is better); ``average_precision`` (higher is better); ``log_loss`` (lower
        is better); ``brier`` (lower is better); ``calibration_error`` (lower is better).

    Raises:
        MetricError: An option or a value is wrong.

    >>> import metric_suite
    >>> metric_suite.classification_scores(predictions=[0.9, 0.2, 0.4], references=[1, 0, 1])["roc_auc"]
    1.0
    """

class ClassificationScores(Metric):
    """Scores of classes: ROC AUC, average precision, log loss, Brier score, calibration error, in batches.

    Args:
        profile: Convention: undefined scores are null (textbook), or 0 as in scikit-learn; or the bins of
            torchmetrics.
        positive: Label that a high score means, if there are two [default: 1 or true].
        classes: Classes in the order of the scores of a row [default: the labels that occur, sorted].
        average: How to average ROC AUC and average precision over three or more classes.
        multi_class: ROC AUC of each class against the rest (ovr), or of each pair (ovo).
        bins: Number of bins of the calibration error [default: 10, or 15 of torchmetrics].
        norm: Calibration error: mean gap (l1), root of the mean square (l2), or greatest gap (max).
        weight_field: Field next to the reference with the weight of the example.
        allow_decision_values: Accept any finite score, and leave out the scores that need probabilities.
        groups: Tables in addition to the total: each of three or more classes against the rest.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.
    """
    def __init__(
        self,
        *,
        profile: Literal['textbook', 'sklearn', 'torchmetrics'] = 'textbook',
        positive: str | None = None,
        classes: Sequence[str] | str | None = None,
        average: Literal['macro', 'weighted', 'micro'] = 'macro',
        multi_class: Literal['ovr', 'ovo'] = 'ovr',
        bins: int | None = None,
        norm: Literal['l1', 'l2', 'max'] = 'l1',
        weight_field: str | None = None,
        allow_decision_values: bool = False,
        groups: Literal['none', 'class'] = 'none',
        samples: bool = False,
        details: bool = False,
        missing: Literal['error', 'empty', 'skip'] | None = None,
        null: Literal['error', 'empty', 'skip'] | None = None,
        as_text: bool = False,
        extra: Literal['error', 'ignore'] | None = None,
        where: str | Sequence[str] | None = None,
        threads: int | None = None,
        confidence: float | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        cluster_field: str | None = None,
        slice_field: str | Sequence[str] | None = None,
        scores: str | Sequence[str] | None = None,
        sort: str | None = None,
    ) -> None: ...

def multilabel(
    *,
    predictions: Any,
    references: Any,
    ids: Any = None,
    fields: Any = None,
    weights: Any = None,
    sample_weight: Any = None,
    profile: Literal['textbook', 'sklearn'] = 'textbook',
    average: Literal['macro', 'weighted', 'micro', 'samples'] = 'macro',
    zero_division: Literal['undefined', '0', '1'] = 'undefined',
    classes: Sequence[str] | str | None = None,
    threshold: float | None = None,
    weight_field: str | None = None,
    delimiter_in_field: str | None = None,
    groups: Literal['none', 'class'] = 'none',
    samples: bool = False,
    details: bool = False,
    missing: Literal['error', 'empty', 'skip'] | None = None,
    null: Literal['error', 'empty', 'skip'] | None = None,
    as_text: bool = False,
    extra: Literal['error', 'ignore'] | None = None,
    where: str | Sequence[str] | None = None,
    threads: int | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    cluster_field: str | None = None,
    slice_field: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    sort: str | None = None,
) -> Result:
    """Several labels per example: precision, recall, F1, Jaccard, Hamming loss; ROC AUC and average precision of scores.

    Args:
        predictions: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a list of labels, or an object with a score for each label.
        references: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a list of labels, each an integer or a string.
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices: a mapping, or a data frame.
        weights: A weight per example, instead of ``weight_field``.
        sample_weight: The same as ``weights``, as scikit-learn calls it.
        profile: With scores: undefined scores stay undefined (textbook), or are 0 as in scikit-learn (sklearn).
        average: How to average over classes, or over examples (samples).
        zero_division: Score to report for 0 / 0, such as the precision of a class that is never predicted.
            scikit-learn uses 0.
        classes: All classes, also those that do not occur [default: all labels of both sides].
        threshold: With scores: predict the labels whose score is at least X.
        weight_field: Field next to the reference with the weight of the example.
        delimiter_in_field: Split texts into labels at this text, such as a space, in CSV and other tables.
        groups: Tables in addition to the total.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.

    Returns:
        The scores ``precision`` (higher is better); ``recall`` (higher is better); ``f1`` (higher is better);
        ``jaccard`` (higher is better); ``subset_accuracy`` (higher is better); ``hamming_loss`` (lower is
        better); ``roc_auc`` (higher is better); ``average_precision`` (higher is better).

    Raises:
        MetricError: An option or a value is wrong.

    >>> import metric_suite
    >>> metric_suite.multilabel(predictions=[["a"], ["b"]], references=[["a"], ["a", "b"]], average="micro")["precision"]
    1.0
    """

class Multilabel(Metric):
    """Several labels per example: precision, recall, F1, Jaccard, Hamming loss; ROC AUC and average precision of scores, in batches.

    Args:
        profile: With scores: undefined scores stay undefined (textbook), or are 0 as in scikit-learn (sklearn).
        average: How to average over classes, or over examples (samples).
        zero_division: Score to report for 0 / 0, such as the precision of a class that is never predicted.
            scikit-learn uses 0.
        classes: All classes, also those that do not occur [default: all labels of both sides].
        threshold: With scores: predict the labels whose score is at least X.
        weight_field: Field next to the reference with the weight of the example.
        delimiter_in_field: Split texts into labels at this text, such as a space, in CSV and other tables.
        groups: Tables in addition to the total.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.
    """
    def __init__(
        self,
        *,
        profile: Literal['textbook', 'sklearn'] = 'textbook',
        average: Literal['macro', 'weighted', 'micro', 'samples'] = 'macro',
        zero_division: Literal['undefined', '0', '1'] = 'undefined',
        classes: Sequence[str] | str | None = None,
        threshold: float | None = None,
        weight_field: str | None = None,
        delimiter_in_field: str | None = None,
        groups: Literal['none', 'class'] = 'none',
        samples: bool = False,
        details: bool = False,
        missing: Literal['error', 'empty', 'skip'] | None = None,
        null: Literal['error', 'empty', 'skip'] | None = None,
        as_text: bool = False,
        extra: Literal['error', 'ignore'] | None = None,
        where: str | Sequence[str] | None = None,
        threads: int | None = None,
        confidence: float | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        cluster_field: str | None = None,
        slice_field: str | Sequence[str] | None = None,
        scores: str | Sequence[str] | None = None,
        sort: str | None = None,
    ) -> None: ...

def accuracy_at_k(
    *,
    predictions: Any,
    references: Any,
    ids: Any = None,
    fields: Any = None,
    weights: Any = None,
    sample_weight: Any = None,
    input: Literal['labels', 'scores'] | None = None,
    k: Sequence[int] | int | None = None,
    ties: Literal['highest-index', 'lowest-index', 'optimistic', 'pessimistic', 'expected'] | None = None,
    average: Literal['micro', 'macro'] | None = None,
    ignore_index: int | None = None,
    weight_field: str | None = None,
    allow_infinite: bool = False,
    samples: bool = False,
    details: bool = False,
    missing: Literal['error', 'empty', 'skip'] | None = None,
    null: Literal['error', 'empty', 'skip'] | None = None,
    as_text: bool = False,
    extra: Literal['error', 'ignore'] | None = None,
    where: str | Sequence[str] | None = None,
    threads: int | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    cluster_field: str | None = None,
    slice_field: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    sort: str | None = None,
) -> Result:
    """Share of examples whose reference is among the first k predicted labels.

    Args:
        predictions: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a list of labels, the most likely first; with input="scores",
            a list of numbers, one per class.
        references: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a label, an integer or a string; with input="scores", the
            index of a score, counted from 0.
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices: a mapping, or a data frame.
        weights: A weight per example, instead of ``weight_field``.
        sample_weight: The same as ``weights``, as scikit-learn calls it.
        input: Form of a prediction: a list of labels, or the scores of all classes. With scores, the reference
            is an index.
        k: Number of first labels that count, or several such numbers [default: 1 and the length of the rows, or
            with scores 1 and 5].
        ties: With scores: tie-breaking rule for classes with equal scores [default: highest-index].
        average: With scores: equal weight for each example (micro) or for each class (macro) [default: micro].
        ignore_index: With scores: leave out examples with this reference, such as -100.
        weight_field: With scores: field next to the reference with the weight of the example.
        allow_infinite: With scores: accept "inf" and "-inf" as scores.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.

    Returns:
        The scores ``accuracy@K`` (higher is better).

    Raises:
        MetricError: An option or a value is wrong.

    >>> import metric_suite
    >>> metric_suite.accuracy_at_k(predictions=[[0.1, 0.9], [0.7, 0.3]], references=[1, 1], k=[1])["accuracy@1"]
    0.5
    """

class AccuracyAtK(Metric):
    """Share of examples whose reference is among the first k predicted labels, in batches.

    Args:
        input: Form of a prediction: a list of labels, or the scores of all classes. With scores, the reference
            is an index.
        k: Number of first labels that count, or several such numbers [default: 1 and the length of the rows, or
            with scores 1 and 5].
        ties: With scores: tie-breaking rule for classes with equal scores [default: highest-index].
        average: With scores: equal weight for each example (micro) or for each class (macro) [default: micro].
        ignore_index: With scores: leave out examples with this reference, such as -100.
        weight_field: With scores: field next to the reference with the weight of the example.
        allow_infinite: With scores: accept "inf" and "-inf" as scores.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.
    """
    def __init__(
        self,
        *,
        input: Literal['labels', 'scores'] | None = None,
        k: Sequence[int] | int | None = None,
        ties: Literal['highest-index', 'lowest-index', 'optimistic', 'pessimistic', 'expected'] | None = None,
        average: Literal['micro', 'macro'] | None = None,
        ignore_index: int | None = None,
        weight_field: str | None = None,
        allow_infinite: bool = False,
        samples: bool = False,
        details: bool = False,
        missing: Literal['error', 'empty', 'skip'] | None = None,
        null: Literal['error', 'empty', 'skip'] | None = None,
        as_text: bool = False,
        extra: Literal['error', 'ignore'] | None = None,
        where: str | Sequence[str] | None = None,
        threads: int | None = None,
        confidence: float | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        cluster_field: str | None = None,
        slice_field: str | Sequence[str] | None = None,
        scores: str | Sequence[str] | None = None,
        sort: str | None = None,
    ) -> None: ...

def mrr(
    *,
    predictions: Any,
    references: Any,
    ids: Any = None,
    fields: Any = None,
    weights: Any = None,
    sample_weight: Any = None,
    input: Literal['labels', 'scores'] | None = None,
    k: int | None = None,
    ties: Literal['highest-index', 'lowest-index', 'optimistic', 'pessimistic', 'expected'] | None = None,
    average: Literal['micro', 'macro'] | None = None,
    ignore_index: int | None = None,
    weight_field: str | None = None,
    allow_infinite: bool = False,
    samples: bool = False,
    details: bool = False,
    missing: Literal['error', 'empty', 'skip'] | None = None,
    null: Literal['error', 'empty', 'skip'] | None = None,
    as_text: bool = False,
    extra: Literal['error', 'ignore'] | None = None,
    where: str | Sequence[str] | None = None,
    threads: int | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    cluster_field: str | None = None,
    slice_field: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    sort: str | None = None,
) -> Result:
    """Mean reciprocal rank of the reference among the predicted labels.

    Args:
        predictions: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a list of labels, the most likely first; with input="scores",
            a list of numbers, one per class.
        references: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a label, an integer or a string; with input="scores", the
            index of a score, counted from 0.
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices: a mapping, or a data frame.
        weights: A weight per example, instead of ``weight_field``.
        sample_weight: The same as ``weights``, as scikit-learn calls it.
        input: Form of a prediction: a list of labels, or the scores of all classes. With scores, the reference
            is an index.
        k: Count only the first K labels.
        ties: With scores: tie-breaking rule for classes with equal scores [default: highest-index].
        average: With scores: equal weight for each example (micro) or for each class (macro) [default: micro].
        ignore_index: With scores: leave out examples with this reference, such as -100.
        weight_field: With scores: field next to the reference with the weight of the example.
        allow_infinite: With scores: accept "inf" and "-inf" as scores.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.

    Returns:
        The scores ``mrr`` (higher is better); ``mrr@K`` (higher is better).

    Raises:
        MetricError: An option or a value is wrong.

    >>> import metric_suite
    >>> metric_suite.mrr(predictions=[["b", "a"]], references=["a"])["mrr"]
    0.5
    """

class MRR(Metric):
    """Mean reciprocal rank of the reference among the predicted labels, in batches.

    Args:
        input: Form of a prediction: a list of labels, or the scores of all classes. With scores, the reference
            is an index.
        k: Count only the first K labels.
        ties: With scores: tie-breaking rule for classes with equal scores [default: highest-index].
        average: With scores: equal weight for each example (micro) or for each class (macro) [default: micro].
        ignore_index: With scores: leave out examples with this reference, such as -100.
        weight_field: With scores: field next to the reference with the weight of the example.
        allow_infinite: With scores: accept "inf" and "-inf" as scores.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.
    """
    def __init__(
        self,
        *,
        input: Literal['labels', 'scores'] | None = None,
        k: int | None = None,
        ties: Literal['highest-index', 'lowest-index', 'optimistic', 'pessimistic', 'expected'] | None = None,
        average: Literal['micro', 'macro'] | None = None,
        ignore_index: int | None = None,
        weight_field: str | None = None,
        allow_infinite: bool = False,
        samples: bool = False,
        details: bool = False,
        missing: Literal['error', 'empty', 'skip'] | None = None,
        null: Literal['error', 'empty', 'skip'] | None = None,
        as_text: bool = False,
        extra: Literal['error', 'ignore'] | None = None,
        where: str | Sequence[str] | None = None,
        threads: int | None = None,
        confidence: float | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        cluster_field: str | None = None,
        slice_field: str | Sequence[str] | None = None,
        scores: str | Sequence[str] | None = None,
        sort: str | None = None,
    ) -> None: ...

def retrieval(
    *,
    predictions: Any,
    references: Any,
    ids: Any = None,
    fields: Any = None,
    profile: Literal['trec-eval-9', 'trec-eval-10', 'sklearn'] = 'trec-eval-9',
    k: Sequence[int] | int | None = None,
    relevance_level: int = 1,
    judged_only: bool = False,
    max_documents: int | None = None,
    gains: Literal['linear', 'exponential'] = 'linear',
    skip_own_id: bool = False,
    samples: bool = False,
    details: bool = False,
    missing: Literal['error', 'empty', 'skip'] | None = None,
    null: Literal['error', 'empty', 'skip'] | None = None,
    as_text: bool = False,
    extra: Literal['error', 'ignore'] | None = None,
    where: str | Sequence[str] | None = None,
    threads: int | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    cluster_field: str | None = None,
    slice_field: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    sort: str | None = None,
) -> Result:
    """Ranked documents of topics: nDCG, MAP, MRR, precision, recall, success, bpref.

    Args:
        predictions: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is an object of documents with their scores, or a list of
            documents, the best first.
        references: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is an object of documents with their relevance, or a list of
            relevant documents.
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices: a mapping, or a data frame.
        profile: Program whose order of documents and rules for ties to follow.
        k: Ranks at which measures are cut. By default 10.
        relevance_level: Least relevance of a relevant document, as -l of trec_eval.
        judged_only: Leave out ranked documents that are not judged, as -J of trec_eval.
        max_documents: Leave out documents after rank N, as -M of trec_eval.
        gains: Gain of a relevance r in nDCG: r (linear) or 2^r - 1 (exponential).
        skip_own_id: Leave out a ranked document whose name is that of the topic, as BEIR does.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.

    Returns:
        The scores ``ndcg`` (higher is better); ``ndcg@K`` (higher is better); ``map`` (higher is better);
        ``map@K`` (higher is better); ``mrr`` (higher is better); ``precision@K`` (higher is better);
        ``recall@K`` (higher is better); ``success@K`` (higher is better); ``r_precision`` (higher is better);
        ``bpref`` (higher is better); ``inf_ap`` (higher is better); ``set_precision`` (higher is better);
        ``set_recall`` (higher is better); ``set_f1`` (higher is better); ``judged@K`` (higher is better).

    Raises:
        MetricError: An option or a value is wrong.

    >>> import metric_suite
    >>> metric_suite.retrieval(predictions={"q": {"x": 0.9, "y": 0.8}}, references={"q": {"y": 1}})["map"]
    0.5
    """

class Retrieval(Metric):
    """Ranked documents of topics: nDCG, MAP, MRR, precision, recall, success, bpref, in batches.

    Args:
        profile: Program whose order of documents and rules for ties to follow.
        k: Ranks at which measures are cut. By default 10.
        relevance_level: Least relevance of a relevant document, as -l of trec_eval.
        judged_only: Leave out ranked documents that are not judged, as -J of trec_eval.
        max_documents: Leave out documents after rank N, as -M of trec_eval.
        gains: Gain of a relevance r in nDCG: r (linear) or 2^r - 1 (exponential).
        skip_own_id: Leave out a ranked document whose name is that of the topic, as BEIR does.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.
    """
    def __init__(
        self,
        *,
        profile: Literal['trec-eval-9', 'trec-eval-10', 'sklearn'] = 'trec-eval-9',
        k: Sequence[int] | int | None = None,
        relevance_level: int = 1,
        judged_only: bool = False,
        max_documents: int | None = None,
        gains: Literal['linear', 'exponential'] = 'linear',
        skip_own_id: bool = False,
        samples: bool = False,
        details: bool = False,
        missing: Literal['error', 'empty', 'skip'] | None = None,
        null: Literal['error', 'empty', 'skip'] | None = None,
        as_text: bool = False,
        extra: Literal['error', 'ignore'] | None = None,
        where: str | Sequence[str] | None = None,
        threads: int | None = None,
        confidence: float | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        cluster_field: str | None = None,
        slice_field: str | Sequence[str] | None = None,
        scores: str | Sequence[str] | None = None,
        sort: str | None = None,
    ) -> None: ...

def regression(
    *,
    predictions: Any,
    references: Any,
    ids: Any = None,
    fields: Any = None,
    weights: Any = None,
    sample_weight: Any = None,
    profile: Literal['textbook', 'sklearn'] = 'textbook',
    weight_field: str | None = None,
    samples: bool = False,
    details: bool = False,
    missing: Literal['error', 'empty', 'skip'] | None = None,
    null: Literal['error', 'empty', 'skip'] | None = None,
    as_text: bool = False,
    extra: Literal['error', 'ignore'] | None = None,
    where: str | Sequence[str] | None = None,
    threads: int | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    cluster_field: str | None = None,
    slice_field: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    sort: str | None = None,
) -> Result:
    """Errors of predicted numbers (MAE, MSE, RMSE, MAPE, the greatest error), R² and Pearson's correlation.

    Args:
        predictions: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a number.
        references: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a number.
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices: a mapping, or a data frame.
        weights: A weight per example, instead of ``weight_field``.
        sample_weight: The same as ``weights``, as scikit-learn calls it.
        profile: R² of constant references: undefined (textbook), or 1 or 0 (sklearn).
        weight_field: Field next to the reference with the weight of the example.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.

    Returns:
        The scores ``mae`` (lower is better); ``mse`` (lower is better); ``rmse`` (lower is better); ``mape``
        (lower is better); ``max_error`` (lower is better); ``r2`` (higher is better); ``pearson`` (higher is
        better).

    Raises:
        MetricError: An option or a value is wrong.

    >>> import metric_suite
    >>> metric_suite.regression(predictions=[1.0, 2.5], references=[1.0, 3.0])["mae"]
    0.25
    """

class Regression(Metric):
    """Errors of predicted numbers (MAE, MSE, RMSE, MAPE, the greatest error), R² and Pearson's correlation, in batches.

    Args:
        profile: R² of constant references: undefined (textbook), or 1 or 0 (sklearn).
        weight_field: Field next to the reference with the weight of the example.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.
    """
    def __init__(
        self,
        *,
        profile: Literal['textbook', 'sklearn'] = 'textbook',
        weight_field: str | None = None,
        samples: bool = False,
        details: bool = False,
        missing: Literal['error', 'empty', 'skip'] | None = None,
        null: Literal['error', 'empty', 'skip'] | None = None,
        as_text: bool = False,
        extra: Literal['error', 'ignore'] | None = None,
        where: str | Sequence[str] | None = None,
        threads: int | None = None,
        confidence: float | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        cluster_field: str | None = None,
        slice_field: str | Sequence[str] | None = None,
        scores: str | Sequence[str] | None = None,
        sort: str | None = None,
    ) -> None: ...

def rank_correlation(
    *,
    predictions: Any,
    references: Any,
    ids: Any = None,
    fields: Any = None,
    samples: bool = False,
    details: bool = False,
    missing: Literal['error', 'empty', 'skip'] | None = None,
    null: Literal['error', 'empty', 'skip'] | None = None,
    as_text: bool = False,
    extra: Literal['error', 'ignore'] | None = None,
    where: str | Sequence[str] | None = None,
    threads: int | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    cluster_field: str | None = None,
    slice_field: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    sort: str | None = None,
) -> Result:
    """Spearman's and Kendall's rank correlations of predicted numbers.

    Args:
        predictions: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a number.
        references: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a number.
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices: a mapping, or a data frame.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.

    Returns:
        The scores ``spearman`` (higher is better); ``kendall`` (higher is better).

    Raises:
        MetricError: An option or a value is wrong.

    >>> import metric_suite
    >>> metric_suite.rank_correlation(predictions=[1, 2, 3], references=[10, 20, 30])["spearman"]
    1.0
    """

class RankCorrelation(Metric):
    """Spearman's and Kendall's rank correlations of predicted numbers, in batches.

    Args:
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.
    """
    def __init__(
        self,
        *,
        samples: bool = False,
        details: bool = False,
        missing: Literal['error', 'empty', 'skip'] | None = None,
        null: Literal['error', 'empty', 'skip'] | None = None,
        as_text: bool = False,
        extra: Literal['error', 'ignore'] | None = None,
        where: str | Sequence[str] | None = None,
        threads: int | None = None,
        confidence: float | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        cluster_field: str | None = None,
        slice_field: str | Sequence[str] | None = None,
        scores: str | Sequence[str] | None = None,
        sort: str | None = None,
    ) -> None: ...

def mean(
    *,
    predictions: Any,
    ids: Any = None,
    fields: Any = None,
    samples: bool = False,
    details: bool = False,
    missing: Literal['error', 'empty', 'skip'] | None = None,
    null: Literal['error', 'empty', 'skip'] | None = None,
    as_text: bool = False,
    extra: Literal['error', 'ignore'] | None = None,
    where: str | Sequence[str] | None = None,
    threads: int | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    cluster_field: str | None = None,
    slice_field: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    sort: str | None = None,
) -> Result:
    """Mean of numbers, or of true and false, that are scores already, such as the grades of a judge.

    Args:
        predictions: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a number, or true or false, which count as 1 and 0.
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices: a mapping, or a data frame.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.

    Returns:
        The scores ``mean`` (higher is better).

    Raises:
        MetricError: An option or a value is wrong.

    >>> import metric_suite
    >>> metric_suite.mean(predictions=[0.5, True, 4])["mean"]
    1.8333...
    """

class Mean(Metric):
    """Mean of numbers, or of true and false, that are scores already, such as the grades of a judge, in batches.

    Args:
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.
    """
    def __init__(
        self,
        *,
        samples: bool = False,
        details: bool = False,
        missing: Literal['error', 'empty', 'skip'] | None = None,
        null: Literal['error', 'empty', 'skip'] | None = None,
        as_text: bool = False,
        extra: Literal['error', 'ignore'] | None = None,
        where: str | Sequence[str] | None = None,
        threads: int | None = None,
        confidence: float | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        cluster_field: str | None = None,
        slice_field: str | Sequence[str] | None = None,
        scores: str | Sequence[str] | None = None,
        sort: str | None = None,
    ) -> None: ...

def coco(
    *,
    predictions: Any,
    references: Any,
    ids: Any = None,
    fields: Any = None,
    iou_type: Literal['bbox', 'segm', 'boundary', 'keypoints', 'obb'] | None = None,
    dilation: float = 0.02,
    oks_sigmas: Sequence[float] | float | None = None,
    iou: Sequence[float] | float | None = None,
    recalls: Sequence[float] | float | None = None,
    areas: Sequence[str] | str | None = None,
    max_detections: Sequence[int] | int | None = None,
    image_key: Literal['id', 'file_name'] = 'id',
    images_list: str | PathLike[str] | None = None,
    image_size: str | None = None,
    columns: str | None = None,
    first_category: Literal['0', '1'] | None = None,
    class_agnostic: bool = False,
    quirks: Literal['none', 'pycocotools'] = 'none',
    groups: Literal['none', 'class'] = 'none',
    box_format: Literal['xyxy', 'xywh', 'cxcywh'] = 'xyxy',
    samples: bool = False,
    details: bool = False,
    missing: Literal['error', 'empty', 'skip'] | None = None,
    null: Literal['error', 'empty', 'skip'] | None = None,
    as_text: bool = False,
    extra: Literal['error', 'ignore'] | None = None,
    where: str | Sequence[str] | None = None,
    threads: int | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    cluster_field: str | None = None,
    slice_field: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    sort: str | None = None,
) -> CocoResult:
    """COCO's average precision and recall of boxes, masks or keypoints, matching pycocotools 2.0.11 (except for the errors under quirks).

    Args:
        predictions: A path, dicts of COCO, ``Boxes``, or a list with one dict (torchmetrics) or ``Detections``
            (supervision) per image. In files: a COCO results file: a list of detections (or JSON Lines), each
            with image_id, category_id, score, and one of bbox, segmentation and keypoints; a folder of results
            (.txt); or one image per record: a list of its detections.
        references: A path, dicts of COCO, ``Boxes``, or a list with one dict (torchmetrics) or ``Detections``
            (supervision) per image. In files: a COCO ground-truth file with images, categories and annotations,
            a folder of Pascal VOC annotations (.xml) or of YOLO labels (.txt), or one image per record: a list
            of its annotations, or {"width", "height", "annotations": [...]}.
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices: a mapping, or a data frame.
        iou_type: Shapes to compare: boxes, masks, masks and their boundaries, keypoints, or four-cornered
            shapes of YOLO's data sets.
        dilation: With iou_type="boundary": width of boundaries, as a share of the diagonal of the image.
        oks_sigmas: With iou_type="keypoints": tolerance of each keypoint, instead of those of data.yaml, or of
            COCO's sigmas of the 17 keypoints of a person.
        iou: IoU thresholds, instead of 0.50,0.55,...,0.95.
        recalls: Recall values at which precision is sampled, instead of 0,0.01,...,1.
        areas: Area ranges in square pixels, both bounds included, instead of
            small:0:1024,medium:1024:9216,large:9216:1e10 (for keypoints, without small).
        max_detections: Maximum numbers of detections per image and class, instead of 1,10,100 (for keypoints,
            20).
        image_key: Meaning of image_id in results: the id of the image, or its file name, with or without folder
            and extension.
        images_list: Score only the images that this file lists, one id or path per line, such as VOC's
            ImageSets/Main/val.txt.
        image_size: Width and height of images, for YOLO files without pictures that can be read. Without it,
            boxes stay in fractions of the image.
        columns: Order of the columns of text results, if it is not the usual one, such as
            class,score,cx,cy,w,h. A column _ is skipped.
        first_category: Number of the first class in predictions.json of Ultralytics, beside a YOLO data set, if
            its ids do not tell.
        class_agnostic: Treat all objects as one class.
        quirks: Reproduce the known errors of a program. They affect annotations with the id 0, a repeated id or
            the field ignore, masks that differ in size from their image, polygons of an odd number of values,
            and AP if 100 is not in max_detections.
        groups: Tables in addition to the total. With class_agnostic there is no table of classes.
        box_format: What boxes in dicts of torchmetrics are: two corners, the upper left corner and the size, or
            the center and the size.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.

    Returns:
        The scores ``AP`` (higher is better); ``APT`` (higher is better); ``AP_AREA`` (higher is better);
        ``AR_N`` (higher is better); ``AR`` (higher is better); ``ART`` (higher is better).

    Raises:
        MetricError: An option or a value is wrong.

    >>> import metric_suite
    >>> metric_suite.coco(predictions=metric_suite.Boxes(image=[1], category=[7], box=[[0, 0, 10, 10]], score=[0.9]), references=metric_suite.Boxes(image=[1], category=[7], box=[[0, 0, 10, 10]]))["AR_100"]
    1.0
    """

class COCO(Metric):
    """COCO's average precision and recall of boxes, masks or keypoints, matching pycocotools 2.0.11 (except for the errors under quirks), in batches.

    Args:
        iou_type: Shapes to compare: boxes, masks, masks and their boundaries, keypoints, or four-cornered
            shapes of YOLO's data sets.
        dilation: With iou_type="boundary": width of boundaries, as a share of the diagonal of the image.
        oks_sigmas: With iou_type="keypoints": tolerance of each keypoint, instead of those of data.yaml, or of
            COCO's sigmas of the 17 keypoints of a person.
        iou: IoU thresholds, instead of 0.50,0.55,...,0.95.
        recalls: Recall values at which precision is sampled, instead of 0,0.01,...,1.
        areas: Area ranges in square pixels, both bounds included, instead of
            small:0:1024,medium:1024:9216,large:9216:1e10 (for keypoints, without small).
        max_detections: Maximum numbers of detections per image and class, instead of 1,10,100 (for keypoints,
            20).
        image_key: Meaning of image_id in results: the id of the image, or its file name, with or without folder
            and extension.
        images_list: Score only the images that this file lists, one id or path per line, such as VOC's
            ImageSets/Main/val.txt.
        image_size: Width and height of images, for YOLO files without pictures that can be read. Without it,
            boxes stay in fractions of the image.
        columns: Order of the columns of text results, if it is not the usual one, such as
            class,score,cx,cy,w,h. A column _ is skipped.
        first_category: Number of the first class in predictions.json of Ultralytics, beside a YOLO data set, if
            its ids do not tell.
        class_agnostic: Treat all objects as one class.
        quirks: Reproduce the known errors of a program. They affect annotations with the id 0, a repeated id or
            the field ignore, masks that differ in size from their image, polygons of an odd number of values,
            and AP if 100 is not in max_detections.
        groups: Tables in addition to the total. With class_agnostic there is no table of classes.
        box_format: What boxes in dicts of torchmetrics are: two corners, the upper left corner and the size, or
            the center and the size.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.
    """
    def __init__(
        self,
        *,
        iou_type: Literal['bbox', 'segm', 'boundary', 'keypoints', 'obb'] | None = None,
        dilation: float = 0.02,
        oks_sigmas: Sequence[float] | float | None = None,
        iou: Sequence[float] | float | None = None,
        recalls: Sequence[float] | float | None = None,
        areas: Sequence[str] | str | None = None,
        max_detections: Sequence[int] | int | None = None,
        image_key: Literal['id', 'file_name'] = 'id',
        images_list: str | PathLike[str] | None = None,
        image_size: str | None = None,
        columns: str | None = None,
        first_category: Literal['0', '1'] | None = None,
        class_agnostic: bool = False,
        quirks: Literal['none', 'pycocotools'] = 'none',
        groups: Literal['none', 'class'] = 'none',
        box_format: Literal['xyxy', 'xywh', 'cxcywh'] = 'xyxy',
        samples: bool = False,
        details: bool = False,
        missing: Literal['error', 'empty', 'skip'] | None = None,
        null: Literal['error', 'empty', 'skip'] | None = None,
        as_text: bool = False,
        extra: Literal['error', 'ignore'] | None = None,
        where: str | Sequence[str] | None = None,
        threads: int | None = None,
        confidence: float | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        cluster_field: str | None = None,
        slice_field: str | Sequence[str] | None = None,
        scores: str | Sequence[str] | None = None,
        sort: str | None = None,
    ) -> None: ...

def lvis(
    *,
    predictions: Any,
    references: Any,
    ids: Any = None,
    fields: Any = None,
    iou_type: Literal['bbox', 'segm', 'boundary'] | None = None,
    dilation: float = 0.02,
    max_detections: str | None = None,
    fixed: int | None = None,
    iou: Sequence[float] | float | None = None,
    recalls: Sequence[float] | float | None = None,
    areas: Sequence[str] | str | None = None,
    image_key: Literal['id', 'file_name'] = 'id',
    images_list: str | PathLike[str] | None = None,
    quirks: Literal['none', 'lvis'] = 'none',
    groups: Literal['none', 'class', 'frequency'] = 'none',
    box_format: Literal['xyxy', 'xywh', 'cxcywh'] = 'xyxy',
    samples: bool = False,
    details: bool = False,
    missing: Literal['error', 'empty', 'skip'] | None = None,
    null: Literal['error', 'empty', 'skip'] | None = None,
    as_text: bool = False,
    extra: Literal['error', 'ignore'] | None = None,
    where: str | Sequence[str] | None = None,
    threads: int | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    cluster_field: str | None = None,
    slice_field: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    sort: str | None = None,
) -> CocoResult:
    """LVIS's average precision and recall of boxes or masks, matching lvis 0.5.3 (except for the error under quirks).

    Args:
        predictions: A path, dicts of COCO, ``Boxes``, or a list with one dict (torchmetrics) or ``Detections``
            (supervision) per image. In files: a COCO results file: a list of detections (or JSON Lines), each
            with image_id, category_id, score, and bbox or segmentation; or one image per record: a list of its
            detections.
        references: A path, dicts of COCO, ``Boxes``, or a list with one dict (torchmetrics) or ``Detections``
            (supervision) per image. In files: an LVIS ground-truth file: COCO's, in which images have
            neg_category_ids and not_exhaustive_category_ids, and categories a frequency; or one image per
            record: {"annotations": [...], "neg_category_ids": [...], "not_exhaustive_category_ids": [...]}.
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices: a mapping, or a data frame.
        iou_type: Shapes to compare: boxes, masks, or masks and their boundaries.
        dilation: With iou_type="boundary": width of boundaries, as a share of the diagonal of the image.
        max_detections: Maximum number of detections per image, over all classes, or all (without it, 300).
        fixed: Fixed AP: count the N best detections of each class instead, usually 10000.
        iou: IoU thresholds, instead of 0.50,0.55,...,0.95.
        recalls: Recall values at which precision is sampled, instead of 0,0.01,...,1.
        areas: Area ranges in square pixels, both bounds included, instead of
            small:0:1024,medium:1024:9216,large:9216:1e10.
        image_key: Meaning of image_id in results: the id of the image, or its file name, with or without folder
            and extension.
        images_list: Score only the images that this file lists, one id or path per line, such as VOC's
            ImageSets/Main/val.txt.
        quirks: Reproduce the known error of lvis, which counts a match with the annotation id 0 as none.
        groups: Tables in addition to the total.
        box_format: What boxes in dicts of torchmetrics are: two corners, the upper left corner and the size, or
            the center and the size.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.

    Returns:
        The scores ``AP`` (higher is better); ``APT`` (higher is better); ``AP_AREA`` (higher is better);
        ``AP_FREQUENCY`` (higher is better); ``AR_N`` (higher is better); ``AR`` (higher is better).

    Raises:
        MetricError: An option or a value is wrong.

    >>> import metric_suite
    >>> metric_suite.lvis(predictions=metric_suite.Boxes(image=[1], category=[7], box=[[0, 0, 10, 10]], score=[0.9]), references=metric_suite.Boxes(image=[1], category=[7], box=[[0, 0, 10, 10]]))["AR_300"]
    1.0
    """

class LVIS(Metric):
    """LVIS's average precision and recall of boxes or masks, matching lvis 0.5.3 (except for the error under quirks), in batches.

    Args:
        iou_type: Shapes to compare: boxes, masks, or masks and their boundaries.
        dilation: With iou_type="boundary": width of boundaries, as a share of the diagonal of the image.
        max_detections: Maximum number of detections per image, over all classes, or all (without it, 300).
        fixed: Fixed AP: count the N best detections of each class instead, usually 10000.
        iou: IoU thresholds, instead of 0.50,0.55,...,0.95.
        recalls: Recall values at which precision is sampled, instead of 0,0.01,...,1.
        areas: Area ranges in square pixels, both bounds included, instead of
            small:0:1024,medium:1024:9216,large:9216:1e10.
        image_key: Meaning of image_id in results: the id of the image, or its file name, with or without folder
            and extension.
        images_list: Score only the images that this file lists, one id or path per line, such as VOC's
            ImageSets/Main/val.txt.
        quirks: Reproduce the known error of lvis, which counts a match with the annotation id 0 as none.
        groups: Tables in addition to the total.
        box_format: What boxes in dicts of torchmetrics are: two corners, the upper left corner and the size, or
            the center and the size.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.
    """
    def __init__(
        self,
        *,
        iou_type: Literal['bbox', 'segm', 'boundary'] | None = None,
        dilation: float = 0.02,
        max_detections: str | None = None,
        fixed: int | None = None,
        iou: Sequence[float] | float | None = None,
        recalls: Sequence[float] | float | None = None,
        areas: Sequence[str] | str | None = None,
        image_key: Literal['id', 'file_name'] = 'id',
        images_list: str | PathLike[str] | None = None,
        quirks: Literal['none', 'lvis'] = 'none',
        groups: Literal['none', 'class', 'frequency'] = 'none',
        box_format: Literal['xyxy', 'xywh', 'cxcywh'] = 'xyxy',
        samples: bool = False,
        details: bool = False,
        missing: Literal['error', 'empty', 'skip'] | None = None,
        null: Literal['error', 'empty', 'skip'] | None = None,
        as_text: bool = False,
        extra: Literal['error', 'ignore'] | None = None,
        where: str | Sequence[str] | None = None,
        threads: int | None = None,
        confidence: float | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        cluster_field: str | None = None,
        slice_field: str | Sequence[str] | None = None,
        scores: str | Sequence[str] | None = None,
        sort: str | None = None,
    ) -> None: ...

def voc(
    *,
    predictions: Any,
    references: Any,
    ids: Any = None,
    fields: Any = None,
    iou: float = 0.5,
    interpolation: Literal['every', '11'] = 'every',
    strict: bool = False,
    pixel_plus_one: bool = False,
    iou_type: Literal['bbox', 'obb', 'segm'] | None = None,
    image_key: Literal['id', 'file_name'] = 'id',
    images_list: str | PathLike[str] | None = None,
    image_size: str | None = None,
    columns: str | None = None,
    first_category: Literal['0', '1'] | None = None,
    groups: Literal['none', 'class'] = 'class',
    box_format: Literal['xyxy', 'xywh', 'cxcywh'] = 'xyxy',
    samples: bool = False,
    details: bool = False,
    missing: Literal['error', 'empty', 'skip'] | None = None,
    null: Literal['error', 'empty', 'skip'] | None = None,
    as_text: bool = False,
    extra: Literal['error', 'ignore'] | None = None,
    where: str | Sequence[str] | None = None,
    threads: int | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    cluster_field: str | None = None,
    slice_field: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    sort: str | None = None,
) -> Result:
    """Pascal VOC's average precision of boxes.

    Args:
        predictions: A path, dicts of COCO, ``Boxes``, or a list with one dict (torchmetrics) or ``Detections``
            (supervision) per image. In files: a COCO results file (.json), a folder of results by class or by
            image (.txt), or one of YOLO's labels with confidences (.txt).
        references: A path, dicts of COCO, ``Boxes``, or a list with one dict (torchmetrics) or ``Detections``
            (supervision) per image. In files: a COCO ground-truth file (.json), a folder of Pascal VOC's
            annotations (.xml, or .txt with lines `class xmin ymin xmax ymax`), or one of YOLO's labels (.txt).
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices: a mapping, or a data frame.
        iou: IoU threshold of a match.
        interpolation: Area under every point of the curve (since VOC 2010), or mean at 11 recalls (before).
        strict: Match only above the IoU threshold, as in py-faster-rcnn and Detectron.
        pixel_plus_one: Treat a box from x1 to x2 as x2 - x1 + 1 wide, as in VOC's development kit.
        iou_type: Shapes to compare: boxes, four-cornered shapes of YOLO's data sets, or masks.
        image_key: Meaning of image_id in results: the id of the image, or its file name, with or without folder
            and extension.
        images_list: Score only the images that this file lists, one id or path per line, such as VOC's
            ImageSets/Main/val.txt.
        image_size: Width and height of images, for YOLO files without pictures that can be read. Without it,
            boxes stay in fractions of the image.
        columns: Order of the columns of text results, if it is not the usual one, such as
            class,score,cx,cy,w,h. A column _ is skipped.
        first_category: Number of the first class in predictions.json of Ultralytics, beside a YOLO data set, if
            its ids do not tell.
        groups: Tables in addition to the total.
        box_format: What boxes in dicts of torchmetrics are: two corners, the upper left corner and the size, or
            the center and the size.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.

    Returns:
        The scores ``mAP`` (higher is better); ``AP`` (higher is better).

    Raises:
        MetricError: An option or a value is wrong.

    >>> import metric_suite
    >>> metric_suite.voc(predictions=metric_suite.Boxes(image=[1], category=[7], box=[[0, 0, 10, 10]], score=[0.9]), references=metric_suite.Boxes(image=[1], category=[7], box=[[0, 0, 10, 10]]))["mAP"]
    1.0
    """

class VOC(Metric):
    """Pascal VOC's average precision of boxes, in batches.

    Args:
        iou: IoU threshold of a match.
        interpolation: Area under every point of the curve (since VOC 2010), or mean at 11 recalls (before).
        strict: Match only above the IoU threshold, as in py-faster-rcnn and Detectron.
        pixel_plus_one: Treat a box from x1 to x2 as x2 - x1 + 1 wide, as in VOC's development kit.
        iou_type: Shapes to compare: boxes, four-cornered shapes of YOLO's data sets, or masks.
        image_key: Meaning of image_id in results: the id of the image, or its file name, with or without folder
            and extension.
        images_list: Score only the images that this file lists, one id or path per line, such as VOC's
            ImageSets/Main/val.txt.
        image_size: Width and height of images, for YOLO files without pictures that can be read. Without it,
            boxes stay in fractions of the image.
        columns: Order of the columns of text results, if it is not the usual one, such as
            class,score,cx,cy,w,h. A column _ is skipped.
        first_category: Number of the first class in predictions.json of Ultralytics, beside a YOLO data set, if
            its ids do not tell.
        groups: Tables in addition to the total.
        box_format: What boxes in dicts of torchmetrics are: two corners, the upper left corner and the size, or
            the center and the size.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.
    """
    def __init__(
        self,
        *,
        iou: float = 0.5,
        interpolation: Literal['every', '11'] = 'every',
        strict: bool = False,
        pixel_plus_one: bool = False,
        iou_type: Literal['bbox', 'obb', 'segm'] | None = None,
        image_key: Literal['id', 'file_name'] = 'id',
        images_list: str | PathLike[str] | None = None,
        image_size: str | None = None,
        columns: str | None = None,
        first_category: Literal['0', '1'] | None = None,
        groups: Literal['none', 'class'] = 'class',
        box_format: Literal['xyxy', 'xywh', 'cxcywh'] = 'xyxy',
        samples: bool = False,
        details: bool = False,
        missing: Literal['error', 'empty', 'skip'] | None = None,
        null: Literal['error', 'empty', 'skip'] | None = None,
        as_text: bool = False,
        extra: Literal['error', 'ignore'] | None = None,
        where: str | Sequence[str] | None = None,
        threads: int | None = None,
        confidence: float | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        cluster_field: str | None = None,
        slice_field: str | Sequence[str] | None = None,
        scores: str | Sequence[str] | None = None,
        sort: str | None = None,
    ) -> None: ...

def detection(
    *,
    predictions: Any,
    references: Any,
    ids: Any = None,
    fields: Any = None,
    profile: Literal['one-to-one', 'fusion-brain-2021', 'fusion-brain-baseline', 'seed-text'] = 'one-to-one',
    matching: Literal['optimal', 'greedy', 'voc', 'voc-strict', 'optimal-sum', 'any-overlap'] | None = None,
    iou: Sequence[float] | float | None = None,
    score_threshold: Sequence[float] | float | None = None,
    best_f1: bool = False,
    box: Literal['xywh', 'xyxy', 'cxcywh', 'rotated', 'rotated-degrees', 'polygon'] = 'xywh',
    groups: Sequence[Literal['class', 'image', 'both', 'none']] | str | None = None,
    image_key: Literal['id', 'file_name'] = 'id',
    images_list: str | PathLike[str] | None = None,
    image_size: str | None = None,
    columns: str | None = None,
    first_category: Literal['0', '1'] | None = None,
    box_format: Literal['xyxy', 'xywh', 'cxcywh'] = 'xyxy',
    samples: bool = False,
    details: bool = False,
    missing: Literal['error', 'empty', 'skip'] | None = None,
    null: Literal['error', 'empty', 'skip'] | None = None,
    as_text: bool = False,
    extra: Literal['error', 'ignore'] | None = None,
    where: str | Sequence[str] | None = None,
    threads: int | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    cluster_field: str | None = None,
    slice_field: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    sort: str | None = None,
) -> Result:
    """Precision, recall and F1 of boxes under a matching rule that you choose.

    Args:
        predictions: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file, or a data set; each value is a list of boxes, or of {"box": [...], "score":
            s}; or {class: [...]}; or a COCO results file, or a folder of results (.txt).
        references: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file, or a data set; each value is a list of boxes, or of {"box": [...], "crowd":
            true, "ignore": true}, of one image and class, with `class` and `image` next to it if known, or
            {class: [box]} of one image; or a COCO ground-truth file, or a folder of Pascal VOC's annotations
            (.xml) or of YOLO's labels (.txt).
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices: a mapping, or a data frame.
        profile: Convention to follow.
        matching: Matching rule, instead of the one of the profile.
        iou: IoU threshold of a match. With several, scores have names like f1@0.5. By default 0.5.
        score_threshold: Leave out detections below this score. With several, scores have names like f1@0.5,0.3,
            with the IoU first [default: all].
        best_f1: Also report best_f1, the highest F1 at any score threshold, and best_f1_score, that threshold.
            Needs matching="greedy", voc or voc-strict. With details, the whole precision-recall curve is
            written.
        box: Numbers of a box: xywh is [x,y,width,height] from the top left corner, xyxy two corners, cxcywh the
            center and the size, rotated [cx,cy,w,h,angle] in radians, polygon [[x,y],...].
        groups: Tables in addition to the total: class, image, both, or none. By default class.
        image_key: Meaning of image_id in results: the id of the image, or its file name, with or without folder
            and extension.
        images_list: Score only the images that this file lists, one id or path per line, such as VOC's
            ImageSets/Main/val.txt.
        image_size: Width and height of images, for YOLO files without pictures that can be read. Without it,
            boxes stay in fractions of the image.
        columns: Order of the columns of text results, if it is not the usual one, such as
            class,score,cx,cy,w,h. A column _ is skipped.
        first_category: Number of the first class in predictions.json of Ultralytics, beside a YOLO data set, if
            its ids do not tell.
        box_format: What boxes in dicts of torchmetrics are: two corners, the upper left corner and the size, or
            the center and the size.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.

    Returns:
        The scores ``precision`` (higher is better); ``recall`` (higher is better); ``f1`` (higher is better);
        ``macro_precision`` (higher is better); ``macro_recall`` (higher is better); ``macro_f1`` (higher is
        better); ``best_f1`` (higher is better); ``best_f1_score`` (neither direction is better);
        ``precision@T`` (higher is better); ``recall@T`` (higher is better); ``f1@T`` (higher is better);
        ``macro_precision@T`` (higher is better); ``macro_recall@T`` (higher is better); ``macro_f1@T`` (higher
        is better); ``best_f1@T`` (higher is better); ``best_f1_score@T`` (neither direction is better).

    Raises:
        MetricError: An option or a value is wrong.

    >>> import metric_suite
    >>> metric_suite.detection(predictions=metric_suite.Boxes(image=[1], category=[7], box=[[0, 0, 10, 10]], score=[0.9]), references=metric_suite.Boxes(image=[1], category=[7], box=[[0, 0, 10, 10]]))["f1"]
    1.0
    """

class Detection(Metric):
    """Precision, recall and F1 of boxes under a matching rule that you choose, in batches.

    Args:
        profile: Convention to follow.
        matching: Matching rule, instead of the one of the profile.
        iou: IoU threshold of a match. With several, scores have names like f1@0.5. By default 0.5.
        score_threshold: Leave out detections below this score. With several, scores have names like f1@0.5,0.3,
            with the IoU first [default: all].
        best_f1: Also report best_f1, the highest F1 at any score threshold, and best_f1_score, that threshold.
            Needs matching="greedy", voc or voc-strict. With details, the whole precision-recall curve is
            written.
        box: Numbers of a box: xywh is [x,y,width,height] from the top left corner, xyxy two corners, cxcywh the
            center and the size, rotated [cx,cy,w,h,angle] in radians, polygon [[x,y],...].
        groups: Tables in addition to the total: class, image, both, or none. By default class.
        image_key: Meaning of image_id in results: the id of the image, or its file name, with or without folder
            and extension.
        images_list: Score only the images that this file lists, one id or path per line, such as VOC's
            ImageSets/Main/val.txt.
        image_size: Width and height of images, for YOLO files without pictures that can be read. Without it,
            boxes stay in fractions of the image.
        columns: Order of the columns of text results, if it is not the usual one, such as
            class,score,cx,cy,w,h. A column _ is skipped.
        first_category: Number of the first class in predictions.json of Ultralytics, beside a YOLO data set, if
            its ids do not tell.
        box_format: What boxes in dicts of torchmetrics are: two corners, the upper left corner and the size, or
            the center and the size.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.
    """
    def __init__(
        self,
        *,
        profile: Literal['one-to-one', 'fusion-brain-2021', 'fusion-brain-baseline', 'seed-text'] = 'one-to-one',
        matching: Literal['optimal', 'greedy', 'voc', 'voc-strict', 'optimal-sum', 'any-overlap'] | None = None,
        iou: Sequence[float] | float | None = None,
        score_threshold: Sequence[float] | float | None = None,
        best_f1: bool = False,
        box: Literal['xywh', 'xyxy', 'cxcywh', 'rotated', 'rotated-degrees', 'polygon'] = 'xywh',
        groups: Sequence[Literal['class', 'image', 'both', 'none']] | str | None = None,
        image_key: Literal['id', 'file_name'] = 'id',
        images_list: str | PathLike[str] | None = None,
        image_size: str | None = None,
        columns: str | None = None,
        first_category: Literal['0', '1'] | None = None,
        box_format: Literal['xyxy', 'xywh', 'cxcywh'] = 'xyxy',
        samples: bool = False,
        details: bool = False,
        missing: Literal['error', 'empty', 'skip'] | None = None,
        null: Literal['error', 'empty', 'skip'] | None = None,
        as_text: bool = False,
        extra: Literal['error', 'ignore'] | None = None,
        where: str | Sequence[str] | None = None,
        threads: int | None = None,
        confidence: float | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        cluster_field: str | None = None,
        slice_field: str | Sequence[str] | None = None,
        scores: str | Sequence[str] | None = None,
        sort: str | None = None,
    ) -> None: ...

def tide(
    *,
    predictions: Any,
    references: Any,
    ids: Any = None,
    fields: Any = None,
    iou: float = 0.5,
    background: float = 0.1,
    max_detections: int = 100,
    image_key: Literal['id', 'file_name'] = 'id',
    images_list: str | PathLike[str] | None = None,
    image_size: str | None = None,
    columns: str | None = None,
    first_category: Literal['0', '1'] | None = None,
    box_format: Literal['xyxy', 'xywh', 'cxcywh'] = 'xyxy',
    samples: bool = False,
    details: bool = False,
    missing: Literal['error', 'empty', 'skip'] | None = None,
    null: Literal['error', 'empty', 'skip'] | None = None,
    as_text: bool = False,
    extra: Literal['error', 'ignore'] | None = None,
    where: str | Sequence[str] | None = None,
    threads: int | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    cluster_field: str | None = None,
    slice_field: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    sort: str | None = None,
) -> Result:
    """TIDE: average precision that each of six types of box errors costs, matching tidecv 1.0.1.

    Args:
        predictions: A path, dicts of COCO, ``Boxes``, or a list with one dict (torchmetrics) or ``Detections``
            (supervision) per image. In files: a COCO results file (.json), a folder of results by class or by
            image (.txt), or one of YOLO's labels with confidences (.txt).
        references: A path, dicts of COCO, ``Boxes``, or a list with one dict (torchmetrics) or ``Detections``
            (supervision) per image. In files: a COCO ground-truth file (.json), a folder of Pascal VOC's
            annotations (.xml, or .txt with lines `class xmin ymin xmax ymax`), or one of YOLO's labels (.txt).
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices: a mapping, or a data frame.
        iou: IoU threshold of a match.
        background: Largest IoU of a detection that belongs to the background.
        max_detections: Number of detections per image that count.
        image_key: Meaning of image_id in results: the id of the image, or its file name, with or without folder
            and extension.
        images_list: Score only the images that this file lists, one id or path per line, such as VOC's
            ImageSets/Main/val.txt.
        image_size: Width and height of images, for YOLO files without pictures that can be read. Without it,
            boxes stay in fractions of the image.
        columns: Order of the columns of text results, if it is not the usual one, such as
            class,score,cx,cy,w,h. A column _ is skipped.
        first_category: Number of the first class in predictions.json of Ultralytics, beside a YOLO data set, if
            its ids do not tell.
        box_format: What boxes in dicts of torchmetrics are: two corners, the upper left corner and the size, or
            the center and the size.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.

    Returns:
        The scores ``AP`` (higher is better); ``dAP_ERROR`` (lower is better).

    Raises:
        MetricError: An option or a value is wrong.

    >>> import metric_suite
    >>> metric_suite.tide(predictions=metric_suite.Boxes(image=[1], category=[7], box=[[0, 0, 10, 10]], score=[0.9]), references=metric_suite.Boxes(image=[1], category=[7], box=[[0, 0, 10, 10]]))["AP"]
    1.0
    """

class TIDE(Metric):
    """TIDE: average precision that each of six types of box errors costs, matching tidecv 1.0.1, in batches.

    Args:
        iou: IoU threshold of a match.
        background: Largest IoU of a detection that belongs to the background.
        max_detections: Number of detections per image that count.
        image_key: Meaning of image_id in results: the id of the image, or its file name, with or without folder
            and extension.
        images_list: Score only the images that this file lists, one id or path per line, such as VOC's
            ImageSets/Main/val.txt.
        image_size: Width and height of images, for YOLO files without pictures that can be read. Without it,
            boxes stay in fractions of the image.
        columns: Order of the columns of text results, if it is not the usual one, such as
            class,score,cx,cy,w,h. A column _ is skipped.
        first_category: Number of the first class in predictions.json of Ultralytics, beside a YOLO data set, if
            its ids do not tell.
        box_format: What boxes in dicts of torchmetrics are: two corners, the upper left corner and the size, or
            the center and the size.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.
    """
    def __init__(
        self,
        *,
        iou: float = 0.5,
        background: float = 0.1,
        max_detections: int = 100,
        image_key: Literal['id', 'file_name'] = 'id',
        images_list: str | PathLike[str] | None = None,
        image_size: str | None = None,
        columns: str | None = None,
        first_category: Literal['0', '1'] | None = None,
        box_format: Literal['xyxy', 'xywh', 'cxcywh'] = 'xyxy',
        samples: bool = False,
        details: bool = False,
        missing: Literal['error', 'empty', 'skip'] | None = None,
        null: Literal['error', 'empty', 'skip'] | None = None,
        as_text: bool = False,
        extra: Literal['error', 'ignore'] | None = None,
        where: str | Sequence[str] | None = None,
        threads: int | None = None,
        confidence: float | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        cluster_field: str | None = None,
        slice_field: str | Sequence[str] | None = None,
        scores: str | Sequence[str] | None = None,
        sort: str | None = None,
    ) -> None: ...

def confusion_matrix(
    *,
    predictions: Any,
    references: Any,
    ids: Any = None,
    fields: Any = None,
    profile: Literal['hotcoco', 'ultralytics', 'ultralytics-8.4.37', 'ultralytics-8.0'] = 'hotcoco',
    iou: float | None = None,
    score_threshold: float | None = None,
    iou_type: Literal['bbox', 'segm', 'obb', 'keypoints'] | None = None,
    prefer_class: bool = False,
    image_key: Literal['id', 'file_name'] = 'id',
    images_list: str | PathLike[str] | None = None,
    image_size: str | None = None,
    columns: str | None = None,
    first_category: Literal['0', '1'] | None = None,
    groups: Literal['none', 'class'] = 'class',
    box_format: Literal['xyxy', 'xywh', 'cxcywh'] = 'xyxy',
    samples: bool = False,
    details: bool = False,
    missing: Literal['error', 'empty', 'skip'] | None = None,
    null: Literal['error', 'empty', 'skip'] | None = None,
    as_text: bool = False,
    extra: Literal['error', 'ignore'] | None = None,
    where: str | Sequence[str] | None = None,
    threads: int | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    cluster_field: str | None = None,
    slice_field: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    sort: str | None = None,
) -> Result:
    """Confusion matrix of box classes and the background.

    Args:
        predictions: A path, dicts of COCO, ``Boxes``, or a list with one dict (torchmetrics) or ``Detections``
            (supervision) per image. In files: a COCO results file (.json), a folder of results by class or by
            image (.txt), or one of YOLO's labels with confidences (.txt).
        references: A path, dicts of COCO, ``Boxes``, or a list with one dict (torchmetrics) or ``Detections``
            (supervision) per image. In files: a COCO ground-truth file (.json), a folder of Pascal VOC's
            annotations (.xml, or .txt with lines `class xmin ymin xmax ymax`), or one of YOLO's labels (.txt).
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices: a mapping, or a data frame.
        profile: Matching rule and thresholds to follow.
        iou: IoU threshold of a match [default: 0.5], which Ultralytics' must be above [default: 0.45].
        score_threshold: Leave out detections below this score, of Ultralytics' also those at it [default: none,
            0.001, or 0.25 of the older].
        iou_type: Kind of the objects in text files, instead of the one that they tell; boxes are compared, also
            those of segments and poses.
        prefer_class: Match an object of the same class, of several whose boxes are equal.
        image_key: Meaning of image_id in results: the id of the image, or its file name, with or without folder
            and extension.
        images_list: Score only the images that this file lists, one id or path per line, such as VOC's
            ImageSets/Main/val.txt.
        image_size: Width and height of images, for YOLO files without pictures that can be read. Without it,
            boxes stay in fractions of the image.
        columns: Order of the columns of text results, if it is not the usual one, such as
            class,score,cx,cy,w,h. A column _ is skipped.
        first_category: Number of the first class in predictions.json of Ultralytics, beside a YOLO data set, if
            its ids do not tell.
        groups: Tables in addition to the total. details writes the matrix, for more than 2,000 classes as a
            list of cells.
        box_format: What boxes in dicts of torchmetrics are: two corners, the upper left corner and the size, or
            the center and the size.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.

    Returns:
        The scores ``precision`` (higher is better); ``recall`` (higher is better); ``f1`` (higher is better).

    Raises:
        MetricError: An option or a value is wrong.

    >>> import metric_suite
    >>> metric_suite.confusion_matrix(predictions=metric_suite.Boxes(image=[1], category=[7], box=[[0, 0, 10, 10]], score=[0.9]), references=metric_suite.Boxes(image=[1], category=[7], box=[[0, 0, 10, 10]]))["f1"]
    1.0
    """

class ConfusionMatrix(Metric):
    """Confusion matrix of box classes and the background, in batches.

    Args:
        profile: Matching rule and thresholds to follow.
        iou: IoU threshold of a match [default: 0.5], which Ultralytics' must be above [default: 0.45].
        score_threshold: Leave out detections below this score, of Ultralytics' also those at it [default: none,
            0.001, or 0.25 of the older].
        iou_type: Kind of the objects in text files, instead of the one that they tell; boxes are compared, also
            those of segments and poses.
        prefer_class: Match an object of the same class, of several whose boxes are equal.
        image_key: Meaning of image_id in results: the id of the image, or its file name, with or without folder
            and extension.
        images_list: Score only the images that this file lists, one id or path per line, such as VOC's
            ImageSets/Main/val.txt.
        image_size: Width and height of images, for YOLO files without pictures that can be read. Without it,
            boxes stay in fractions of the image.
        columns: Order of the columns of text results, if it is not the usual one, such as
            class,score,cx,cy,w,h. A column _ is skipped.
        first_category: Number of the first class in predictions.json of Ultralytics, beside a YOLO data set, if
            its ids do not tell.
        groups: Tables in addition to the total. details writes the matrix, for more than 2,000 classes as a
            list of cells.
        box_format: What boxes in dicts of torchmetrics are: two corners, the upper left corner and the size, or
            the center and the size.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.
    """
    def __init__(
        self,
        *,
        profile: Literal['hotcoco', 'ultralytics', 'ultralytics-8.4.37', 'ultralytics-8.0'] = 'hotcoco',
        iou: float | None = None,
        score_threshold: float | None = None,
        iou_type: Literal['bbox', 'segm', 'obb', 'keypoints'] | None = None,
        prefer_class: bool = False,
        image_key: Literal['id', 'file_name'] = 'id',
        images_list: str | PathLike[str] | None = None,
        image_size: str | None = None,
        columns: str | None = None,
        first_category: Literal['0', '1'] | None = None,
        groups: Literal['none', 'class'] = 'class',
        box_format: Literal['xyxy', 'xywh', 'cxcywh'] = 'xyxy',
        samples: bool = False,
        details: bool = False,
        missing: Literal['error', 'empty', 'skip'] | None = None,
        null: Literal['error', 'empty', 'skip'] | None = None,
        as_text: bool = False,
        extra: Literal['error', 'ignore'] | None = None,
        where: str | Sequence[str] | None = None,
        threads: int | None = None,
        confidence: float | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        cluster_field: str | None = None,
        slice_field: str | Sequence[str] | None = None,
        scores: str | Sequence[str] | None = None,
        sort: str | None = None,
    ) -> None: ...

def ultralytics(
    *,
    predictions: Any,
    references: Any,
    ids: Any = None,
    fields: Any = None,
    profile: Literal['8.4.176', '8.4.37', '8.0'] = '8.4.176',
    iou_type: Literal['bbox', 'segm', 'obb', 'keypoints'] | None = None,
    max_detections: int = 300,
    score_threshold: float | None = None,
    oks_sigmas: Sequence[float] | float | None = None,
    image_key: Literal['id', 'file_name'] = 'id',
    images_list: str | PathLike[str] | None = None,
    image_size: str | None = None,
    columns: str | None = None,
    first_category: Literal['0', '1'] | None = None,
    groups: Literal['none', 'class'] = 'none',
    box_format: Literal['xyxy', 'xywh', 'cxcywh'] = 'xyxy',
    samples: bool = False,
    details: bool = False,
    missing: Literal['error', 'empty', 'skip'] | None = None,
    null: Literal['error', 'empty', 'skip'] | None = None,
    as_text: bool = False,
    extra: Literal['error', 'ignore'] | None = None,
    where: str | Sequence[str] | None = None,
    threads: int | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    cluster_field: str | None = None,
    slice_field: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    sort: str | None = None,
) -> Result:
    """P, R, mAP50 and mAP50-95 of YOLO data sets as Ultralytics prints them: boxes, segments, oriented boxes and poses.

    Args:
        predictions: A path, dicts of COCO, ``Boxes``, or a list with one dict (torchmetrics) or ``Detections``
            (supervision) per image. In files: a COCO results file (.json), a folder of results by class or by
            image (.txt), or one of YOLO's labels with confidences (.txt).
        references: A path, dicts of COCO, ``Boxes``, or a list with one dict (torchmetrics) or ``Detections``
            (supervision) per image. In files: a COCO ground-truth file (.json), a folder of Pascal VOC's
            annotations (.xml, or .txt with lines `class xmin ymin xmax ymax`), or one of YOLO's labels (.txt).
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices: a mapping, or a data frame.
        profile: First version of the generation of Ultralytics to reproduce.
        iou_type: Shapes to compare, instead of those that the texts tell; without texts, boxes.
        max_detections: Number of detections per image that count, of all classes.
        score_threshold: Leave out detections at or below this score.
        oks_sigmas: With iou_type="keypoints": tolerance of each keypoint, instead of those of data.yaml, or of
            COCO's sigmas of the 17 keypoints of a person.
        image_key: Meaning of image_id in results: the id of the image, or its file name, with or without folder
            and extension.
        images_list: Score only the images that this file lists, one id or path per line, such as VOC's
            ImageSets/Main/val.txt.
        image_size: Width and height of images, for YOLO files without pictures that can be read. Without it,
            boxes stay in fractions of the image.
        columns: Order of the columns of text results, if it is not the usual one, such as
            class,score,cx,cy,w,h. A column _ is skipped.
        first_category: Number of the first class in predictions.json of Ultralytics, beside a YOLO data set, if
            its ids do not tell.
        groups: Tables in addition to the total. details writes the curves.
        box_format: What boxes in dicts of torchmetrics are: two corners, the upper left corner and the size, or
            the center and the size.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.

    Returns:
        The scores ``P`` (higher is better); ``R`` (higher is better); ``mAP50`` (higher is better); ``mAP75``
        (higher is better); ``mAP50-95`` (higher is better); ``best_confidence`` (neither direction is better);
        ``AP50`` (higher is better); ``AP75`` (higher is better); ``AP50-95`` (higher is better);
        ``mask_best_confidence`` (neither direction is better); ``mask_SCORE`` (higher is better);
        ``pose_best_confidence`` (neither direction is better); ``pose_SCORE`` (higher is better).

    Raises:
        MetricError: An option or a value is wrong.

    >>> import metric_suite
    >>> metric_suite.ultralytics(predictions=metric_suite.Boxes(image=[1], category=[7], box=[[0, 0, 10, 10]], score=[0.9]), references=metric_suite.Boxes(image=[1], category=[7], box=[[0, 0, 10, 10]]))["mAP50"]
    0.995
    """

class Ultralytics(Metric):
    """P, R, mAP50 and mAP50-95 of YOLO data sets as Ultralytics prints them: boxes, segments, oriented boxes and poses, in batches.

    Args:
        profile: First version of the generation of Ultralytics to reproduce.
        iou_type: Shapes to compare, instead of those that the texts tell; without texts, boxes.
        max_detections: Number of detections per image that count, of all classes.
        score_threshold: Leave out detections at or below this score.
        oks_sigmas: With iou_type="keypoints": tolerance of each keypoint, instead of those of data.yaml, or of
            COCO's sigmas of the 17 keypoints of a person.
        image_key: Meaning of image_id in results: the id of the image, or its file name, with or without folder
            and extension.
        images_list: Score only the images that this file lists, one id or path per line, such as VOC's
            ImageSets/Main/val.txt.
        image_size: Width and height of images, for YOLO files without pictures that can be read. Without it,
            boxes stay in fractions of the image.
        columns: Order of the columns of text results, if it is not the usual one, such as
            class,score,cx,cy,w,h. A column _ is skipped.
        first_category: Number of the first class in predictions.json of Ultralytics, beside a YOLO data set, if
            its ids do not tell.
        groups: Tables in addition to the total. details writes the curves.
        box_format: What boxes in dicts of torchmetrics are: two corners, the upper left corner and the size, or
            the center and the size.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.
    """
    def __init__(
        self,
        *,
        profile: Literal['8.4.176', '8.4.37', '8.0'] = '8.4.176',
        iou_type: Literal['bbox', 'segm', 'obb', 'keypoints'] | None = None,
        max_detections: int = 300,
        score_threshold: float | None = None,
        oks_sigmas: Sequence[float] | float | None = None,
        image_key: Literal['id', 'file_name'] = 'id',
        images_list: str | PathLike[str] | None = None,
        image_size: str | None = None,
        columns: str | None = None,
        first_category: Literal['0', '1'] | None = None,
        groups: Literal['none', 'class'] = 'none',
        box_format: Literal['xyxy', 'xywh', 'cxcywh'] = 'xyxy',
        samples: bool = False,
        details: bool = False,
        missing: Literal['error', 'empty', 'skip'] | None = None,
        null: Literal['error', 'empty', 'skip'] | None = None,
        as_text: bool = False,
        extra: Literal['error', 'ignore'] | None = None,
        where: str | Sequence[str] | None = None,
        threads: int | None = None,
        confidence: float | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        cluster_field: str | None = None,
        slice_field: str | Sequence[str] | None = None,
        scores: str | Sequence[str] | None = None,
        sort: str | None = None,
    ) -> None: ...

def segmentation(
    *,
    predictions: Any,
    references: Any,
    ids: Any = None,
    fields: Any = None,
    profile: Literal['huggingface', 'mmseg', 'detectron2', 'cityscapes'] | None = None,
    classes: Sequence[str] | str | None = None,
    ignore_index: str = '255',
    reduce_zero_label: bool = False,
    reduce_labels: bool = False,
    label_map: Sequence[str] | str | None = None,
    unknown_labels: Literal['error', 'count'] = 'error',
    reference_suffix: str | None = None,
    prediction_suffix: str | None = None,
    channel: Literal['only', 'first'] = 'only',
    max_pixels: int = 268435456,
    groups: Literal['none', 'class'] = 'none',
    samples: bool = False,
    details: bool = False,
    missing: Literal['error', 'empty', 'skip'] | None = None,
    null: Literal['error', 'empty', 'skip'] | None = None,
    as_text: bool = False,
    extra: Literal['error', 'ignore'] | None = None,
    where: str | Sequence[str] | None = None,
    threads: int | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    cluster_field: str | None = None,
    slice_field: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    sort: str | None = None,
) -> Result:
    """Semantic segmentation of label maps: mIoU, accuracy, precision, Dice.

    Args:
        predictions: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file, or a data set; each value is the same: files are joined by their path in the
            folder.
        references: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file, or a data set; each value is a folder of label maps (.png, .npy), one such
            file, or records with lists of rows of labels.
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices: a mapping, or a data frame.
        profile: Program whose scores to compute.
        classes: Number of classes, a file with a name per line, or names; needed unless the profile is
            cityscapes.
        ignore_index: Reference labels whose pixels do not count, separated by commas, or none.
        reduce_zero_label: Ignore reference label 0, and subtract 1 from the others, as for ADE20K.
        reduce_labels: The same as ``reduce_zero_label``.
        label_map: Other labels in the place of those of the references.
        unknown_labels: What to do with reference labels that are neither a class nor ignored: stop with an
            error, or count the prediction there as incorrect.
        reference_suffix: End of the names of references in a folder, such as _labelTrainIds.
        prediction_suffix: End of the names of predictions in a folder.
        channel: Which channel to read; only: an image of several is an error.
        max_pixels: Largest number of pixels of an image.
        groups: Tables in addition to the total. details writes the confusion matrix, for more than 1,000
            classes as a list of cells.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.

    Returns:
        The scores ``mIoU`` (higher is better); ``mAcc`` (higher is better); ``aAcc`` (higher is better);
        ``fwIoU`` (higher is better); ``mPrecision`` (higher is better); ``mRecall`` (higher is better);
        ``mDice`` (higher is better); ``mF1`` (higher is better); ``mIoU_category`` (higher is better); ``IoU``
        (higher is better); ``Acc`` (higher is better); ``Precision`` (higher is better); ``Dice`` (higher is
        better); ``F1`` (higher is better).

    Raises:
        MetricError: An option or a value is wrong.

    >>> import metric_suite
    >>> metric_suite.segmentation(predictions=[[[0, 1], [1, 1]]], references=[[[0, 1], [0, 1]]], classes=2)["aAcc"]
    0.75
    """

class Segmentation(Metric):
    """Semantic segmentation of label maps: mIoU, accuracy, precision, Dice, in batches.

    Args:
        profile: Program whose scores to compute.
        classes: Number of classes, a file with a name per line, or names; needed unless the profile is
            cityscapes.
        ignore_index: Reference labels whose pixels do not count, separated by commas, or none.
        reduce_zero_label: Ignore reference label 0, and subtract 1 from the others, as for ADE20K.
        reduce_labels: The same as ``reduce_zero_label``.
        label_map: Other labels in the place of those of the references.
        unknown_labels: What to do with reference labels that are neither a class nor ignored: stop with an
            error, or count the prediction there as incorrect.
        reference_suffix: End of the names of references in a folder, such as _labelTrainIds.
        prediction_suffix: End of the names of predictions in a folder.
        channel: Which channel to read; only: an image of several is an error.
        max_pixels: Largest number of pixels of an image.
        groups: Tables in addition to the total. details writes the confusion matrix, for more than 1,000
            classes as a list of cells.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.
    """
    def __init__(
        self,
        *,
        profile: Literal['huggingface', 'mmseg', 'detectron2', 'cityscapes'] | None = None,
        classes: Sequence[str] | str | None = None,
        ignore_index: str = '255',
        reduce_zero_label: bool = False,
        reduce_labels: bool = False,
        label_map: Sequence[str] | str | None = None,
        unknown_labels: Literal['error', 'count'] = 'error',
        reference_suffix: str | None = None,
        prediction_suffix: str | None = None,
        channel: Literal['only', 'first'] = 'only',
        max_pixels: int = 268435456,
        groups: Literal['none', 'class'] = 'none',
        samples: bool = False,
        details: bool = False,
        missing: Literal['error', 'empty', 'skip'] | None = None,
        null: Literal['error', 'empty', 'skip'] | None = None,
        as_text: bool = False,
        extra: Literal['error', 'ignore'] | None = None,
        where: str | Sequence[str] | None = None,
        threads: int | None = None,
        confidence: float | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        cluster_field: str | None = None,
        slice_field: str | Sequence[str] | None = None,
        scores: str | Sequence[str] | None = None,
        sort: str | None = None,
    ) -> None: ...

def panoptic(
    *,
    predictions: Any,
    references: Any,
    ids: Any = None,
    fields: Any = None,
    iou_type: Literal['mask', 'boundary'] = 'mask',
    dilation: float | None = None,
    reference_folder: str | PathLike[str] | None = None,
    prediction_folder: str | PathLike[str] | None = None,
    max_pixels: int = 268435456,
    max_segments: int = 65536,
    quirks: Literal['none', 'panopticapi'] = 'none',
    groups: Literal['none', 'class'] = 'none',
    samples: bool = False,
    details: bool = False,
    missing: Literal['error', 'empty', 'skip'] | None = None,
    null: Literal['error', 'empty', 'skip'] | None = None,
    as_text: bool = False,
    extra: Literal['error', 'ignore'] | None = None,
    where: str | Sequence[str] | None = None,
    threads: int | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    cluster_field: str | None = None,
    slice_field: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    sort: str | None = None,
) -> Result:
    """Panoptic quality (PQ), segmentation quality (SQ) and recognition quality (RQ) of things and stuff, matching panopticapi.

    Args:
        predictions: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file, or a data set; each value is the same, of whose segments only id and
            category_id are used.
        references: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file, or a data set; each value is a COCO panoptic file (.json) with categories
            and annotations, whose PNG files are in a folder of its name or whose segments have run lengths; or
            one image per record: {"ids": [[int]], "segments_info": [{"id", "category_id", ...}]}.
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices: a mapping, or a data frame.
        iou_type: What matches segments: the IoU of masks, or the smaller one of masks and boundaries.
        dilation: Width of boundaries, as a share of the diagonal of the image (default: 0.02).
        reference_folder: Folder of the PNG files of the references (default: the path of the JSON file without
            .json).
        prediction_folder: Folder of the PNG files of the predictions (default: the path of the JSON file
            without .json).
        max_pixels: Largest number of pixels of an image.
        max_segments: Maximum number of ids of segments on a side of an image.
        quirks: Reproduce the known errors of a program: of segments, categories or predicted images with one id
            the last counts, and reference segments of unknown categories are left out.
        groups: Tables in addition to the total.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.

    Returns:
        The scores ``PQ`` (higher is better); ``SQ`` (higher is better); ``RQ`` (higher is better);
        ``PQ_things`` (higher is better); ``SQ_things`` (higher is better); ``RQ_things`` (higher is better);
        ``PQ_stuff`` (higher is better); ``SQ_stuff`` (higher is better); ``RQ_stuff`` (higher is better).

    Raises:
        MetricError: An option or a value is wrong.

    >>> import metric_suite
    >>> metric_suite.panoptic(predictions=[{"ids": [[1, 1]], "segments_info": [{"id": 1, "category_id": 7, "area": 2}]}], references=[{"ids": [[1, 1]], "segments_info": [{"id": 1, "category_id": 7, "area": 2}]}])["SQ"]
    1.0
    """

class Panoptic(Metric):
    """Panoptic quality (PQ), segmentation quality (SQ) and recognition quality (RQ) of things and stuff, matching panopticapi, in batches.

    Args:
        iou_type: What matches segments: the IoU of masks, or the smaller one of masks and boundaries.
        dilation: Width of boundaries, as a share of the diagonal of the image (default: 0.02).
        reference_folder: Folder of the PNG files of the references (default: the path of the JSON file without
            .json).
        prediction_folder: Folder of the PNG files of the predictions (default: the path of the JSON file
            without .json).
        max_pixels: Largest number of pixels of an image.
        max_segments: Maximum number of ids of segments on a side of an image.
        quirks: Reproduce the known errors of a program: of segments, categories or predicted images with one id
            the last counts, and reference segments of unknown categories are left out.
        groups: Tables in addition to the total.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.
    """
    def __init__(
        self,
        *,
        iou_type: Literal['mask', 'boundary'] = 'mask',
        dilation: float | None = None,
        reference_folder: str | PathLike[str] | None = None,
        prediction_folder: str | PathLike[str] | None = None,
        max_pixels: int = 268435456,
        max_segments: int = 65536,
        quirks: Literal['none', 'panopticapi'] = 'none',
        groups: Literal['none', 'class'] = 'none',
        samples: bool = False,
        details: bool = False,
        missing: Literal['error', 'empty', 'skip'] | None = None,
        null: Literal['error', 'empty', 'skip'] | None = None,
        as_text: bool = False,
        extra: Literal['error', 'ignore'] | None = None,
        where: str | Sequence[str] | None = None,
        threads: int | None = None,
        confidence: float | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        cluster_field: str | None = None,
        slice_field: str | Sequence[str] | None = None,
        scores: str | Sequence[str] | None = None,
        sort: str | None = None,
    ) -> None: ...

def lanes(
    *,
    predictions: Any,
    references: Any,
    ids: Any = None,
    fields: Any = None,
    profile: Literal['mapdr-reference'] = 'mapdr-reference',
    alignment: Literal['given', 'key', 'properties', 'optimal'] = 'optimal',
    lane_ids: Literal['strict', 'text'] = 'strict',
    ignore: Sequence[str] | str | None = None,
    duplicates: Literal['count', 'merge'] = 'count',
    overall: Literal['pairs', 'key'] = 'pairs',
    equality: Sequence[str] | str | None = None,
    dangling_lanes: Literal['count', 'drop', 'error'] | None = None,
    samples: bool = False,
    details: bool = False,
    missing: Literal['error', 'empty', 'skip'] | None = None,
    null: Literal['error', 'empty', 'skip'] | None = None,
    as_text: bool = False,
    extra: Literal['error', 'ignore'] | None = None,
    where: str | Sequence[str] | None = None,
    threads: int | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    cluster_field: str | None = None,
    slice_field: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    sort: str | None = None,
) -> Result:
    """Precision and recall of traffic rules and the lanes they apply to (MapDR).

    Args:
        predictions: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is the same; null and unreadable predictions count as no rules.
        references: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is the rules of a clip, {rule: {"attr_info": {...}, "centerline":
            [lane]}}, as in MapDR's label files; with MapDR's `data` next to them, lane ids are checked.
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices: a mapping, or a data frame.
        profile: Convention to follow.
        alignment: Alignment of predicted rules with reference rules in correspondence_*.
        lane_ids: Comparison of lane ids: strict tells 7 from "7", text does not.
        ignore: Properties to leave out, such as RuleIndex.
        duplicates: Treatment of repeated rules and pairs: each counts, or they are merged into one.
        overall: Condition for a correct pair of rule and lane: equal properties and lane (pairs), or an equal
            rule id as well (key).
        equality: Differences between property values to ignore: strict for none, or a list of none-is-absent,
            nfc, case, space, text-numbers, list-sets, times (EffectiveTime as intervals). By default strict.
        dangling_lanes: Treatment of lanes that are not centerlines of the map (MapDR's `data`): they count like
            any other, are left out, or are refused.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.

    Returns:
        The scores ``rule_precision`` (higher is better); ``rule_recall`` (higher is better); ``rule_f1``
        (higher is better); ``correspondence_precision`` (higher is better); ``correspondence_recall`` (higher
        is better); ``correspondence_f1`` (higher is better); ``overall_precision`` (higher is better);
        ``overall_recall`` (higher is better); ``overall_f1`` (higher is better); ``rule_precision_by_clip``
        (higher is better); ``rule_recall_by_clip`` (higher is better); ``rule_f1_by_clip`` (higher is better);
        ``correspondence_precision_by_clip`` (higher is better); ``correspondence_recall_by_clip`` (higher is
        better); ``correspondence_f1_by_clip`` (higher is better); ``overall_precision_by_clip`` (higher is
        better); ``overall_recall_by_clip`` (higher is better); ``overall_f1_by_clip`` (higher is better);
        ``rules_exact`` (higher is better); ``lanes_exact`` (higher is better); ``both_exact`` (higher is
        better); ``accuracy`` (higher is better).

    Raises:
        MetricError: An option or a value is wrong.

    >>> import metric_suite
    >>> metric_suite.lanes(predictions=[{"rule": {"attr_info": {"LaneType": "bus"}, "centerline": [1]}}], references=[{"rule": {"attr_info": {"LaneType": "bus"}, "centerline": [1]}}])["rule_f1"]
    1.0
    """

class Lanes(Metric):
    """Precision and recall of traffic rules and the lanes they apply to (MapDR), in batches.

    Args:
        profile: Convention to follow.
        alignment: Alignment of predicted rules with reference rules in correspondence_*.
        lane_ids: Comparison of lane ids: strict tells 7 from "7", text does not.
        ignore: Properties to leave out, such as RuleIndex.
        duplicates: Treatment of repeated rules and pairs: each counts, or they are merged into one.
        overall: Condition for a correct pair of rule and lane: equal properties and lane (pairs), or an equal
            rule id as well (key).
        equality: Differences between property values to ignore: strict for none, or a list of none-is-absent,
            nfc, case, space, text-numbers, list-sets, times (EffectiveTime as intervals). By default strict.
        dangling_lanes: Treatment of lanes that are not centerlines of the map (MapDR's `data`): they count like
            any other, are left out, or are refused.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.
    """
    def __init__(
        self,
        *,
        profile: Literal['mapdr-reference'] = 'mapdr-reference',
        alignment: Literal['given', 'key', 'properties', 'optimal'] = 'optimal',
        lane_ids: Literal['strict', 'text'] = 'strict',
        ignore: Sequence[str] | str | None = None,
        duplicates: Literal['count', 'merge'] = 'count',
        overall: Literal['pairs', 'key'] = 'pairs',
        equality: Sequence[str] | str | None = None,
        dangling_lanes: Literal['count', 'drop', 'error'] | None = None,
        samples: bool = False,
        details: bool = False,
        missing: Literal['error', 'empty', 'skip'] | None = None,
        null: Literal['error', 'empty', 'skip'] | None = None,
        as_text: bool = False,
        extra: Literal['error', 'ignore'] | None = None,
        where: str | Sequence[str] | None = None,
        threads: int | None = None,
        confidence: float | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        cluster_field: str | None = None,
        slice_field: str | Sequence[str] | None = None,
        scores: str | Sequence[str] | None = None,
        sort: str | None = None,
    ) -> None: ...

def openlane(
    *,
    predictions: Any,
    references: Any,
    ids: Any = None,
    fields: Any = None,
    samples: bool = False,
    details: bool = False,
    missing: Literal['error', 'empty', 'skip'] | None = None,
    null: Literal['error', 'empty', 'skip'] | None = None,
    as_text: bool = False,
    extra: Literal['error', 'ignore'] | None = None,
    where: str | Sequence[str] | None = None,
    threads: int | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    cluster_field: str | None = None,
    slice_field: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    sort: str | None = None,
) -> Result:
    """OpenLane-V2 Score: lanes, traffic elements and their topology.

    Args:
        predictions: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is the same with a "confidence" in each lane and traffic element,
            and confidences in the topologies.
        references: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file; each value is a frame as in OpenLane-V2's annotations: {"lane_centerline":
            [{"id", "points"}], "traffic_element": [{"id", "attribute", "points"}], "topology_lclc": [[0 or 1]],
            "topology_lcte": [[0 or 1]]}.
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices: a mapping, or a data frame.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.

    Returns:
        The scores ``DET_l`` (higher is better); ``DET_t`` (higher is better); ``TOP_ll`` (higher is better);
        ``TOP_lt`` (higher is better); ``OLS`` (higher is better); ``DET_t_present`` (higher is better);
        ``edgeless_ll`` (neither direction is better); ``edgeless_lt`` (neither direction is better);
        ``average_precision`` (higher is better); ``edge_precision_ll`` (higher is better); ``edge_recall_ll``
        (higher is better); ``edge_f1_ll`` (higher is better); ``edge_precision_lt`` (higher is better);
        ``edge_recall_lt`` (higher is better); ``edge_f1_lt`` (higher is better).

    Raises:
        MetricError: An option or a value is wrong.

    >>> import metric_suite
    >>> metric_suite.openlane(predictions=[{"lane_centerline": [{"id": 1, "confidence": 0.9, "points": [[0, 0, 0], [1, 0, 0]]}], "traffic_element": [], "topology_lclc": [[0]], "topology_lcte": [[]]}], references=[{"lane_centerline": [{"id": 1, "points": [[0, 0, 0], [1, 0, 0]]}], "traffic_element": [], "topology_lclc": [[0]], "topology_lcte": [[]]}])["DET_l"]
    1.0
    """

class OpenLane(Metric):
    """OpenLane-V2 Score: lanes, traffic elements and their topology, in batches.

    Args:
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.
    """
    def __init__(
        self,
        *,
        samples: bool = False,
        details: bool = False,
        missing: Literal['error', 'empty', 'skip'] | None = None,
        null: Literal['error', 'empty', 'skip'] | None = None,
        as_text: bool = False,
        extra: Literal['error', 'ignore'] | None = None,
        where: str | Sequence[str] | None = None,
        threads: int | None = None,
        confidence: float | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        cluster_field: str | None = None,
        slice_field: str | Sequence[str] | None = None,
        scores: str | Sequence[str] | None = None,
        sort: str | None = None,
    ) -> None: ...

def arc(
    *,
    predictions: Any,
    references: Any,
    ids: Any = None,
    fields: Any = None,
    attempts: int = 2,
    strict: bool = False,
    groups: Literal['none', 'task'] = 'none',
    samples: bool = False,
    details: bool = False,
    missing: Literal['error', 'empty', 'skip'] | None = None,
    null: Literal['error', 'empty', 'skip'] | None = None,
    as_text: bool = False,
    extra: Literal['error', 'ignore'] | None = None,
    where: str | Sequence[str] | None = None,
    threads: int | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    cluster_field: str | None = None,
    slice_field: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    sort: str | None = None,
) -> Result:
    """ARC grids and submissions: solved outputs and tasks, exact match, padded cell accuracy.

    Args:
        predictions: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file, or a data set; each value is a grid, or null for none. For a submission
            Kaggle's file {task: [{"attempt_1": grid, "attempt_2": grid}]}, the table output_id,output of 2019
            and 2024 (.csv), or a folder of arc-agi-benchmarking's files. In these files a task that the
            submission lacks scores 0, and one that the solutions lack is left out; a warning names both.
        references: A sequence, an array or a column with one value per example, a mapping of ids to values, or
            the ``Path`` of a file, or a data set; each value is a grid [[int]], 1 to 30 on a side, cells 0 to
            9; for a submission the grids of a task's test outputs, as in Kaggle's file of solutions {task:
            [grid]}, or a folder of ARC tasks.
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices: a mapping, or a data frame.
        attempts: In submissions: number of attempts per output that count.
        strict: Refuse invalid predicted grids instead of counting them as misses. Also refuse attempts, tasks
            and outputs of a submission that do not belong there.
        groups: In submissions: tables in addition to the total.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.

    Returns:
        The scores ``cell_accuracy`` (higher is better); ``cell_accuracy_pooled`` (higher is better); ``exact``
        (higher is better); ``shape_match`` (higher is better); ``palette_match`` (higher is better); ``kaggle``
        (higher is better); ``arcprize`` (higher is better); ``all_tests`` (higher is better); ``pass_at_N``
        (higher is better); ``solved`` (higher is better); ``cell_accuracy_by_task`` (higher is better).

    Raises:
        MetricError: An option or a value is wrong.

    >>> import metric_suite
    >>> metric_suite.arc(predictions=[[[1, 2]]], references=[[[1, 3]]])["cell_accuracy"]
    0.5
    """

class ARC(Metric):
    """ARC grids and submissions: solved outputs and tasks, exact match, padded cell accuracy, in batches.

    Args:
        attempts: In submissions: number of attempts per output that count.
        strict: Refuse invalid predicted grids instead of counting them as misses. Also refuse attempts, tasks
            and outputs of a submission that do not belong there.
        groups: In submissions: tables in addition to the total.
        samples: Whether the result has the scores of each example.
        details: Whether the result has details that are too large for a table, such as curves.
        missing: Mappings: what a reference without a prediction is: an error by default, scored against an
            empty one, or left out.
        null: What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty
            one, or left out.
        as_text: Whether numbers and Booleans are read as texts, as they are written.
        extra: Mappings: what a prediction without a reference is: an error by default, or left out.
        where: Conditions such as ``"subject=law"`` or ``"split!=train"`` on ``fields``, which select the
            examples that are scored; values of one field are alternatives.
        threads: The number of threads, by default one per core. The result does not depend on it.
        confidence: Confidence of intervals, such as 0.95. By default there are no intervals.
        resamples: Replicates of the bootstrap, 2000 by default.
        seed: Seed of all random numbers, 0 by default.
        cluster_field: Field of examples that are resampled together.
        slice_field: Fields whose values divide the examples into slices, each with scores of its own.
        scores: The names of the scores to show, in this order.
        sort: The score by which groups are sorted, the best one first.
    """
    def __init__(
        self,
        *,
        attempts: int = 2,
        strict: bool = False,
        groups: Literal['none', 'task'] = 'none',
        samples: bool = False,
        details: bool = False,
        missing: Literal['error', 'empty', 'skip'] | None = None,
        null: Literal['error', 'empty', 'skip'] | None = None,
        as_text: bool = False,
        extra: Literal['error', 'ignore'] | None = None,
        where: str | Sequence[str] | None = None,
        threads: int | None = None,
        confidence: float | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        cluster_field: str | None = None,
        slice_field: str | Sequence[str] | None = None,
        scores: str | Sequence[str] | None = None,
        sort: str | None = None,
    ) -> None: ...

CLASSES: dict[str, type[Metric]]

__all__ = [
    'wer',
    'cer',
    'string_accuracy',
    'exact_match',
    'squad',
    'vqa',
    'anls',
    'relaxed_accuracy',
    'edit_similarity',
    'bleu',
    'chrf',
    'ter',
    'rouge',
    'cpwer',
    'orcwer',
    'dicpwer',
    'codebleu',
    'pass_at_k',
    'classification',
    'classification_scores',
    'multilabel',
    'accuracy_at_k',
    'mrr',
    'retrieval',
    'regression',
    'rank_correlation',
    'mean',
    'coco',
    'lvis',
    'voc',
    'detection',
    'tide',
    'confusion_matrix',
    'ultralytics',
    'segmentation',
    'panoptic',
    'lanes',
    'openlane',
    'arc',
    'WER',
    'CER',
    'StringAccuracy',
    'ExactMatch',
    'SQuAD',
    'VQA',
    'ANLS',
    'RelaxedAccuracy',
    'EditSimilarity',
    'BLEU',
    'CHRF',
    'TER',
    'ROUGE',
    'CPWER',
    'ORCWER',
    'DICPWER',
    'CodeBLEU',
    'PassAtK',
    'Classification',
    'ClassificationScores',
    'Multilabel',
    'AccuracyAtK',
    'MRR',
    'Retrieval',
    'Regression',
    'RankCorrelation',
    'Mean',
    'COCO',
    'LVIS',
    'VOC',
    'Detection',
    'TIDE',
    'ConfusionMatrix',
    'Ultralytics',
    'Segmentation',
    'Panoptic',
    'Lanes',
    'OpenLane',
    'ARC',
]
