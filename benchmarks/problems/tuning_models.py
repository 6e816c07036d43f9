"""Scores of scikit-learn estimators on its bundled data, as functions of what is tuned.

Each takes the parameters and a split's number, and trains once. Exponents of ten stand for what
ranges over orders of magnitude, and are not limited; integers are rounded. What costs, iterations,
trees and units, is capped where a careful user would cap it: an absurd place costs many times an
ordinary one, but ends. What scikit-learn refuses or cannot compute is raised, as to any user.
"""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.kernel_approximation import RBFSampler
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    ElasticNet,
    LogisticRegression,
    QuantileRegressor,
    Ridge,
    SGDClassifier,
)
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier

Array = NDArray[np.float64]
Split = tuple[Array, Array, Array, Array]  # inputs to train and to test on, then outcomes

TRAIN_SIZE = 200
_TEST_SIZE = 300  # at most
_MAX_ITERATIONS = 20_000  # of support vector machines


@cache
def _split(name: str, split: int, train_size: int = TRAIN_SIZE) -> Split:
    """Standardised inputs of a part of the data, which part depends on the split's number."""
    if name == "friedman":
        X, y = datasets.make_friedman1(1000, noise=1.0, random_state=0)
    elif name == "moons":
        X, y = datasets.make_moons(1000, noise=0.25, random_state=0)
    else:
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    test_size = min(_TEST_SIZE, len(X) - train_size)
    stratify = y if y.dtype.kind == "i" else None
    parts = train_test_split(
        X, y, train_size=train_size, test_size=test_size, random_state=split, stratify=stratify
    )
    scaler = StandardScaler().fit(parts[0])
    return scaler.transform(parts[0]), scaler.transform(parts[1]), parts[2], parts[3]


def _score(estimator: Any, data: Split) -> float:
    """Accuracy of a classifier, R^2 of a regressor."""
    return float(estimator.fit(data[0], data[2]).score(data[1], data[3]))


def _log_likelihood(estimator: Any, data: Split) -> float:
    """Mean log-likelihood of a classifier's probabilities."""
    estimator.fit(data[0], data[2])
    return -float(log_loss(data[3], estimator.predict_proba(data[1]), labels=estimator.classes_))


def _count(exponent: float, least: int, most: int) -> int:
    return min(max(round(10.0**exponent), least), most)


def logistic(log_c: float, *, split: int) -> float:
    return _log_likelihood(LogisticRegression(C=10.0**log_c, max_iter=300), _split("digits", split))


def ridge(log_alpha: float, *, split: int) -> float:
    features = PolynomialFeatures(2, include_bias=False)
    return _score(make_pipeline(features, Ridge(10.0**log_alpha)), _split("diabetes", split))


def elastic_net(log_alpha: float, l1_ratio: float, *, split: int) -> float:
    features = PolynomialFeatures(2, include_bias=False)
    model = ElasticNet(alpha=10.0**log_alpha, l1_ratio=l1_ratio, max_iter=500)
    return _score(make_pipeline(features, model), _split("diabetes", split))


def quantile(log_alpha: float, log_scale: float, *, split: int) -> float:
    """A linear median regression of inputs that are first bent by ``asinh``."""
    X, X_test, y, y_test = _split("diabetes", split, 100)
    scale = 10.0**log_scale
    data = np.arcsinh(scale * X), np.arcsinh(scale * X_test), y / y.std(), y_test / y.std()
    return _score(QuantileRegressor(alpha=10.0**log_alpha), data)


def sgd(log_alpha: float, log_rate: float, log_tolerance: float, *, split: int) -> float:
    model = SGDClassifier(
        alpha=10.0**log_alpha,
        eta0=10.0**log_rate,
        tol=10.0**log_tolerance,
        learning_rate="constant",
        max_iter=200,
        random_state=split,
    )
    return _score(model, _split("breast_cancer", split))


