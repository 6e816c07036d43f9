"""What several commands read from their command line."""

import argparse
from pathlib import Path


def parse_seeds(text: str) -> list[int]:
    """``"0-2,5"`` to ``[0, 1, 2, 5]``."""
    seeds: list[int] = []
    try:
        for part in text.split(","):
            first, _, last = part.partition("-")
            seeds.extend(range(int(first), int(last or first) + 1))
    except ValueError:
        message = f"expected seeds like 0-5 or 0,2,4; got {text!r}"
        raise argparse.ArgumentTypeError(message) from None
    return seeds


def json_file(text: str) -> Path:
    """A path that ends in ``.json``, so that there can be a table beside it."""
    if not text.endswith(".json"):
        raise argparse.ArgumentTypeError(f"expected FILE.json (tables go to FILE.md); got {text}")
    return Path(text)
