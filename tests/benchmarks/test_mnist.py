from __future__ import annotations

import gzip
import struct
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from benchmarks import mnist_data
from benchmarks.mnist import TASKS, get_problem
from benchmarks.mnist_data import load_mnist, read_idx
from benchmarks.mnist_training import GUESSING, Preset
from benchmarks.problems import start_box

needs_sklearn = pytest.mark.skipif(find_spec("sklearn") is None, reason="needs scikit-learn")
NAMES = [pytest.param("mnist_elastic_net", marks=needs_sklearn), "mnist_mlp", "mnist_cnn"]
SIDE = 8
SMALL = Preset(num_train=160, num_test=40, epochs=4, batch_size=16, filters=(4, 4))
GOOD = {
    "mnist_elastic_net": [-3.0, 0.1],
    "mnist_mlp": [-3.0, -5.0, -5.0],
    "mnist_cnn": [0.1, 0.1, -2.0],
}


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


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("mnist"))


class TestLoader:
    @pytest.mark.parametrize(("pack", "suffix"), [(bytes, ""), (gzip.compress, ".gz")])
    def test_reads_what_was_written(
        self, pack: Callable[[bytes], bytes], suffix: str, tmp_path: Path
    ) -> None:
        mnist = load_mnist(write(tmp_path, pack, suffix))
        for split, (count, seed) in ((mnist.train, (160, 0)), (mnist.test, (40, 1))):
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
        with pytest.raises(ValueError, match=r"00 00 08 03.*begins with 00 00 08 01"):
            read_idx(directory / "train-labels-idx1-ubyte", "images")

    def test_not_an_idx_file(self, tmp_path: Path) -> None:
        path = tmp_path / "x"
        for content in (b"", b"<html>not found</html>"):
            path.write_bytes(content)
            with pytest.raises(ValueError, match="Expected an IDX file of labels"):
                read_idx(path, "labels")

    @pytest.mark.parametrize("length", [6, 15, 100])
    def test_cut_off(self, length: int, tmp_path: Path) -> None:
        path = tmp_path / "x"
        path.write_bytes(idx(draw(20, 0)[0])[:length])
        with pytest.raises(ValueError, match=f"has {length}"):
            read_idx(path, "images")

    def test_too_long(self, tmp_path: Path) -> None:
        path = tmp_path / "x"
        path.write_bytes(idx(draw(20, 0)[1]) + b"\0")
        with pytest.raises(ValueError, match=r"Expected 28 bytes .* has 29"):
            read_idx(path, "labels")

    def test_gzip_cut_off(self, tmp_path: Path) -> None:
        path = tmp_path / "x.gz"
        path.write_bytes(gzip.compress(idx(draw(20, 0)[0]))[:-30])
        with pytest.raises(ValueError, match="whole gzip file"):
            read_idx(path, "images")

    def test_counts_differ(self, tmp_path: Path) -> None:
        write(tmp_path)
        (tmp_path / "train-labels-idx1-ubyte").write_bytes(idx(draw(159, 0)[1]))
        with pytest.raises(ValueError, match="160 images and 159 labels"):
            load_mnist(tmp_path)

    def test_not_digits(self, tmp_path: Path) -> None:
        write(tmp_path)
        letters = np.arange(160, dtype=np.uint8) % 26
        (tmp_path / "train-labels-idx1-ubyte").write_bytes(idx(letters))
        with pytest.raises(ValueError, match="labels below 10"):
            load_mnist(tmp_path)

    @needs_sklearn
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
        mnist = load_mnist.__wrapped__(None)
        assert asked == ["mnist_784"]
        np.testing.assert_array_equal(mnist.train.images, images[:3])
        assert mnist.train.labels.tolist() == [3, 1, 4] and mnist.test.labels.tolist() == [1, 5]


@pytest.mark.parametrize("name", NAMES)
class TestProblems:
    def test_learns_and_repeats(self, name: str, directory: Path) -> None:
        X = torch.tensor([GOOD[name]], dtype=torch.double)
        values = [get_problem(name, SMALL, directory, seed)(X) for seed in (3, 3)]
        assert values[0].shape == (1, 1) and values[0].dtype == torch.double
        assert float(values[0]) > 0.5
        assert torch.equal(*values)

    def test_seed_and_generator(self, name: str, directory: Path) -> None:
        """The seed of the training matters, the state of torch's generator does not."""
        X = torch.tensor([GOOD[name]], dtype=torch.double)
        short = Preset(num_train=30, num_test=40, epochs=1, batch_size=16, filters=(4, 4))
        torch.manual_seed(5)
        state = torch.get_rng_state()
        values = {float(get_problem(name, short, directory, seed)(X)) for seed in range(6)}
        assert len(values) > 1
        assert torch.equal(torch.get_rng_state(), state)

    def test_corners_of_the_hard_limits_have_values(self, name: str, directory: Path) -> None:
        problem = get_problem(name, SMALL, directory)
        limits = problem.hard_limits
        assert limits is not None
        corners = torch.cartesian_prod(*limits.T)
        values = problem(corners)
        assert values.shape == (2**problem.dim, 1)
        assert ((values >= 0) & (values <= 1)).all()
        assert (values == GUESSING).any()  # something diverges there

    def test_start_box_and_optimum(self, name: str, directory: Path) -> None:
        problem = get_problem(name, SMALL, directory)
        assert problem.optimal_value is None and problem.epsilon == 0.02
        box, limits = start_box(problem, 0), problem.hard_limits
        assert limits is not None
        sides = (box[1] - box[0]).tolist()
        expected = {"mnist_elastic_net": [0.4, 0.2], "mnist_mlp": [1.0] * 3}
        assert sides == pytest.approx(expected.get(name, [0.2, 0.2, 0.8]))
        assert (box >= problem.bounds[0]).all() and (box <= problem.bounds[1]).all()
        assert torch.equal(box, start_box(problem, 0))

    def test_presets(self, name: str, directory: Path) -> None:
        assert TASKS[name].presets["paper"].num_train == 55_000
        problem = get_problem(name, "cpu", directory)
        with pytest.raises(ValueError, match=r"at least .* training images"):
            problem(torch.tensor([GOOD[name]], dtype=torch.double))


def test_diverged_training_has_the_accuracy_of_guessing(directory: Path) -> None:
    X = torch.tensor([[30.0, -5.0, -5.0], [-3.0, 60.0, -5.0]], dtype=torch.double)
    assert get_problem("mnist_mlp", SMALL, directory)(X).flatten().tolist() == [GUESSING] * 2


def test_unknown_names(directory: Path) -> None:
    with pytest.raises(KeyError, match="mnist_cnn"):
        get_problem("mnist_cn")
    with pytest.raises(KeyError, match="paper"):
        get_problem("mnist_cnn", "gpu", directory)
