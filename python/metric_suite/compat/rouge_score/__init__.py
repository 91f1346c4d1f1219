"""ROUGE with the interface of rouge-score 0.1.2.

>>> from metric_suite.compat.rouge_score import rouge_scorer
>>> scorer = rouge_scorer.RougeScorer(["rouge1"])
>>> scorer.score("the cat sat down", "a dog sat down")["rouge1"]
Score(precision=0.5, recall=0.5, fmeasure=0.5)
"""
