"""Small files in MNIST's format."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SIDE = 8


def idx(array: NDArray[np.uint8]) -> bytes:
    header = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
    return header + array.tobytes()


def draw(count: int, seed: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Noise with a bright row or column that tells the digit."""
    generator = np.random.default_rng(seed)
    images = generator.integers(0, 200, (count, SIDE, SIDE), dtype=np.uint8)
    labels = np.arange(count, dtype=np.uint8) % 10
    for image, label in zip(images, labels, strict=True):
        if label < 5:
            image[label + 1] = 250
        else:
            image[:, label - 4] = 250
    return images, labels


def write(directory: Path, pack: Callable[[bytes], bytes] = bytes, suffix: str = "") -> Path:
    for name, count, seed in (("train", 160, 0), ("t10k", 40, 1)):
        images, labels = draw(count, seed)
        for kind, array in (("images-idx3", images), ("labels-idx1", labels)):
            (directory / f"{name}-{kind}-ubyte{suffix}").write_bytes(pack(idx(array)))
    return directory