def svc(data: str, log_c: float, log_gamma: float, *, split: int) -> float:
    model = SVC(C=10.0**log_c, gamma=10.0**log_gamma, max_iter=_MAX_ITERATIONS)
    return _score(model, _split(data, split))


def svr(log_c: float, log_gamma: float, log_epsilon: float, *, split: int) -> float:
    model = SVR(
        C=10.0**log_c,
        gamma=10.0**log_gamma,
        epsilon=10.0**log_epsilon,
        max_iter=_MAX_ITERATIONS,
    )
    return _score(model, _split("friedman", split))


def kernel_ridge(log_alpha: float, log_gamma: float, *, split: int) -> float:
    X, X_test, y, y_test = _split("diabetes", split)
    model = KernelRidge(alpha=10.0**log_alpha, gamma=10.0**log_gamma, kernel="rbf")
    return _score(model, (X, X_test, y - y.mean(), y_test - y.mean()))


def random_features(log_count: float, log_gamma: float, log_alpha: float, *, split: int) -> float:
    features = RBFSampler(
        gamma=10.0**log_gamma, n_components=_count(log_count, 1, 3000), random_state=split
    )
    return _score(make_pipeline(features, Ridge(10.0**log_alpha)), _split("friedman", split))


def tree(depth: float, log_leaf: float, log_pruning: float, *, split: int) -> float:
    model = DecisionTreeClassifier(
        max_depth=max(round(depth), 1),
        min_samples_leaf=max(round(10.0**log_leaf), 1),
        ccp_alpha=10.0**log_pruning,
        random_state=split,
    )
    return _score(model, _split("digits", split))


def forest(log_trees: float, depth: float, log_leaf: float, *, split: int) -> float:
    model = RandomForestClassifier(
        n_estimators=_count(log_trees, 1, 200),
        max_depth=max(round(depth), 1),
        min_samples_leaf=max(round(10.0**log_leaf), 1),
        random_state=split,
    )
    return _log_likelihood(model, _split("wine", split, 80))


def boosting(
    log_rate: float,
    log_trees: float,
    depth: float,
    subsample: float,
    log_leaf: float,
    *,
    split: int,
) -> float:
    model = GradientBoostingRegressor(
        learning_rate=10.0**log_rate,
        n_estimators=_count(log_trees, 1, 500),
        max_depth=min(max(round(depth), 1), 12),
        subsample=subsample,
        min_samples_leaf=max(round(10.0**log_leaf), 1),
        random_state=split,
    )
    return _score(model, _split("friedman", split))


def neighbours(log_count: float, log_power: float, *, split: int) -> float:
    model = KNeighborsClassifier(
        n_neighbors=_count(log_count, 1, TRAIN_SIZE), p=10.0**log_power, algorithm="brute"
    )
    return _score(model, _split("digits", split))


def perceptron(
    log_rate: float, log_alpha: float, log_units: float, log_batch: float, *, split: int
) -> float:
    model = MLPClassifier(
        (_count(log_units, 1, 300),),
        solver="sgd",
        learning_rate_init=10.0**log_rate,
        alpha=10.0**log_alpha,
        batch_size=_count(log_batch, 5, TRAIN_SIZE),
        max_iter=15,
        random_state=split,
    )
    return _log_likelihood(model, _split("digits", split))


def gaussian_process(
    log_length: float, log_noise: float, log_amplitude: float, *, split: int
) -> float:
    kernel = ConstantKernel(10.0 ** (2 * log_amplitude)) * RBF(10.0**log_length)
    model = GaussianProcessRegressor(
        kernel, alpha=10.0**log_noise, optimizer=None, normalize_y=True
    )
    X, X_test, y, y_test = _split("diabetes", split)
    mean, std = model.fit(X, y).predict(X_test, return_std=True)
    variance = std**2 + 10.0**log_noise * y.var()
    return float(np.mean(-0.5 * np.log(variance / y.var()) - (y_test - mean) ** 2 / (2 * variance)))
