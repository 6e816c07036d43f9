from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from benchmarks.problems import mnist_data
from benchmarks.problems.mnist_data import load_mnist, read_idx
from tests.support.mnist_files import draw, idx, write


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("mnist"))


class TestLoader:
    @pytest.mark.parametrize(("pack", "suffix"), [(bytes, ""), (gzip.compress, ".gz")])
    def test_reads_what_was_written(
        self, pack: Callable[[bytes], bytes], suffix: str, tmp_path: Path
    ) -> None:
        train, test = load_mnist(write(tmp_path, pack, suffix))
        for split, (count, seed) in ((train, (160, 0)), (test, (40, 1))):
            images, labels = draw(count, seed)
            np.testing.assert_array_equal(split.images, images)
            np.testing.assert_array_equal(split.labels, labels)

    def test_loads_once(self, directory: Path) -> None:
        assert load_mnist(directory) is load_mnist(directory)

    def test_missing_file(self, tmp_path: Path) -> None:
        (write(tmp_path) / "t10k-labels-idx1-ubyte").unlink()
        with pytest.raises(FileNotFoundError, match=r"t10k-labels-idx1-ubyte or .*\.gz"):
            load_mnist(tmp_path)

    def test_labels_in_the_place_of_images(self, directory: Path) -> None:
        with pytest.raises(ValueError, match=r"3 dimension.*begins with 00 00 08 01"):
            read_idx(directory / "train-labels-idx1-ubyte", 3)

    @pytest.mark.parametrize("content", [b"", b"<html>not found</html>"])
    def test_not_an_idx_file(self, content: bytes, tmp_path: Path) -> None:
        path = tmp_path / "x"
        path.write_bytes(content)
        with pytest.raises(ValueError, match="Expected a whole IDX file"):
            read_idx(path, 1)

    @pytest.mark.parametrize("length", [6, 15, 100])
    def test_cut_off(self, length: int, tmp_path: Path) -> None:
        path = tmp_path / "x"
        path.write_bytes(idx(draw(20, 0)[0])[:length])
        with pytest.raises(ValueError, match="cut off"):
            read_idx(path, 3)

    def test_too_long(self, tmp_path: Path) -> None:
        path = tmp_path / "x"
        path.write_bytes(idx(draw(20, 0)[1]) + b"\0")
        with pytest.raises(ValueError, match=r"21 values .* \[20\]"):
            read_idx(path, 1)

    def test_gzip_cut_off(self, tmp_path: Path) -> None:
        path = tmp_path / "x.gz"
        path.write_bytes(gzip.compress(idx(draw(20, 0)[0]))[:-30])
        with pytest.raises(ValueError, match="whole IDX file"):
            read_idx(path, 3)

    def test_counts_differ(self, tmp_path: Path) -> None:
        write(tmp_path)
        (tmp_path / "train-labels-idx1-ubyte").write_bytes(idx(draw(159, 0)[1]))
        with pytest.raises(ValueError, match="160 images and 159 labels"):
            load_mnist(tmp_path)

    def test_not_digits(self, tmp_path: Path) -> None:
        write(tmp_path)
        letters = np.arange(160, dtype=np.uint8) % 26
        (tmp_path / "train-labels-idx1-ubyte").write_bytes(idx(letters))
        with pytest.raises(ValueError, match="labels up to 25"):
            load_mnist(tmp_path)

    def test_openml_without_a_directory(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Its table has a row of numbers per image, digits as text, training images first."""
        from sklearn import datasets
        from sklearn.utils import Bunch

        images = np.random.default_rng(0).integers(0, 256, (5, 28, 28))
        table = Bunch(
            data=images.reshape(5, -1).astype(float), target=np.array(list("31415"), dtype=object)
        )
        asked = []
        monkeypatch.setattr(datasets, "fetch_openml", lambda name, **_: asked.append(name) or table)
        monkeypatch.setattr(mnist_data, "NUM_TRAIN", 3)
        train, test = load_mnist.__wrapped__(None)
        assert asked == ["mnist_784"]
        np.testing.assert_array_equal(train.images, images[:3])
        assert train.labels.tolist() == [3, 1, 4] and test.labels.tolist() == [1, 5]
