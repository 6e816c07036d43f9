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
        # Ranges of the suite move away from a start box, are used up, and exist in some trials
        # only: of all that the sampler warns.
        for words in ("The start", "All points of", "'[a-z]+' is drawn at random"):
            warnings.filterwarnings("ignore", words)
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
