"""Scores as functions of parameters by name: models of scikit-learn, and formulas."""

import math
from typing import Any

from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

from benchmarks.problems.tuning_models import _score, _split

_MOST_TREES, _MOST_UNITS = 300, 200  # where a careful user would cap what costs


def svc(p: dict[str, Any]) -> float:
    model = SVC(C=p["C"], gamma=p["gamma"], kernel=p["kernel"], max_iter=5_000)
    return _score(model, _split("digits", 0))


def forest(p: dict[str, Any]) -> float:
    model = RandomForestClassifier(
        n_estimators=min(p["trees"], _MOST_TREES),
        max_depth=min(p["depth"], 100),
        max_features=p["features"],
        criterion=p["criterion"],
        random_state=0,
    )
    return _score(model, _split("digits", 0))


def perceptron(p: dict[str, Any]) -> float:
    model = MLPClassifier(
        hidden_layer_sizes=(min(p["units"], _MOST_UNITS),),
        learning_rate_init=min(p["rate"], 1e6),
        alpha=min(p["decay"], 1e12),
        activation=p["activation"],
        max_iter=30,
        random_state=0,
    )
    return _score(model, _split("digits", 0))


def boosting(p: dict[str, Any]) -> float:
    model = GradientBoostingRegressor(
        learning_rate=min(p["rate"], 1e3),
        n_estimators=min(p["trees"], _MOST_TREES),
        max_depth=min(p["depth"], 20),
        subsample=p["share"],
        loss=p["loss"],
        random_state=0,
    )
    return max(_score(model, _split("friedman", 0)), -10.0)


def neighbours(p: dict[str, Any]) -> float:
    X, _, _, _ = data = _split("digits", 0)
    model = KNeighborsClassifier(
        n_neighbors=min(p["k"], len(X)), p=p["power"], weights=p["weights"]
    )
    return _score(model, data)


def integers(p: dict[str, Any]) -> float:
    a, b = p["a"] - 37, p["b"] - 22
    return -(a * a + b * b + a * b) / 100


def hills(p: dict[str, Any]) -> float:
    x, y, height = {"a": (2, 3, 3.0), "b": (-4, 1, 2.0), "c": (7, 6, 0.0), "d": (5, -3, 1.0)}[
        p["hill"]
    ]
    return -height - math.log1p((p["x"] - x) ** 2 + 2 * (p["y"] - y) ** 2)


def everything(p: dict[str, Any]) -> float:
    kind = {"a": 1.0, "b": 0.0, "c": 0.5}[p["kind"]]
    size = abs(math.log2(p["size"] / 64)) / 2
    return -(math.log10(p["rate"]) ** 2 + abs(p["n"] - 12) / 6 + size + kind + (p["x"] - 4) ** 2)


def flags(p: dict[str, Any]) -> float:
    wrong = sum(p[f"flag{i}"] != (i % 2 == 0) for i in range(4))
    return -(wrong + (p["x"] - 3 - 0.5 * p["flag0"]) ** 2 / 4)
