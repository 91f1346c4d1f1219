"""What is known of published test sets."""

from __future__ import annotations

from typing import NoReturn

from .dataset import DATASETS


def get_available_testsets() -> list[str]:
    """Returns the names of all test sets, the newest ones first."""
    return sorted(DATASETS, reverse=True)


def get_available_testsets_for_langpair(langpair: str) -> list[str]:
    """Returns the names of the test sets that have a language pair, in either direction.

    >>> "wmt09" in get_available_testsets_for_langpair("it-en")
    True
    """
    source, target = langpair.split("-")[:2]
    pairs = {f"{source}-{target}", f"{target}-{source}"}
    return [dataset.name for dataset in DATASETS.values() if pairs.intersection(dataset.langpairs)]


def get_langpairs_for_testset(testset: str) -> list[str]:
    """Returns the language pairs of a test set; none if there is no such set.

    >>> get_langpairs_for_testset("wmt19/google/ar")
    ['en-de']
    """
    return list(DATASETS[testset].langpairs) if testset in DATASETS else []


def get_source_file(test_set: str, langpair: str) -> NoReturn:
    """Raises an error that says where the source texts are from: they are not here."""
    raise _no_texts(test_set, langpair, "src")


def get_reference_files(test_set: str, langpair: str) -> NoReturn:
    """Raises an error that says where the references are from: they are not here."""
    raise _no_texts(test_set, langpair, "ref")


def _no_texts(test_set: str, langpair: str, what: str) -> Exception:
    if test_set not in DATASETS:
        return ValueError(f"no test set {test_set!r}: get_available_testsets() has all names")
    command = f"sacrebleu -t {test_set} -l {langpair} --echo {what}"
    return NotImplementedError(f"the texts of test sets are not part of metric_suite: `{command}` writes them")
