"""Train the classifiers of the MNIST tuning tasks; each function returns the test accuracy.

A training that diverges has the accuracy of guessing: that is what such a classifier has, and
whoever tunes a learning rate wants to know it.
"""

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from botorch.utils.sampling import manual_seed
from numpy.typing import NDArray
from torch import Tensor, nn

from benchmarks.problems.mnist_data import NUM_CLASSES

GUESSING = 1 / NUM_CLASSES


@dataclass(frozen=True)
class Preset:
    """How much work one evaluation is."""

    num_train: int
    num_test: int
    epochs: int
    batch_size: int = 128
    filters: tuple[int, int] = (32, 64)


@dataclass(frozen=True)
class Data:
    """Pixels in [0, 1], one row per image, digits, and the side of an image in pixels."""

    train_X: NDArray[np.float32]
    train_Y: NDArray[np.int64]
    test_X: NDArray[np.float32]
    test_Y: NDArray[np.int64]
    side: int


def train_elastic_net(x: Sequence[float], data: Data, preset: Preset, seed: int) -> float:
    """Logistic regression with penalty ``10^x0`` and share ``x1`` of L1, by SGD."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import SGDClassifier

    classifier = SGDClassifier(
        loss="log_loss", penalty="elasticnet", alpha=10.0 ** x[0], l1_ratio=x[1],
        max_iter=preset.epochs, tol=None, random_state=seed,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # as many passes as the preset says
        try:
            classifier.fit(data.train_X, data.train_Y)
        except ValueError as error:
            if "overflow" not in str(error):
                raise
            return GUESSING
    return float(classifier.score(data.test_X, data.test_Y))


def train_mlp(x: Sequence[float], data: Data, preset: Preset, seed: int) -> float:
    """Two layers of 512; learning rate ``10^x0``, L2 penalties ``10^x1`` and ``10^x2``."""
    with manual_seed(seed):
        first, second = nn.Linear(data.side**2, 512), nn.Linear(512, 512)
        net = nn.Sequential(first, nn.ReLU(), second, nn.ReLU(), nn.Linear(512, NUM_CLASSES))
        penalties = ((first.weight, 10.0 ** x[1]), (second.weight, 10.0 ** x[2]))

        def loss(output: Tensor, target: Tensor) -> Tensor:
            value = nn.functional.mse_loss(
                output, nn.functional.one_hot(target, NUM_CLASSES).to(output)
            )
            for weight, factor in penalties:
                value = value + factor * weight.square().sum() / 2
            return value

        return _fit(net, loss, 10.0 ** x[0], data, (data.side**2,), preset)


def train_cnn(x: Sequence[float], data: Data, preset: Preset, seed: int) -> float:
    """Two convolutional layers; dropout ``x0`` and ``x1`` behind them, learning rate ``10^x2``."""
    first, second = preset.filters
    with manual_seed(seed):
        net = nn.Sequential(
            nn.Conv2d(1, first, 5, padding="same"), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(x[0]),
            nn.Conv2d(first, second, 5, padding="same"), nn.ReLU(), nn.MaxPool2d(2),
            nn.Dropout(x[1]), nn.Flatten(), nn.Linear(second * (data.side // 4) ** 2, NUM_CLASSES),
        )  # fmt: skip
        shape = (1, data.side, data.side)
        return _fit(net, nn.functional.cross_entropy, 10.0 ** x[2], data, shape, preset)


def _fit(
    net: nn.Sequential,
    loss: Callable[[Tensor, Tensor], Tensor],
    learning_rate: float,
    data: Data,
    shape: tuple[int, ...],
    preset: Preset,
) -> float:
    """Train with Adam, in single precision, and return the accuracy on the test images."""
    if learning_rate > torch.finfo(torch.float).max:
        return GUESSING  # torch refuses it; the first step would end in infinite weights
    for name, parameter in net.named_parameters():
        if name.endswith("weight"):
            nn.init.xavier_uniform_(parameter)
        else:
            nn.init.zeros_(parameter)
    # In this layout the small convolutions take two thirds of the time.
    net = net.float().to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    X = torch.from_numpy(data.train_X).reshape(-1, *shape)
    Y = torch.from_numpy(data.train_Y)
    optimizer = torch.optim.Adam(net.parameters(), lr=learning_rate, foreach=True)
    net.train()
    for _ in range(preset.epochs):
        for batch in torch.randperm(len(X)).split(preset.batch_size):
            optimizer.zero_grad()
            value = loss(net(X[batch]), Y[batch])
            if not math.isfinite(value.item()):
                return GUESSING
            value.backward()
            optimizer.step()
    net.eval()
    with torch.no_grad():
        parts = torch.from_numpy(data.test_X).reshape(-1, *shape).split(1000)
        output = torch.cat([net(part) for part in parts])
    if not output.isfinite().all():
        return GUESSING
    return float((output.argmax(dim=-1).numpy() == data.test_Y).mean())
