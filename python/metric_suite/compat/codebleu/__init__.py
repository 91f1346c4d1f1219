"""CodeBLEU with the interface of codebleu 0.7.0.

>>> from metric_suite.compat.codebleu import calc_codebleu
>>> calc_codebleu(["def f ( x ) : return x"], ["def f ( y ) : return y"], "python")["syntax_match_score"]
1.0
"""

from .codebleu import AVAILABLE_LANGS, calc_codebleu

__all__ = ["calc_codebleu", "AVAILABLE_LANGS"]
