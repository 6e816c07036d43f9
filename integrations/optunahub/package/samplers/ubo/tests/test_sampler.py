from pathlib import Path

import optuna
import optunahub
import pytest
from optuna.testing.pytest_samplers import SingleOnlySamplerTestCase

ROOT = Path(__file__).parents[3]
UBOSampler = optunahub.load_local_module(package="samplers/ubo", registry_root=str(ROOT)).UBOSampler


class TestUBOSampler(SingleOnlySamplerTestCase):
    @pytest.fixture
    def sampler(self):
        return lambda: UBOSampler(n_startup_trials=1)


def test_the_example_is_solved():
    study = optuna.create_study(sampler=UBOSampler(start={"x": (-1.0, 1.0)}, seed=0))
    study.optimize(lambda trial: (trial.suggest_float("x", -1e6, 1e6) - 12) ** 2, n_trials=15)
    assert study.best_value < 1.0
