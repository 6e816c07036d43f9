import argparse
import json
import math
from pathlib import Path

import pytest
import torch

from benchmarks.__main__ import main
from benchmarks.problems import get_problem
from benchmarks.reference import (
    fit_published_model,
    log_regret,
    parse_seeds,
    read_reference,
    read_runs,
    side_differences,
)
from botorch_ubo import published_model
from tests.helpers import tensor


@pytest.fixture
def reference_dir(tmp_path: Path) -> Path:
    """A made-up run in the authors' format: a box, six initial points, two evaluations."""
    generator = torch.Generator().manual_seed(0)
    X = torch.rand(8, 2, generator=generator, dtype=torch.double)
    values = {
        "function": "Beale",
        "seed": 3,
        "initial_box": [[0.0, 1.0], [0.0, 1.0]],
        "num_initial": 6,
        "X": X.tolist(),
        "Y": get_problem("beale")(X).flatten().tolist(),
        "boxes": [[[-1.0, 2.0], [-1.0, 2.0]]],
    }
    folder = tmp_path / "reference"
    folder.mkdir()
    (folder / "Beale_3.json").write_text(json.dumps(values))
    return folder


def test_command_runs_resumes_and_starts_where_the_authors_did(
    reference_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "runs.jsonl"
    arguments = ["reference", "--reference", str(reference_dir), "--functions", "Beale"]
    arguments += ["--seeds", "3", "--out", str(out)]
    assert main(arguments) == 0
    first = capsys.readouterr().out
    assert "authors" in first and "as_published" in first and "corrected" in first
    assert "nan" not in first
    runs = read_runs(out)
    assert set(runs) == {("Beale", "as_published", 3), ("Beale", "corrected", 3)}
    reference = read_reference(reference_dir / "Beale_3.json")
    for run in runs.values():
        X, Y = tensor(run.X), tensor(run.Y)
        assert torch.equal(X[:6], reference.X[:6]) and len(X) == len(reference.X)
        torch.testing.assert_close(get_problem("beale")(X).squeeze(-1), Y)
        assert run.boxes  # the first step expands
    # Again: nothing is run, also when the last line was cut short by an interruption.
    out.write_text(out.read_text() + '{"function": "Bea')
    before = out.read_text()
    assert main(arguments) == 0
    again = capsys.readouterr().out
    assert " s\n" not in again and out.read_text() == before
    assert first.endswith(again)


def test_missing_runs_are_named(reference_dir: Path) -> None:
    with pytest.raises(SystemExit, match="Levy3_7"):
        main(
            ["reference", "--reference", str(reference_dir), "--functions", "Levy3", "--seeds", "7"]
        )


def test_malformed_reference_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "Beale_0.json"
    path.write_text(json.dumps({"function": "Beale", "seed": 0}))
    with pytest.raises(ValueError, match="num_initial"):
        read_reference(path)


def test_log_regret() -> None:
    Y = tensor([-10.0, -4.0, -0.4])
    assert log_regret(Y, num_initial=2, optimal_value=0.0) == pytest.approx(-1)
    assert log_regret(Y[:2], num_initial=2, optimal_value=0.0) == 0
    assert log_regret(tensor([-4.0, 0.0]), num_initial=1, optimal_value=0.0) == -4


def test_side_differences() -> None:
    box, reference = tensor([[0.0, 0.0], [3.0, 1.0]]), tensor([[5.0, 5.0], [7.0, 7.0]])
    assert side_differences(box, reference).tolist() == [0.5, -0.5]


def test_parse_seeds() -> None:
    assert parse_seeds("0-2,5") == [0, 1, 2, 5]
    with pytest.raises(argparse.ArgumentTypeError, match="0-5"):
        parse_seeds("one")


def test_restarts_find_a_likelihood_no_single_start_beats() -> None:
    """Against a fine grid over both parameters of the model."""
    torch.manual_seed(1)
    box = tensor([[0.0, 0.0], [4.0, 4.0]])
    X = 4 * torch.rand(8, 2, dtype=torch.double)
    Y = torch.sin(2 * X[:, :1]) + X[:, 1:] / 4
    model = fit_published_model(X, Y, box, seed=0)
    best = _log_likelihood(model, model.covar_module)
    grid = published_model(X, Y)
    for lengthscale in torch.logspace(-3, 3, 61).tolist():
        for outputscale in torch.logspace(-3, 5, 33).tolist():
            grid.covar_module.base_kernel.lengthscale = lengthscale
            grid.covar_module.outputscale = outputscale
            assert _log_likelihood(grid, grid.covar_module) <= best + 1e-3


def _log_likelihood(model: torch.nn.Module, kernel: torch.nn.Module) -> float:
    with torch.no_grad():
        X, y = model.train_inputs[0], model.train_targets
        gram = kernel(X).to_dense() + model.likelihood.noise.diag()
        cholesky = torch.linalg.cholesky(gram)
        white = torch.linalg.solve_triangular(cholesky, y.unsqueeze(-1), upper=False)
        log_det = 2 * cholesky.diagonal().log().sum()
        return float(-0.5 * (white.square().sum() + log_det + len(y) * math.log(2 * math.pi)))
