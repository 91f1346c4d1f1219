"""The example in the docstring of each metric's function: its arguments, a score, and the value of the score."""

from __future__ import annotations

_WORDS = 'predictions=["the cat", "a dog"], references=["the cat sat", "a dog"]'
_BOX = "box=[[0, 0, 10, 10]]"
_TRUTH = f"metric_suite.Boxes(image=[1], category=[7], {_BOX})"
_FOUND = f"metric_suite.Boxes(image=[1], category=[7], {_BOX}, score=[0.9])"
_BOXES = f"predictions={_FOUND}, references={_TRUTH}"
_SPOKEN = '[[{"speaker": "A", "start": 0, "end": 1, "words": "a b"}]]'
_GRIDS = "predictions=[[[1, 2]]], references=[[[1, 3]]]"
_LANE = '{"id": 1, "points": [[0, 0, 0], [1, 0, 0]]}'
_FRAME = f'{{"lane_centerline": [{_LANE}], "traffic_element": [], "topology_lclc": [[0]], "topology_lcte": [[]]}}'
_SURE = _FRAME.replace('"id": 1', '"id": 1, "confidence": 0.9')
_RULE = '{"rule": {"attr_info": {"LaneType": "bus"}, "centerline": [1]}}'
_SEGMENTS = '{"ids": [[1, 1]], "segments_info": [{"id": 1, "category_id": 7, "area": 2}]}'

#: By metric: the arguments, the score and its value.
EXAMPLES: dict[str, tuple[str, str, str]] = {
    "wer": (_WORDS, "wer", "0.2"),
    "cer": ('predictions=["abc"], references=["abcd"]', "cer", "0.25"),
    "string-accuracy": (_WORDS, "string_accuracy", "0.5"),
    "exact-match": (_WORDS, "exact_match", "0.5"),
    "squad": ('predictions=["the cat"], references=[["a cat", "a dog"]]', "f1", "1.0"),
    "vqa": ('predictions=["yes"], references=[["yes"] * 10]', "accuracy", "1.0"),
    "anls": ('predictions=["abcd"], references=[["abcx", "z"]]', "anls", "0.75"),
    "relaxed-accuracy": ('predictions=["103", 120], references=[100, 100]', "relaxed_accuracy", "0.5"),
    "edit-similarity": ('predictions=["abcd"], references=["abcx"]', "edit_similarity", "0.75"),
    "bleu": ('predictions=["a b c d e"], references=[["a b c d x"]]', "bleu", "0.66874..."),
    "chrf": ('predictions=["the cat"], references=["the cat"]', "chrf", "1.0"),
    "ter": ('predictions=["a b c x"], references=[["a b c d"]]', "ter", "0.25"),
    "rouge": ('predictions=["a b"], references=["a b c d"], types=["1"]', "rouge1_recall", "0.5"),
    "cpwer": (f"predictions={_SPOKEN}, references={_SPOKEN}", "cp_wer", "0.0"),
    "orcwer": (f"predictions={_SPOKEN}, references={_SPOKEN}", "orc_wer", "0.0"),
    "dicpwer": (f"predictions={_SPOKEN}, references={_SPOKEN}", "di_cp_wer", "0.0"),
    "codebleu": ('predictions=["x = 1"], references=["x = 1"], lang="python", profile="codebleu-0.7"', "syntax_match", "1.0"),
    "pass-at-k": ("predictions=[[True, False], [True, True]], k=[1]", "pass@1", "0.75"),
    "mean": ("predictions=[0.5, True, 4]", "mean", "1.8333..."),
    "classification": ('predictions=["cat", "dog"], references=["cat", "cat"]', "accuracy", "0.5"),
    "classification-scores": ("predictions=[0.9, 0.2, 0.4], references=[1, 0, 1]", "roc_auc", "1.0"),
    "multilabel": ('predictions=[["a"], ["b"]], references=[["a"], ["a", "b"]], average="micro"', "precision", "1.0"),
    "accuracy-at-k": ("predictions=[[0.1, 0.9], [0.7, 0.3]], references=[1, 1], k=[1]", "accuracy@1", "0.5"),
    "mrr": ('predictions=[["b", "a"]], references=["a"]', "mrr", "0.5"),
    "retrieval": ('predictions={"q": {"x": 0.9, "y": 0.8}}, references={"q": {"y": 1}}', "map", "0.5"),
    "regression": ("predictions=[1.0, 2.5], references=[1.0, 3.0]", "mae", "0.25"),
    "rank-correlation": ("predictions=[1, 2, 3], references=[10, 20, 30]", "spearman", "1.0"),
    "coco": (_BOXES, "AR_100", "1.0"),
    "voc": (_BOXES, "mAP", "1.0"),
    "detection": (_BOXES, "f1", "1.0"),
    "tide": (_BOXES, "AP", "1.0"),
    "confusion-matrix": (_BOXES, "f1", "1.0"),
    "lvis": (_BOXES, "AR_300", "1.0"),
    "ultralytics": (_BOXES, "mAP50", "0.995"),
    "segmentation": ("predictions=[[[0, 1], [1, 1]]], references=[[[0, 1], [0, 1]]], classes=2", "aAcc", "0.75"),
    "panoptic": (f"predictions=[{_SEGMENTS}], references=[{_SEGMENTS}]", "SQ", "1.0"),
    "lanes": (f"predictions=[{_RULE}], references=[{_RULE}]", "rule_f1", "1.0"),
    "openlane": (f"predictions=[{_SURE}], references=[{_FRAME}]", "DET_l", "1.0"),
    "arc": (_GRIDS, "cell_accuracy", "0.5"),
}
