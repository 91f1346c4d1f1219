"""Drop-in modules for packages that compute the same metrics.

Each module has the functions, classes and results of the package it is named after: ``jiwer``, ``codebleu``,
``sacrebleu``, ``rouge_score``, ``pytrec_eval``, ``pycocotools`` and ``panopticapi``. Change the import and nothing else::

    from metric_suite.compat import jiwer

``python/COMPATIBILITY.md`` lists the versions, the tests that pass, and every difference.
"""
