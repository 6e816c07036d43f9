"""Runs in the format of the authors' files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def write_authors_run(directory: Path, seed: int = 0, **changes: Any) -> Path:
    """A run of Beale: two initial points, one evaluation outside the domain, one box."""
    content = {
        "function": "Beale", "seed": seed, "initial_box": [[0.0, 1.0], [0.0, 2.0]],
        "X": [[0.0, 0.5], [1.0, 1.0], [20.0, 0.0]], "Y": [-1.0, -2.0, -3.0], "num_initial": 2,
        "boxes": [[[-1.0, 2.0], [-2.0, 4.0]]], "seconds_per_suggestion": 1.5,
    }  # fmt: skip
    path = directory / f"Beale_{seed}.json"
    path.write_text(json.dumps({**content, **changes}))
    return path
