"""Every entry point of the package returns in a process that was started while the parent has scored before.

A forked process has no thread of its parent but one, so nothing may wait for others.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import multiprocessing
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import pytest

import metric_suite

# Enough examples for several threads, and several classes, which are computed at the same time.
IMAGES = 600
SECONDS = 120


def boxes(**options):
    """One object per image, of which each is found exactly."""
    images = range(IMAGES)
    columns = {"image": images, "category": [image % 3 for image in images], "box": [[0, 0, 9, 9]] * IMAGES}
    truth = metric_suite.Boxes(**columns)
    return {"predictions": metric_suite.Boxes(**columns, score=[0.5] * IMAGES), "references": truth, **options}


def texts(**options):
    """One of three words is missing in each example."""
    return {"predictions": ["the cat"] * 50, "references": ["the cat sat"] * 50, **options}


def of_boxes(threads=None):
    found = [metric_suite.score(name, **boxes(threads=threads)) for name in ("coco", "voc", "tide", "confusion-matrix", "detection")]
    return [next(iter(result.values())) for result in found] + [found[0].precision.shape[2]]


def of_values(threads=None):
    labels = {"predictions": [0, 1] * 50, "references": [0, 0] * 50, "threads": threads}
    ranked = {"predictions": [[0.1, 0.9], [0.8, 0.2]] * 50, "references": [1, 1] * 50, "threads": threads}
    code = {"predictions": ["int x = 1;"], "references": ["int x = 1;"], "lang": "java", "threads": threads}
    return [
        metric_suite.wer(**texts(threads=threads))["wer"],
        metric_suite.wer(**texts(threads=threads, confidence=0.9, resamples=200)).intervals["wer"].low,
        metric_suite.classification(**labels)["accuracy"],
        metric_suite.mrr(**ranked)["mrr"],
        metric_suite.codebleu(**code)["syntax_match"],
    ]


def of_batches(threads=None):
    metric = metric_suite.WER(threads=threads, confidence=0.9, resamples=200).update(**texts()).update(**texts())
    merged = metric_suite.merge([metric, metric.to_bytes()])
    boxed = metric_suite.COCO(threads=threads).update(**boxes()).update(**boxes())
    return [metric.compute()["wer"], merged.compute()["wer"], boxed.compute()["AR_100"]]


def of_comparisons(threads=None):
    systems = {"old": ["the cat"] * 50, "new": ["the cat sat"] * 50}
    found = metric_suite.compare("wer", references=texts()["references"], predictions=systems, resamples=200, threads=threads)
    return [found["comparisons"][0]["delta"], len(metric_suite.report(metric_suite.wer(**texts()))) > 1000]


def of_files(folder, threads=None):
    truth = metric_suite.score_files("wer", f"{folder}/r.jsonl", f"{folder}/p.jsonl", threads=threads)
    boxed = metric_suite.score_files("coco", f"{folder}/r.json", f"{folder}/p.json", threads=threads)
    asked = metric_suite.score_files("vqa", f"{folder}/vqa.json", f"{folder}/answers.json", threads=threads)
    suite = metric_suite.run_suite(f"{folder}/suite.toml", f"{folder}", compare=f"{folder}", resamples=100)
    read = metric_suite.read(f"{folder}/r.jsonl", field="reference")
    return [truth["wer"], boxed["AR_100"], asked["accuracy"], suite.total, len(read)]


def of_drop_ins():
    from metric_suite.compat import codebleu, jiwer
    from metric_suite.compat.pycocotools.coco import COCO
    from metric_suite.compat.pycocotools.cocoeval import COCOeval

    objects = [
        {"id": i + 1, "image_id": i, "category_id": i % 3, "bbox": [0, 0, 9, 9], "area": 81, "iscrowd": 0, "score": 0.5}
        for i in range(IMAGES)
    ]
    truth = COCO()
    truth.dataset = {"images": [{"id": i} for i in range(IMAGES)], "categories": [{"id": i} for i in range(3)], "annotations": objects}
    with contextlib.redirect_stdout(io.StringIO()):
        truth.createIndex()
        evaluation = COCOeval(truth, truth.loadRes(objects), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    bleu = codebleu.calc_codebleu(["x = 1"], ["x = 1"], "python")["codebleu"]
    return [jiwer.wer(["the cat sat"], ["the cat"]), jiwer.process_words(["a b"], ["a"]).wer, bleu, float(evaluation.stats[8])]


def of_other_packages():
    """Those that are installed."""
    found = []
    for name in ("sklearn", "evaluate", "torchmetrics"):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
            found.append(_OTHERS[name]())
    return found


def _sklearn():
    import numpy
    from sklearn.dummy import DummyClassifier

    from metric_suite.sklearn import make_scorer

    x, y = numpy.zeros((4, 1)), numpy.array([1, 1, 1, 0])
    return float(make_scorer("classification", score="accuracy")(DummyClassifier().fit(x, y), x, y))


def _evaluate():
    import evaluate

    import metric_suite.evaluate

    return evaluate.load(str(metric_suite.evaluate.path("wer"))).compute(predictions=["a"], references=["a b"])


def _torchmetrics():
    from metric_suite.torch import TorchMetric

    metric = TorchMetric("wer", score="wer")
    metric.update(["the cat"], ["the cat sat"])
    return float(metric.compute())


_OTHERS = {"sklearn": _sklearn, "evaluate": _evaluate, "torchmetrics": _torchmetrics}

ENTRY_POINTS = {
    "boxes": of_boxes,
    "values": of_values,
    "batches": of_batches,
    "comparisons": of_comparisons,
    "files": of_files,
    "drop-ins": of_drop_ins,
    "other packages": of_other_packages,
}


def everything(folder):
    """The results of all entry points: as given, on one thread, and on two."""
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, entry in ENTRY_POINTS.items():
            where = (folder,) if entry is of_files else ()
            found[name] = entry(*where)
            if "threads" in entry.__code__.co_varnames[: entry.__code__.co_argcount]:
                assert [entry(*where, threads) for threads in (1, 2)] == [found[name]] * 2
    return found


def _answer(folder, to):
    to.send(everything(folder))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    for name, side, text in (("r", "reference", "the cat sat"), ("p", "prediction", "the cat")):
        lines = (json.dumps({"id": number, side: text}) for number in range(50))
        (folder / f"{name}.jsonl").write_text("\n".join(lines))
    objects = [
        {"id": i + 1, "image_id": i, "category_id": i % 3, "bbox": [0, 0, 9, 9], "area": 81, "iscrowd": 0, "score": 0.5}
        for i in range(IMAGES)
    ]
    categories = [{"id": i, "name": str(i)} for i in range(3)]
    truth = {"images": [{"id": i} for i in range(IMAGES)], "categories": categories, "annotations": objects}
    (folder / "r.json").write_text(json.dumps(truth))
    (folder / "p.json").write_text(json.dumps(objects))
    asked = {"annotations": [{"question_id": 1, "answers": [{"answer": "cat", "answer_id": i} for i in range(1, 11)]}]}
    (folder / "vqa.json").write_text(json.dumps(asked))
    (folder / "answers.json").write_text(json.dumps([{"question_id": 1, "answer": "cat"}]))
    task = 'name = "words"\nmetric = "wer"\nreferences = "r.jsonl"\npredictions = "p.jsonl"\n'
    (folder / "suite.toml").write_text(f'name = "Words"\ntotal = {{ rule = "sum", of = ["words.wip"] }}\n[[task]]\n{task}')
    return str(folder)


@pytest.fixture(scope="module")
def expected(folder):
    """What the parent finds, whose threads have worked before any process is started."""
    found = everything(folder)
    assert found["boxes"][-1] == 3 and found["values"][0] == pytest.approx(1 / 3)
    assert found["drop-ins"][:2] == pytest.approx([1 / 3, 0.5]) and found["drop-ins"][3] == 1.0
    return found


def _in_a_process(context, folder, **options):
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(folder, there), **options)
    process.start()
    there.close()
    try:
        assert here.poll(SECONDS), f"no answer within {SECONDS} s"
        return here.recv()
    finally:
        process.kill()
        process.join()


METHODS = multiprocessing.get_all_start_methods()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no other methods than spawn")
@pytest.mark.parametrize("method", METHODS)
def test_processes(method, folder, expected):
    assert _in_a_process(multiprocessing.get_context(method), folder) == expected


@pytest.mark.skipif("fork" not in METHODS, reason="the system does not fork")
def test_a_process_that_is_forked_while_threads_work(folder, expected):
    is_over = threading.Event()

    def work():
        while not is_over.is_set():
            of_boxes()
            of_values()

    workers = [threading.Thread(target=work, daemon=True) for _ in range(2)]
    for worker in workers:
        worker.start()
    try:
        for _ in range(3):
            assert of_boxes() == expected["boxes"]
            forked = multiprocessing.get_context("fork").Pool(2)
            with forked as pool:
                assert pool.map_async(of_boxes, [None, 1, 2]).get(SECONDS) == [expected["boxes"]] * 3
    finally:
        is_over.set()
        for worker in workers:
            worker.join()


@pytest.mark.skipif("fork" not in METHODS, reason="the system does not fork")
def test_a_fork_of_a_fork():
    """As in a data loader, whose workers are daemons of a process that was forked."""
    context = multiprocessing.get_context("fork")
    expected = of_boxes()

    def child(to):
        grandchild = multiprocessing.get_context("fork").Process(target=lambda: to.send(of_boxes()))
        grandchild.start()
        to.send(of_boxes())
        grandchild.join()

    here, there = context.Pipe(duplex=False)
    process = context.Process(target=child, args=(there,))
    process.start()
    for _ in range(2):
        assert here.poll(SECONDS)
        assert here.recv() == expected
    process.join(SECONDS)
    assert process.exitcode == 0


@pytest.mark.skipif("fork" not in METHODS, reason="the system does not fork")
def test_a_daemon(expected):
    assert of_boxes() == expected["boxes"]
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_send_boxes, args=(there,), daemon=True)
    process.start()
    assert here.poll(SECONDS)
    assert here.recv() == expected["boxes"]
    process.join(SECONDS)


def _send_boxes(to):
    to.send(of_boxes() if of_boxes(1) == of_boxes(2) else None)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="threads are counted in /proc")
def test_threads_end_with_their_work():
    """With one thread, no other is started; threads of other calls are gone soon after."""
    code = """
import os, time, warnings
import numpy
import metric_suite
from tests.test_processes import of_boxes, of_comparisons, of_values, texts

warnings.simplefilter("ignore")
threads = lambda: len(os.listdir("/proc/self/task"))
before = threads()
of_boxes(1), of_values(1)
metric_suite.WER(threads=1, confidence=0.9, resamples=200).update(**texts()).update(**texts()).compute()
assert threads() == before, "one thread"
of_boxes(), of_values(2), of_comparisons()
for _ in range(100):
    if threads() == before:
        break
    time.sleep(0.1)
assert threads() == before, "several threads"
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[1])
