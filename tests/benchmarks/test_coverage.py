from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from benchmarks import coverage
from benchmarks.__main__ import main
from benchmarks.coverage import format_report
from benchmarks.coverage_search import Search, Settings, search_path
from benchmarks.sample_paths import draw_path, known_model, maximum_in
from tests.helpers import tensor

SETTINGS = Settings(delta=0.1, epsilon=0.05, lengthscale=0.5, max_evaluations=40)
ARGUMENTS = ["coverage", "--paths", "1", "--dims", "1", "--lengthscale", "0.5"]


class TestSamplePaths:
    def test_covariance_is_the_kernels(self) -> None:
        """Over paths, values at two places have variance 1 and the kernel's covariance."""
        X = tensor([[0.0, 0.0], [0.3, 0.1]])
        values = torch.cat([draw_path(2, 0.4, seed)(X).T for seed in range(200)])
        expected = math.exp(-(0.3**2 + 0.1**2) / (2 * 0.4**2))
        covariance = values.T @ values / len(values)
        torch.testing.assert_close(
            covariance, tensor([[1.0, expected], [expected, 1.0]]), rtol=0, atol=0.25
        )
        assert values.mean(dim=0).abs().max() < 0.15

    def test_a_path_is_repeatable_and_a_function(self) -> None:
        X = torch.rand(7, 1, dtype=torch.double)
        path = draw_path(1, 0.2, 3)
        assert path(X).shape == (7, 1)
        torch.testing.assert_close(path(X), draw_path(1, 0.2, 3)(X))
        assert not torch.allclose(path(X), draw_path(1, 0.2, 4)(X))

    def test_the_model_is_the_paths_own(self) -> None:
        X = torch.linspace(0, 1, 9, dtype=torch.double).unsqueeze(-1)
        model = known_model(X, draw_path(1, 0.25, 0)(X), 0.25)
        posterior = model.posterior(tensor([[0.53], [40.0]]))
        truth = draw_path(1, 0.25, 0)(tensor([[0.53]]))
        assert posterior.mean[0].item() == pytest.approx(truth.item(), abs=0.02)
        assert posterior.variance[1].item() == pytest.approx(1.0)

    @pytest.mark.parametrize("dim", [1, 2, 3])
    def test_maximum(self, dim: int) -> None:
        """Known maxima: one off the grid, one at a corner of the box."""
        box = tensor([[0.0] * dim, [1.0] * dim])
        center = torch.full((dim,), 1 / math.pi, dtype=torch.double)
        inner = maximum_in(lambda X: 2 - (X - center).square().sum(-1, keepdim=True), box)
        assert inner == pytest.approx(2.0, abs=1e-9)
        assert maximum_in(lambda X: X.sum(-1, keepdim=True), box) == pytest.approx(dim)

    def test_too_many_dimensions(self) -> None:
        with pytest.raises(ValueError, match="dense grid"):
            maximum_in(lambda X: X[:, :1], tensor([[0.0] * 4, [1.0] * 4]))


class TestSearch:
    def test_stops_when_the_trigger_fires(self) -> None:
        search = search_path((1, 0, "beta"), SETTINGS)
        assert search.fired and search.covered
        assert search.epsilon is not None and search.regret_bound is not None
        assert search.regret <= search.regret_bound <= search.epsilon
        # 1/t^2 alone exceeds epsilon for four evaluations after the initial three
        assert 7 <= search.evaluations < SETTINGS.max_evaluations

    def test_a_fifth_of_beta(self) -> None:
        full, fifth = (search_path((1, 1, beta), SETTINGS) for beta in ("beta", "beta/5"))
        assert fifth.evaluations <= full.evaluations
        assert fifth.sqrt_beta < full.sqrt_beta / 2

    def test_gives_up(self) -> None:
        search = search_path((1, 0, "beta"), replace(SETTINGS, max_evaluations=5))
        assert search.evaluations == 5 and not search.fired and not search.covered
        assert search.regret_bound is None


def made_up(path: int, beta: str, regret: float, epsilon: float | None = 0.1) -> Search:
    return Search(1, path, beta, 10 + path, regret, epsilon, epsilon, 3.0, 0.1)


def test_report_counts_and_judges() -> None:
    """8 of 10 within epsilon, one search did not fire; tables have 0.444 to 0.975 for 8 of 10."""
    full = [made_up(i, "beta", 0.05) for i in range(8)]
    full += [made_up(8, "beta", 0.15), made_up(9, "beta", 0.3), made_up(10, "beta", 0.0, None)]
    text = format_report(full, SETTINGS)
    assert (
        "| 1 | beta | 11 | 10 | 8 | 0.800 | 0.444 to 0.975 | 14.5 (10 to 19) | 3.00 | 3.00 |"
        in text
    )
    assert "coverage 0.800, promised at least 0.9: MISSED" in text
    assert "| 1 | beta/5 | 0 | 0 | – |" in text
    assert "0.889, promised at least 0.8: met" in format_report(
        full[:9], replace(SETTINGS, delta=0.2)
    )


class TestCommand:
    def test_continues_where_it_stopped(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        output = tmp_path / "new" / "coverage.json"
        assert main([*ARGUMENTS, "--output", str(output)]) == 0
        kept = json.loads(output.read_text())
        assert [s["beta"] for s in kept["searches"]] == ["beta", "beta/5"]
        assert kept["metadata"]["packages"]["botorch"] and kept["settings"]["delta"] == 0.1
        text = output.with_suffix(".md").read_text()
        assert text.startswith("# Coverage") and "promised at least 0.9: met" in text

        asked = []
        original = coverage.search_path
        monkeypatch.setattr(
            coverage, "search_path", lambda key, s: asked.append(key) or original(key, s)
        )
        capsys.readouterr()
        assert main([*ARGUMENTS, "--paths", "2", "--output", str(output)]) == 0
        assert asked == [(1, 1, "beta"), (1, 1, "beta/5")]
        assert len(json.loads(output.read_text())["searches"]) == 4
        assert "| 1 | beta | 2 | 2 |" in capsys.readouterr().out

    def test_refuses_a_file_of_other_settings(self, tmp_path: Path) -> None:
        output = tmp_path / "coverage.json"
        output.write_text(json.dumps({"settings": {"delta": 0.5}, "searches": []}))
        with pytest.raises(SystemExit, match="settings"):
            main([*ARGUMENTS, "--output", str(output)])

    @pytest.mark.slow
    def test_two_processes(self, tmp_path: Path) -> None:
        output = tmp_path / "coverage.json"
        assert main([*ARGUMENTS, "--jobs", "2", "--output", str(output)]) == 0
        found = Search(**json.loads(output.read_text())["searches"][1])
        alone = search_path((1, 0, "beta/5"), replace(SETTINGS, max_evaluations=200))
        assert replace(found, seconds=0.0) == replace(alone, seconds=0.0)
