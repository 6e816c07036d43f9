from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from benchmarks.runs import gpu
from benchmarks.runs.gpu import Case, compare, measure

SMALL = Case(n=8, dim=2, dtype="double")
needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
# Few steps on purpose, and single precision is a question.
pytestmark = pytest.mark.filterwarnings("ignore::botorch.exceptions.warnings.BotorchWarning")


class TestStages:
    @pytest.mark.slow
    @pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=needs_cuda)])
    @pytest.mark.parametrize(
        "stage", ["fit", "geometry", "search", "default: fit", "default: suggestion"]
    )
    def test_times_every_repeat(self, stage: str, device: str) -> None:
        timing = measure(SMALL, device, stage, repeats=3, q=2, restarts=2)
        assert timing["error"] is None
        assert len(timing["seconds"]) == 3 and min(timing["seconds"]) > 0
        assert timing["peak_memory"] > 0
        assert ("q" in timing) == (stage == "search")

    def test_the_search_does_not_count_the_geometry(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A geometry that takes a second (of a clock that only it advances) costs it nothing."""
        now = 0.0
        update = gpu.ExpandingBounds.update

        def slow_update(self: Any, model: Any) -> Any:
            nonlocal now
            now += 1.0
            return update(self, model)

        monkeypatch.setattr(gpu.ExpandingBounds, "update", slow_update)
        monkeypatch.setattr(gpu, "clock", lambda device: now)
        assert gpu.time_search(SMALL, "cpu", q=1, restarts=2) == 0.0
        assert gpu.time_geometry(SMALL, "cpu") == 1.0

    def test_a_failure_is_a_result(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(case: Case, device: str) -> float:
            raise torch.OutOfMemoryError("out of memory\nTried to allocate")

        monkeypatch.setattr(gpu, "time_fit", fail)
        timing = measure(SMALL, "cpu", "fit", repeats=3)
        assert timing["seconds"] == [] and timing["error"] == "OutOfMemoryError: out of memory"

    def test_models_are_the_same_but_for_their_precision(self) -> None:
        double, single = (replace(SMALL, dtype=dtype).model("cpu") for dtype in ("double", "float"))
        assert single.train_targets.dtype == torch.float
        torch.testing.assert_close(
            double.posterior(torch.ones(1, 2, dtype=torch.double)).mean.float(),
            single.posterior(torch.ones(1, 2)).mean,
            rtol=1e-3,
            atol=1e-3,
        )


class TestEquality:
    def test_the_cpu_is_equal_to_itself(self) -> None:
        found = compare(SMALL, "cpu")
        assert found["equal"]
        assert {found[k] for k in ("box", "acquisition", "gradient", "suggestion")} == {0.0}

    @needs_cuda
    def test_cuda(self) -> None:
        assert compare(SMALL, "cuda")["equal"]

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["box", "gradient"])
    @pytest.mark.parametrize(("dtype", "equal"), [("double", False), ("float", True)])
    def test_a_wrong_number_shows_and_single_precision_has_more_room(
        self, name: str, dtype: str, equal: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        original = gpu._compute

        def compute(case: Case, device: str) -> dict[str, torch.Tensor]:
            values = original(replace(case, dtype="double"), "cpu")
            return {**values, name: values[name] * (1 + 1e-4)} if device == "xpu" else values

        monkeypatch.setattr(gpu, "_compute", compute)
        monkeypatch.setattr(gpu, "_default_behind", lambda case, device: 0.0)
        found = compare(replace(SMALL, dtype=dtype), "xpu")
        assert found["equal"] == equal
        assert found[name] == pytest.approx(1e-4, rel=1e-3)

    @pytest.mark.slow
    @pytest.mark.parametrize(("behind", "equal"), [(0.0, True), (0.1, False)])
    def test_a_worse_suggestion_of_the_default_shows(
        self, behind: float, equal: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(gpu, "_default_behind", lambda case, device: behind)
        found = compare(SMALL, "cpu")
        assert found["default"] == behind and found["equal"] == equal
