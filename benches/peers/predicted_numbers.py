"""Errors and correlations of numbers by scikit-learn and SciPy."""

import sys

import numpy
from measure import measure


def sides():
    return (numpy.fromfile(name, sep=" ") for name in ["r.txt", "p.txt"])


def errors():
    from scipy.stats import pearsonr
    from sklearn.metrics import mean_absolute_error, mean_squared_error, r2_score

    truth, said = sides()
    return {
        "mae": mean_absolute_error(truth, said),
        "mse": mean_squared_error(truth, said),
        "r2": r2_score(truth, said),
        "pearson": pearsonr(said, truth).statistic,
    }


def ranks():
    from scipy.stats import kendalltau, spearmanr

    truth, said = sides()
    return {"spearman": spearmanr(said, truth).statistic, "kendall": kendalltau(said, truth).statistic}


measure({"errors": errors, "ranks": ranks}[sys.argv[1]])
