"""Three tuning tasks of the paper on MNIST: elastic net, multilayer perceptron, convolutional net.

The value is the accuracy on held-out images, to be maximised. The start box is a fifth of a
domain per side, placed at random in it; the optimum need not lie in that domain and is not known.

  mnist_elastic_net  log10 of the penalty alpha in [-3, -1], l1_ratio in [0, 1]
  mnist_mlp          log10 of the learning rate and of the L2 penalties of the two hidden layers,
                     each in [-6, -1]
  mnist_cnn          dropout rates after the two pooling layers in [0, 1], log10 of the learning
                     rate in [-5, -1]

Hard limits are the authors': exponents in [-100, 100], rates and ratios in [1e-8, 1]. The
paper's text has the scales of the elastic net the other way round; its domain and the authors'
code have them as here. What the paper leaves open is as in that code: logistic loss and 20
passes for the elastic net, squared error for the perceptron, 32 and 64 filters of 5 x 5.
Dropout acts in training only.

Presets: ``paper`` (55 000 images, 20 epochs, 10 000 test images: minutes to hours per
evaluation) and ``cpu`` (less than a second on one thread: fewer images and epochs, a quarter of
the filters).
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from benchmarks.problems import mnist_training
from benchmarks.problems.mnist_data import Split, load_mnist
from benchmarks.problems.mnist_training import Data, Preset
from benchmarks.problems.problem import Family, Problem, Sources

EPSILON = 0.02  # the paper's accuracy for these tasks


@dataclass(frozen=True)
class Task:
    """One model to tune.

    Attributes:
        train: Parameters, data, preset and seed to accuracy.
        domain: Where start boxes are placed.
        hard_limits: Which no method may cross.
        cpu: The preset for one thread.
    """

    train: Callable[[Sequence[float], Data, Preset, int], float]
    domain: tuple[tuple[float, float], ...]
    hard_limits: tuple[tuple[float, float], ...]
    cpu: Preset


PAPER = Preset(num_train=55_000, num_test=10_000, epochs=20)
_EXPONENT = (-100.0, 100.0)
_RATE = (1e-8, 1.0)

TASKS: dict[str, Task] = {
    "mnist_elastic_net": Task(
        train=mnist_training.train_elastic_net,
        domain=((-3.0, -1.0), (0.0, 1.0)),
        hard_limits=(_EXPONENT, _RATE),
        cpu=Preset(num_train=2_000, num_test=2_000, epochs=5),
    ),
    "mnist_mlp": Task(
        train=mnist_training.train_mlp,
        domain=((-6.0, -1.0),) * 3,
        hard_limits=(_EXPONENT,) * 3,
        cpu=Preset(num_train=1_500, num_test=2_000, epochs=4),
    ),
    "mnist_cnn": Task(
        train=mnist_training.train_cnn,
        domain=((0.0, 1.0), (0.0, 1.0), (-5.0, -1.0)),
        hard_limits=(_RATE, _RATE, _EXPONENT),
        cpu=Preset(num_train=1_000, num_test=1_000, epochs=3, batch_size=32, filters=(8, 16)),
    ),
}


def make_mnist(name: str, seed: int, sources: Sources) -> Problem:
    """A tuning task as a problem; the seed is that of every training too."""
    presets = {"paper": PAPER, "cpu": TASKS[name].cpu}
    if sources.preset not in presets:
        raise KeyError(f"Expected a preset of {sorted(presets)}; got {sources.preset!r}.")
    return tuning_problem(name, presets[sources.preset], sources.data_dir, seed)


def tuning_problem(name: str, preset: Preset, data_dir: Path | None, seed: int) -> Problem:
    """A tuning task of a given size on the files of a directory, or of OpenML if ``None``."""
    task = TASKS[name]
    return Problem(
        name=name,
        function=partial(_evaluate, task, preset, data_dir, seed),
        bounds=torch.tensor(task.domain, dtype=torch.double).T,
        hard_limits=torch.tensor(task.hard_limits, dtype=torch.double).T,
        optimal_value=None,
        optimizer=None,
        epsilon=EPSILON,
        notes={"preset": asdict(preset)},
    )


def _evaluate(task: Task, preset: Preset, data_dir: Path | None, seed: int, X: Tensor) -> Tensor:
    data = _prepare(data_dir, preset.num_train, preset.num_test)
    values = [task.train(x, data, preset, seed) for x in X.tolist()]
    return torch.tensor(values, dtype=torch.double)


@cache
def _prepare(data_dir: Path | None, num_train: int, num_test: int) -> Data:
    """The first images in a fixed random order: the second half of the test files is harder."""
    train, test = load_mnist(data_dir)
    side = train.images.shape[-1]
    return Data(*_choose(train, num_train, "training"), *_choose(test, num_test, "test"), side)


def _choose(split: Split, count: int, kind: str) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    known = len(split.labels)
    if known < count:
        raise ValueError(f"Expected at least {count} {kind} images; the data have {known}.")
    chosen = np.random.default_rng(0).permutation(known)[:count]
    pixels = np.divide(split.images[chosen].reshape(count, -1), 255, dtype=np.float32)
    return pixels, split.labels[chosen].astype(np.int64)


FAMILY = Family("mnist", "MNIST, optimum not known", tuple(TASKS), make_mnist)
