"""Optuna's own suite for samplers, with and without a start box."""

import warnings

import pytest
from optuna.testing.pytest_samplers import (
    BasicSamplerTestCase,
    RelativeSamplerTestCase,
    SingleOnlySamplerTestCase,
)

from botorch_ubo import SearchSettings
from botorch_ubo.integrations.optuna import UBOSampler

QUICK = SearchSettings(num_restarts=1, raw_samples=16)


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        # Ranges of the suite move away from a start box, and of that the sampler warns.
        warnings.filterwarnings("ignore", "The start")
        yield


@pytest.mark.slow
class TestWithoutStart(BasicSamplerTestCase, RelativeSamplerTestCase, SingleOnlySamplerTestCase):
    @pytest.fixture
    def sampler(self):
        return lambda: UBOSampler(n_startup_trials=1, search=QUICK)


@pytest.mark.slow
class TestWithStart(BasicSamplerTestCase, RelativeSamplerTestCase, SingleOnlySamplerTestCase):
    @pytest.fixture
    def sampler(self):
        start = {"x": (2, 3), "y": (1, 2)}
        return lambda: UBOSampler(start, n_startup_trials=1, search=QUICK)
