"""MNIST from IDX files in a directory, or from OpenML where none is given.

The four files are those of the original distribution, gzipped or not:
``{train,t10k}-{images-idx3,labels-idx1}-ubyte[.gz]``. Without a directory, scikit-learn's
``fetch_openml("mnist_784")`` downloads the same images and keeps them in its own cache.
"""

from __future__ import annotations

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
_DIMENSIONS = {"images": 3, "labels": 1}


@dataclass(frozen=True)
class Split:
    """Images and what they show."""

    images: NDArray[np.uint8]
    """``n x height x width``."""
    labels: NDArray[np.uint8]
    """``n`` digits."""

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True)
class Mnist:
    """Training and test images."""

    train: Split
    test: Split


@cache
def load_mnist(data_dir: Path | None = None) -> Mnist:
    r"""Load the images, once per process and directory.

    Args:
        data_dir: Where the four IDX files are; ``None`` asks OpenML.
    """
    if data_dir is None:
        return _from_openml()
    return Mnist(train=_read_split(data_dir, "train"), test=_read_split(data_dir, "t10k"))


def read_idx(path: Path, kind: str) -> NDArray[np.uint8]:
    r"""Read one IDX file of unsigned bytes.

    Args:
        path: The file; whether it is gzipped is read off its content.
        kind: ``"images"`` (three dimensions) or ``"labels"`` (one).
    """
    content = path.read_bytes()
    if content[:2] == b"\x1f\x8b":
        try:
            content = gzip.decompress(content)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(
                f"Expected a whole gzip file; {path} is damaged or cut off ({error}). Fetch it "
                "again."
            ) from error
    dimensions = _DIMENSIONS[kind]
    expected = bytes((0, 0, _UNSIGNED_BYTE, dimensions))
    if content[:4] != expected:
        raise ValueError(
            f"Expected an IDX file of {kind}, which begins with the bytes {expected.hex(' ')}; "
            f"{path} begins with {content[:4].hex(' ') or 'nothing'}. Is it another file of the "
            "four?"
        )
    header = 4 + 4 * dimensions
    if len(content) < header:
        raise ValueError(
            f"Expected a header of {header} bytes; {path} has {len(content)} bytes in all. Fetch "
            "it again."
        )
    shape = tuple(int(n) for n in np.frombuffer(content, ">u4", dimensions, offset=4))
    if len(content) != header + math.prod(shape):
        raise ValueError(
            f"Expected {header + math.prod(shape)} bytes for {kind} of shape {shape}; {path} has "
            f"{len(content)}. Fetch it again."
        )
    return np.frombuffer(content, np.uint8, offset=header).reshape(shape)


def _read_split(data_dir: Path, name: str) -> Split:
    images = read_idx(_find(data_dir, f"{name}-images-idx3-ubyte"), "images")
    labels = read_idx(_find(data_dir, f"{name}-labels-idx1-ubyte"), "labels")
    return _checked(images, labels, f"{data_dir} ({name})")


def _find(data_dir: Path, name: str) -> Path:
    for candidate in (data_dir / name, data_dir / f"{name}.gz"):
        if candidate.is_file():
            return candidate
    raise FileNotFoundError(
        f"Expected {name} or {name}.gz in {data_dir}; found neither. Give the directory of the "
        "four MNIST files, or none to download them from OpenML."
    )


def _checked(images: NDArray[np.uint8], labels: NDArray[np.uint8], source: str) -> Split:
    if len(images) != len(labels):
        raise ValueError(
            f"Expected one label per image; {source} has {len(images)} images and {len(labels)} "
            "labels. The files are of different sets."
        )
    if labels.size and labels.max() >= NUM_CLASSES:
        raise ValueError(
            f"Expected labels below {NUM_CLASSES}; {source} has {labels.max()}. Is it MNIST?"
        )
    return Split(images, labels)


def _from_openml() -> Mnist:
    from sklearn.datasets import fetch_openml

    table = fetch_openml("mnist_784", version=1, as_frame=False, parser="liac-arff")
    images = np.asarray(table.data).astype(np.uint8).reshape(-1, 28, 28)
    labels = np.asarray(table.target).astype(np.uint8)
    return Mnist(
        train=_checked(images[:NUM_TRAIN], labels[:NUM_TRAIN], "OpenML (train)"),
        test=_checked(images[NUM_TRAIN:], labels[NUM_TRAIN:], "OpenML (test)"),
    )
