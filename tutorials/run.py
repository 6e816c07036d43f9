"""Execute the notebooks.

    python tutorials/run.py [NAME ...]           with small budgets, into build/tutorials
    python tutorials/run.py --store [NAME ...]   with full budgets, and keep what they show

With small budgets, what the cells tagged ``deterministic`` print is compared with what is stored:
their words, not their digits, which may differ between machines.
"""

from __future__ import annotations

import argparse
import base64
import io
import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
BUILD = FOLDER.parent / "build" / "tutorials"
THUMBNAILS = FOLDER.parent / "docs" / "static" / "thumbnails"
SECONDS_PER_CELL = 900
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|\b(?:nan|inf)\b", re.IGNORECASE)


def words(cell: dict[str, Any]) -> str:
    """What a cell printed, with every number replaced by a sign, and blanks by one."""
    texts = []
    for output in cell["outputs"]:
        text = output.get("text") or output.get("data", {}).get("text/plain") or ""
        texts.append("".join(text))
    signs = re.sub(r"\s*#\s*", "#", NUMBER.sub("#", " ".join(texts)))  # arrays are padded
    return re.sub(r"\s+", " ", signs).strip()


def differences(stored: dict[str, Any], executed: dict[str, Any]) -> list[str]:
    """In which deterministic cells the words of two versions of a notebook differ."""
    found = []
    for number, (old, new) in enumerate(zip(stored["cells"], executed["cells"], strict=True)):
        tagged = "deterministic" in old["metadata"].get("tags", ())
        if tagged and words(old) != words(new):
            found.append(f"cell {number} printed\n    {words(new)}\nstored is\n    {words(old)}")
    return found


def execute(path: Path) -> dict[str, Any]:
    """A notebook with its outputs."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=SECONDS_PER_CELL,
        kernel_name="python3",
        resources={"metadata": {"path": str(FOLDER)}},
        record_timing=False,
        coalesce_streams=True,
    )
    client.execute()
    return json.loads(nbformat.writes(notebook))


def tidy(notebook: dict[str, Any]) -> dict[str, Any]:
    """Without what is of no interest to a reader: progress bars, warnings of others, widgets."""
    notebook["metadata"].pop("widgets", None)
    for cell in notebook["cells"]:
        cell.pop("id", None)
        if cell["cell_type"] == "code":
            kept = [it for it in cell["outputs"] if it.get("name") != "stderr"]
            for output in kept:
                data = output.get("data", {})
                data.pop("application/vnd.jupyter.widget-view+json", None)
                if "image/png" in data:
                    data["image/png"] = _shrink(data["image/png"])
            cell["outputs"] = [it for it in kept if it.get("data", True)]
    notebook["nbformat"], notebook["nbformat_minor"] = 4, 4  # before cells had names
    notebook["metadata"]["language_info"] = {"name": "python"}
    return notebook


def thumbnail(notebook: dict[str, Any], path: Path) -> None:
    """The last picture of a notebook, small; nothing if it has none."""
    from PIL import Image

    pictures = [
        output["data"]["image/png"]
        for cell in notebook["cells"]
        for output in cell.get("outputs", ())
        if "image/png" in output.get("data", {})
    ]
    if pictures:
        path.parent.mkdir(parents=True, exist_ok=True)
        with Image.open(io.BytesIO(base64.b64decode("".join(pictures[-1])))) as image:
            small = image.convert("RGB")
            small.thumbnail((220, 110), Image.Resampling.LANCZOS)
            small.quantize(64).save(path, optimize=True)


def _shrink(png: str | list[str]) -> str:
    from PIL import Image

    with (
        Image.open(io.BytesIO(base64.b64decode("".join(png)))) as image,
        io.BytesIO() as buffer,
    ):
        flat = Image.new("RGB", image.size, "white")
        flat.paste(image, mask=image.getchannel("A") if "A" in image.getbands() else None)
        flat.quantize(128).save(buffer, format="png", optimize=True)
        return base64.b64encode(buffer.getvalue()).decode()


def write(notebook: dict[str, Any], path: Path) -> None:
    """As Jupyter does, but with letters of all alphabets as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True)
    path.write_text(text + "\n", encoding="utf-8")


def main() -> None:
    """Execute notebooks, and compare or store them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="as in 2_watch; all by default")
    parser.add_argument("--store", action="store_true", help="with full budgets, and keep them")
    arguments = parser.parse_args()
    if not arguments.store:
        os.environ["SMOKE_TEST"] = "1"
    paths = sorted(FOLDER.glob("*.ipynb"), key=lambda path: int(path.name.partition("_")[0]))
    wrong = 0
    for path in paths:
        if arguments.names and not path.name.startswith(tuple(arguments.names)):
            continue
        print(f"running {path.name}", end=" ", flush=True)
        start = time.monotonic()
        executed = execute(path)
        print(f"{time.monotonic() - start:.0f} s", flush=True)
        if arguments.store:
            write(tidy(executed), path)
            thumbnail(executed, THUMBNAILS / f"{path.stem}.png")
        else:
            write(executed, BUILD / path.name)
            for difference in differences(json.loads(path.read_text("utf-8")), executed):
                wrong += 1
                print(difference)
    if wrong:
        sys.exit(f"{wrong} cells print other words than are stored: `--store` keeps new ones")


if __name__ == "__main__":
    main()
