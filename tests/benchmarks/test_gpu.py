from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks import gpu_cases, gpu_equality
from benchmarks.__main__ import main
from benchmarks.gpu_cases import Case, Timing, measure
from benchmarks.gpu_equality import Equality, compare

SMALL = Case(n=8, dim=2, dtype="double")
needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
pytestmark = pytest.mark.filterwarnings("ignore")


class TestStages:
    @pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=needs_cuda)])
    @pytest.mark.parametrize("stage", ["fit", "geometry", "search"])
    def test_times_every_repeat(self, stage: str, device: str) -> None:
        timing = measure(SMALL, device, stage, repeats=3, q=2, restarts=2)
        assert timing.error is None
        assert len(timing.seconds) == 3 and min(timing.seconds) > 0
        assert timing.peak_memory is not None and timing.peak_memory > 0
        assert (timing.q, timing.restarts) == ((2, 2) if stage == "search" else (None, None))

    def test_the_search_does_not_count_the_geometry(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A geometry that takes a second (of a clock that only it advances) costs it nothing."""
        now = 0.0
        step = gpu_cases.ExpandingBounds._step

        def slow_step(self: Any, model: Any) -> Any:
            nonlocal now
            now += 1.0
            return step(self, model)

        monkeypatch.setattr(gpu_cases.ExpandingBounds, "_step", slow_step)
        monkeypatch.setattr(gpu_cases, "clock", lambda device: now)
        assert gpu_cases.time_search(SMALL, "cpu", q=1, restarts=2) == 0.0
        assert gpu_cases.time_geometry(SMALL, "cpu") == 1.0

    def test_a_failure_is_a_result(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(case: Case, device: str) -> float:
            raise torch.OutOfMemoryError("out of memory\nTried to allocate")

        monkeypatch.setattr(gpu_cases, "time_fit", fail)
        timing = measure(SMALL, "cpu", "fit", repeats=3)
        assert timing.seconds == [] and timing.error == "OutOfMemoryError: out of memory"

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
        equality = compare(SMALL, "cpu")
        assert equality.equal and set(equality.differences.values()) == {0.0}
        assert {"box", "acquisition", "gradient", "suggestion"} < set(equality.differences)

    @needs_cuda
    def test_cuda(self) -> None:
        assert compare(SMALL, "cuda").equal

    @pytest.mark.parametrize("name", ["box", "gradient", "likelihood"])
    def test_a_wrong_number_shows(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        original = gpu_equality._compute

        def compute(case: Case, device: str) -> dict[str, torch.Tensor]:
            values = original(case, "cpu")
            return {**values, name: values[name] * (1 + 1e-4)} if device == "xpu" else values

        monkeypatch.setattr(gpu_equality, "_compute", compute)
        equality = compare(SMALL, "xpu")
        assert not equality.equal
        assert equality.differences[name] == pytest.approx(1e-4, rel=1e-3)

    def test_single_precision_is_given_more_room(self) -> None:
        differences = {"box": 1e-4}
        assert not Equality(SMALL, "cuda", differences).equal
        assert Equality(replace(SMALL, dtype="float"), "cuda", differences).equal


class TestTables:
    def timings(self, cuda: dict[int, float]) -> list[Timing]:
        """A CPU whose time grows with n, and a GPU of given times."""
        found = []
        for n in (32, 64, 128, 256):
            case = replace(SMALL, n=n)
            found.append(Timing(case, "cpu", "fit", seconds=[n * 1e-3] * 3, peak_memory=100.0))
            if n in cuda:
                found.append(Timing(case, "cuda", "fit", seconds=[cuda[n]], peak_memory=9.0))
        return found

    def test_without_a_gpu_nothing_is_claimed(self) -> None:
        tables = pytest.importorskip("benchmarks.gpu_tables", reason="needs pandas")
        text = tables.format_report(self.timings({}), [], has_gpu=False)
        assert "| 64 | 2 | double | 64.0 [64.0, 64.0] | 100 | – | – | – |" in text
        assert "no GPU figure has been measured" in text and "from n" not in text

    def test_crossover(self) -> None:
        tables = pytest.importorskip("benchmarks.gpu_tables", reason="needs pandas")
        # faster at 32 by accident, slower at 64, faster from 128 on
        found = self.timings({32: 0.01, 64: 0.08, 128: 0.1, 256: 0.1})
        text = tables.format_report(found, [], has_gpu=True)
        assert "| fit | 2 | double | – | – | 128 |" in text
        row = "| 256 | 2 | double | 256.0 [256.0, 256.0] | 100 | 100.0 [100.0, 100.0] | 9 | 2.56 |"
        assert row in text
        slow = tables.format_report(self.timings(dict.fromkeys((32, 256), 9.0)), [], has_gpu=True)
        assert "not up to 256" in slow

    def test_failures_and_inequality_show(self) -> None:
        tables = pytest.importorskip("benchmarks.gpu_tables", reason="needs pandas")
        failed = Timing(SMALL, "cuda", "fit", error="OutOfMemoryError: sorry", peak_memory=1.0)
        equality = Equality(SMALL, "cuda", {"box": 0.5})
        text = tables.format_report([*self.timings({}), failed], [equality], has_gpu=True)
        assert "OutOfMemoryError: sorry" in text
        assert "| cuda | 8 | 2 | double | 5.0e-01 | NO |" in text


class TestCommand:
    def test_cpu_alone(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        pytest.importorskip("pandas")
        output = tmp_path / "new" / "gpu.json"
        arguments = ["--smoke", "--devices", "cpu", "--dtypes", "double", "--output", str(output)]
        assert main(["gpu", *arguments]) == 0
        kept = json.loads(output.read_text())
        assert {t["stage"] for t in kept["timings"]} == {"fit", "geometry", "search"}
        assert all(len(t["seconds"]) == 2 and t["device"] == "cpu" for t in kept["timings"])
        assert kept["metadata"]["packages"]["torch"]
        text = output.with_suffix(".md").read_text()
        assert "## Search" in text and '"threads"' in text
        if not torch.cuda.is_available():
            assert "no GPU figure has been measured" in text

    @pytest.mark.slow
    def test_pretend_device_is_compared_and_not_timed(self, tmp_path: Path) -> None:
        pytest.importorskip("pandas")
        output = tmp_path / "gpu.json"
        assert main(["gpu", "--smoke", "--dtypes", "double", "--output", str(output)]) == 0
        kept = json.loads(output.read_text())
        equality = kept["equalities"][-1]
        assert equality["device"] == "simgpu" and equality["equal"]
        assert max(equality["differences"].values()) < 1e-6
        assert "simgpu" not in {t["device"] for t in kept["timings"]}

    def test_bad_arguments(self) -> None:
        pytest.importorskip("pandas")
        with pytest.raises(SystemExit, match="sizes"):
            main(["gpu", "--sizes", "1"])
        with pytest.raises(SystemExit, match=r"FILE\.json"):
            main(["gpu", "--smoke", "--output", "gpu.md"])
