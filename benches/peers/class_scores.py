"""ROC AUC, average precision and log loss of a CSV file by pandas and scikit-learn."""

import pandas
from measure import measure
from sklearn.metrics import average_precision_score, log_loss, roc_auc_score


def work():
    table = pandas.read_csv("pairs.csv")
    truth, scores = table["reference"].to_numpy(), table["prediction"].to_numpy()
    return {
        "roc_auc": roc_auc_score(truth, scores),
        "average_precision": average_precision_score(truth, scores),
        "log_loss": log_loss(truth, scores),
    }


measure(work)
