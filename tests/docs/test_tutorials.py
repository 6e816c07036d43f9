"""The notebooks are stored with what they show at full budget; they are small, and compared."""

from __future__ import annotations

import base64
import importlib.util
import json
import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from tests.support.blocks import ROOT

FOLDER = ROOT / "tutorials"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
_spec = importlib.util.spec_from_file_location("tutorials_run", FOLDER / "run.py")
assert _spec is not None and _spec.loader is not None
run = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(run)


def code_cells(path: Path) -> list[dict[str, Any]]:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def printed(words: str, **data: Any) -> dict[str, Any]:
    output = {"output_type": "stream", "name": "stdout", "text": [words]}
    metadata = {"tags": ["deterministic"]}
    return {"cell_type": "code", "metadata": metadata, "outputs": [output], "source": [], **data}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_it_printed(path: Path):
    cells = code_cells(path)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert outputs
    for output in outputs:
        assert output["output_type"] in ("stream", "display_data", "execute_result")
        assert output.get("name") != "stderr"
        assert "application/vnd.jupyter.widget-view+json" not in output.get("data", {})


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_some_words_of_a_notebook_are_compared(path: Path):
    cells = code_cells(path)
    tagged = [cell for cell in cells if "deterministic" in cell["metadata"].get("tags", [])]
    assert tagged and all(run.words(cell) for cell in tagged)


def test_notebooks_are_small():
    sizes = {path.name: path.stat().st_size for path in NOTEBOOKS}
    assert max(sizes.values()) < 300_000, sizes
    assert sum(sizes.values()) < 3_000_000


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_nothing_of_the_machine_it_was_run_on(path: Path):
    assert not re.search(r"(?<![\w.])/(tmp|work|root|home)/", path.read_text(encoding="utf-8"))


def test_pictures_have_thumbnails():
    for path in NOTEBOOKS:
        pictures = [
            output["data"]["image/png"]
            for cell in code_cells(path)
            for output in cell["outputs"]
            if "image/png" in output.get("data", {})
        ]
        small = run.THUMBNAILS / f"{path.stem}.png"
        assert small.exists() == bool(pictures), path.name
        if pictures:
            assert base64.b64decode("".join(pictures[-1])).startswith(b"\x89PNG")
            assert small.stat().st_size < 30_000


def test_words_are_compared_and_digits_are_not():
    stored = {"cells": [printed("after 20 evaluations: 1.5e-3 at [ 3.1, -2]  True\n")]}
    again = {"cells": [printed("after 8 evaluations: 0.2 at [2.99, .5] True")]}
    assert run.differences(stored, again) == []
    other = {"cells": [printed("after 8 evaluations: 0.2 at [2.99, .5] False")]}
    assert len(run.differences(stored, other)) == 1
    untagged = deepcopy(stored)
    untagged["cells"][0]["metadata"] = {}
    assert run.differences(untagged, other) == []
