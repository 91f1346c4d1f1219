"""Packs data sets with the values of Ultralytics into `sets.jsonl`: `python3 sets.py FOLDER > sets.jsonl`.

Each folder in FOLDER is a data set with `case.json` (its task, and where its predictions are) and `expected.json` (for
each version of the program P, R, average precisions, the lines that it prints and its confusion matrices, with true
classes in their columns). Of pictures in PNG only the first bytes are kept, which have the size.
"""

import json
import pathlib
import sys

KINDS = {"detect": "bbox", "segment": "segm", "obb": "obb", "pose": "keypoints"}
ABOUT = {
    "source": "Ultralytics 8.4.190, 8.4.100 and 8.4.36 with torch 2.15.0 and numpy 2.4.6: its label reader, matching, curves"
    " and confusion matrix, called image by image on made-up text files",
    "licence": "made for this project",
    "tolerance": "1e-9; counts, printed lines and matrices are equal",
}


def of_set(folder: pathlib.Path) -> dict:
    case = json.loads((folder / "case.json").read_text())
    expected = json.loads((folder / "expected.json").read_text())
    files, pictures = {}, {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if name in ("case.json", "expected.json") or path.is_dir():
            continue
        content = path.read_bytes()
        if path.suffix in (".png", ".jpg"):
            pictures[name] = (content[:33] if path.suffix == ".png" else content).hex()
        else:
            files[name] = content.decode()
    return {
        "id": folder.name,
        "note": case["note"],
        "iou_type": KINDS[case["task"]],
        "references": "obj.data" if case.get("layout") == "cvat" else "data.yaml",
        "predictions": case["predictions"],
        "images": expected["images"],
        "versions": expected["profiles"],
        "files": files,
        "pictures": pictures,
    }


print(json.dumps({"_about": ABOUT}))
for folder in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    print(json.dumps(of_set(folder), ensure_ascii=False, separators=(",", ":")))
