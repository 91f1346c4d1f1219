"""``metric_suite.torch``: batches, tensors, processes, and scores as in torchmetrics. Runs where PyTorch is installed."""

import doctest
import importlib
import math
import pickle

import pytest

import metric_suite

torch = pytest.importorskip("torch")
torchmetrics = pytest.importorskip("torchmetrics")
TorchMetric = importlib.import_module("metric_suite.torch").TorchMetric


def test_docstrings():
    failed, tried = doctest.testmod(importlib.import_module("metric_suite.torch"))
    assert tried > 0 and failed == 0


def test_batches_are_the_whole():
    metric = TorchMetric("wer", score="wer")
    assert metric(["the cat"], ["the cat sat"]).item() == 1 / 3
    assert metric(["a dog"], ["a dog"]).item() == 0.0
    assert metric.compute().item() == 0.2
    assert metric.metric.compute().counts["deletions"] == 1
    metric.reset()
    assert metric.compute().item() == 0.0 and math.isnan(TorchMetric("mrr", score="mrr").compute())
    for _ in range(600):
        metric.update(["the cat"], ["the cat sat"])
    assert metric.compute().item() == 1 / 3 and len(metric.states) < 300


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_tensors(dtype):
    scores = torch.tensor([[0.1, 0.7, 0.2], [0.6, 0.3, 0.1], [0.2, 0.3, 0.5]], dtype=dtype)
    labels = torch.tensor([1, 0, 0])
    metric = TorchMetric(metric_suite.AccuracyAtK(k=1))
    metric.update(scores, labels)
    assert metric.compute()["accuracy@1"].item() == pytest.approx(2 / 3)
    assert metric_suite.accuracy_at_k(predictions=scores, references=labels, k=1)["accuracy@1"] == pytest.approx(2 / 3)
    truth = torch.tensor([True, False, True])
    assert metric_suite.classification(predictions=truth, references=truth)["accuracy"] == 1.0


def test_states_move_and_are_pickled():
    metric = TorchMetric("classification", score="accuracy", zero_division="0")
    metric.update(torch.tensor([1, 2]), torch.tensor([1, 1]))
    assert pickle.loads(pickle.dumps(metric)).compute().item() == 0.5
    assert metric.to("cpu").half().compute().item() == 0.5
    metric.persistent(True)
    again = TorchMetric("classification", score="accuracy", zero_division="0")
    again.persistent(True)
    again.load_state_dict(metric.state_dict())
    assert again.compute().item() == 0.5
    collection = torchmetrics.MetricCollection({"a": metric, "b": metric.clone()})
    assert {name: value.item() for name, value in collection.compute().items()} == {"a": 0.5, "b": 0.5}


def test_wrong_batches_change_nothing():
    metric = TorchMetric("wer", score="wer")
    metric.update(["a"], ["b"])
    with pytest.raises(metric_suite.MetricError):
        metric.update(["a", 1], ["a", "b"])
    assert metric.compute().item() == 1.0
    with pytest.raises(metric_suite.MetricError, match="expected one of wer"):
        TorchMetric("wer", score="accuracy")


def images(seed):
    of = torch.Generator().manual_seed(seed)
    corners = torch.rand((6, 2), generator=of) * 50
    boxes = torch.cat([corners, corners + 5 + torch.rand((6, 2), generator=of) * 30], dim=1)
    labels = torch.randint(0, 2, (6,), generator=of)
    moved = boxes + torch.randn((6, 4), generator=of)
    truth = {"boxes": boxes, "labels": labels}
    return {"boxes": moved, "labels": labels, "scores": torch.rand(6, generator=of)}, truth


def test_the_same_as_torchmetrics():
    pytest.importorskip("pycocotools")
    pytest.importorskip("torchvision")
    theirs = torchmetrics.detection.MeanAveragePrecision(backend="pycocotools")
    metric = TorchMetric("coco", quirks="pycocotools")
    for seed in range(4):
        found, truth = zip(*(images(10 * seed + number) for number in range(3)))
        theirs.update(list(found), list(truth))
        metric.update(list(found), list(truth))
    expected, scores = theirs.compute(), metric.compute()
    for name, other in (("AP", "map"), ("AP50", "map_50"), ("AR_100", "mar_100"), ("AP_small", "map_small")):
        assert scores[name].item() == pytest.approx(expected[other].item(), abs=1e-6), name


def synced(rank, count, port, results):
    torch.distributed.init_process_group("gloo", f"tcp://127.0.0.1:{port}", rank=rank, world_size=count)
    metric = TorchMetric("wer", score="wer")
    # The last process has no data.
    for number in range(count - 1 - rank):
        metric.update(["the cat"] * (number + 1), ["the cat sat"] * (number + 1))
    results[rank] = (metric.compute().item(), len(metric.states))
    torch.distributed.destroy_process_group()


def test_processes():
    if not torch.distributed.is_available():
        pytest.skip("torch has no distributed package")
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with torch.multiprocessing.Manager() as manager:
        results = manager.dict()
        torch.multiprocessing.spawn(synced, (3, port, results), nprocs=3)
        found = dict(results)
    assert {value for value, _ in found.values()} == {1 / 3}
