"""CPU seconds of one suggestion of others' optimisers, told the data beforehand, in a wide box."""

import logging
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.optim import optimize_acqf
from botorch.utils.sampling import manual_seed
from torch import Tensor

from benchmarks.methods.log_ei import fit_stock_model
from benchmarks.methods.outside import OptunaContender
from botorch_ubo.boxes import scale_about_center

Contender = Callable[[dict[str, Any]], dict[str, float]]
_WIDE = 50.0  # sides of the first box: those that keep to their box must hold all data in it


def time_stock(data: dict[str, Any]) -> dict[str, float]:
    """BoTorch's tutorial: SingleTaskGP, fit_gpytorch_mll, LogEI, optimize_acqf; in a known box."""
    X, Y, bounds = _tensors(data)
    domain = scale_about_center(bounds, 5.0)
    began = time.process_time()
    with manual_seed(0):
        model = fit_stock_model(X, Y, domain)
        fitted = time.process_time()
        acqf = LogExpectedImprovement(model, best_f=Y.max())
        optimize_acqf(acqf, domain, q=1, num_restarts=10, raw_samples=512)
    return {"fit": fitted - began, "seconds": time.process_time() - began}


def time_optuna(data: dict[str, Any]) -> dict[str, float]:
    """Optuna's GP sampler; the time in which it is told the data does not count."""
    X, Y, bounds = _tensors(data)
    contender = OptunaContender(scale_about_center(bounds, _WIDE), 0)
    study = contender._begin(X, Y)
    began = time.process_time()
    study.ask(contender._space)
    return {"seconds": time.process_time() - began}


def time_ax(data: dict[str, Any]) -> dict[str, float]:
    """Ax's client with its default strategy without initial trials, told the data beforehand."""
    from ax.api.client import Client
    from ax.api.configs import RangeParameterConfig
    from ax.utils.common.logger import set_ax_logger_levels

    set_ax_logger_levels(logging.ERROR)
    X, Y, bounds = _tensors(data)
    names = [f"x{i}" for i in range(X.shape[-1])]
    client = Client(random_seed=0)
    pairs = zip(names, scale_about_center(bounds, _WIDE).T.tolist(), strict=True)
    client.configure_experiment(
        [RangeParameterConfig(name=n, bounds=tuple(b), parameter_type="float") for n, b in pairs]
    )
    client.configure_optimization(objective="value")
    client.configure_generation_strategy(initialization_budget=0)
    for x, y in zip(X.tolist(), Y.flatten().tolist(), strict=True):
        trial = client.attach_trial(dict(zip(names, x, strict=True)))
        client.complete_trial(trial, raw_data={"value": y})
    began = time.process_time()
    client.get_next_trials(max_trials=1)
    return {"seconds": time.process_time() - began}


def _tensors(data: dict[str, Any]) -> Iterator[Tensor]:
    return (torch.tensor(data[key], dtype=torch.double) for key in ("X", "Y", "bounds"))


RIVALS: dict[str, Contender] = {"stock": time_stock, "optuna": time_optuna, "ax": time_ax}
