"""MNIST from IDX files in a directory, or from OpenML where none is given.

The four files are those of the original distribution, gzipped or not:
``{train,t10k}-{images-idx3,labels-idx1}-ubyte[.gz]``. Without a directory, scikit-learn's
``fetch_openml("mnist_784")`` downloads the same images and keeps them in its own cache.
"""

import gzip
import math
import zlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

NUM_CLASSES = 10
NUM_TRAIN = 60_000  # OpenML has all images in one table, the original training images first

_UNSIGNED_BYTE = 0x08
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class Split:
    """``n x height x width`` images, and the ``n`` digits that they show."""

    images: NDArray[np.uint8]
    labels: NDArray[np.uint8]

    def __post_init__(self) -> None:
        if len(self.images) != len(self.labels) or self.labels.max(initial=0) >= NUM_CLASSES:
            raise ValueError(
                f"Expected a digit per image; got {len(self.images)} images and "
                f"{len(self.labels)} labels up to {self.labels.max(initial=0)}. Is it MNIST?"
            )


@cache
def load_mnist(data_dir: Path | None = None) -> tuple[Split, Split]:
    """Training and test images, of a directory with the four IDX files or of OpenML."""
    if data_dir is None:
        return _from_openml()
    return _read_split(data_dir, "train"), _read_split(data_dir, "t10k")


def read_idx(path: Path, dimensions: int) -> NDArray[np.uint8]:
    """One IDX file of unsigned bytes; whether it is gzipped is read off its content."""
    try:
        content = path.read_bytes()
        if content.startswith(_GZIP):
            content = gzip.decompress(content)
        if content[:4] != bytes((0, 0, _UNSIGNED_BYTE, dimensions)):
            raise ValueError(f"it begins with {content[:4].hex(' ') or 'nothing'}")
        shape = np.frombuffer(content, ">u4", dimensions, offset=4).tolist()
        values = np.frombuffer(content, np.uint8, offset=4 + 4 * dimensions)
        if len(values) != math.prod(shape):
            raise ValueError(f"it has {len(values)} values where its head says {shape}")
    except (EOFError, zlib.error, gzip.BadGzipFile, ValueError) as error:
        raise ValueError(
            f"Expected a whole IDX file of {dimensions} dimension(s) in {path}: {error}. Is it "
            "another of the four, or cut off?"
        ) from error
    return values.reshape(shape)


def _read_split(data_dir: Path, name: str) -> Split:
    images = read_idx(_find(data_dir, f"{name}-images-idx3-ubyte"), 3)
    return Split(images, read_idx(_find(data_dir, f"{name}-labels-idx1-ubyte"), 1))


def _find(data_dir: Path, name: str) -> Path:
    for candidate in (data_dir / name, data_dir / f"{name}.gz"):
        if candidate.is_file():
            return candidate
    raise FileNotFoundError(
        f"Expected {name} or {name}.gz in {data_dir}; found neither. Give the directory of the "
        "four MNIST files, or none to download them from OpenML."
    )


def _from_openml() -> tuple[Split, Split]:
    from sklearn.datasets import fetch_openml

    table = fetch_openml("mnist_784", version=1, as_frame=False, parser="liac-arff")
    images = np.asarray(table.data).astype(np.uint8).reshape(-1, 28, 28)
    labels = np.asarray(table.target).astype(np.uint8)
    train = Split(images[:NUM_TRAIN], labels[:NUM_TRAIN])
    return train, Split(images[NUM_TRAIN:], labels[NUM_TRAIN:])
