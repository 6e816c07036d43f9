"""Outcomes are compressed, standardised and kept in sight as for one run."""

import torch

from botorch_ubo.models.batched import in_sight, standardize_outcomes
from botorch_ubo.models.compression import compress_bad_outcomes
from botorch_ubo.models.outcome_units import location_and_unit
from botorch_ubo.models.sight import in_sight as in_sight_of_one
from tests.support.batches import data, unit_box


def test_they_are_those_of_one_run():
    X, Y, present = data(sizes=(14, 9, 12, 6))
    Y[0, 3], Y[1, 4] = -1e4, -1e9  # bad, and absurd
    X[2, 4:10] = X[2, 4] + 1e-3 * torch.arange(6).unsqueeze(-1)  # one place
    Y[2, 4:10] = 3.0 + torch.arange(6)
    found = standardize_outcomes(X / 2, torch.where(present, Y, 0.0), present)
    for i, row in enumerate(present):
        values, _ = compress_bad_outcomes(X[i, row], Y[i, row].unsqueeze(-1), unit_box(2))
        location, unit = location_and_unit(values)
        expected = ((values - location) / unit).flatten()
        torch.testing.assert_close(found.y[i, row], expected, atol=1e-12, rtol=1e-12)
        assert not found.y[i, ~row].any() and not found.flat[i]
        torch.testing.assert_close(found.scale[i], unit.squeeze(), rtol=1e-12, atol=0)


def test_a_chain_of_neighbours_is_thinned_from_the_best_on():
    X = 0.04 * torch.arange(5, dtype=torch.double).reshape(1, 5, 1)  # each close to the next
    Y = torch.tensor([[5.0, 4.0, 3.0, 2.0, -1e3]], dtype=torch.double)
    found = standardize_outcomes(X, Y, torch.ones(1, 5, dtype=torch.bool))
    box = torch.tensor([[0.0], [1.0]], dtype=torch.double)
    values, _ = compress_bad_outcomes(X[0], Y[0].unsqueeze(-1), box)
    raw = found.location + found.scale * found.y
    torch.testing.assert_close(raw[0], values.flatten(), rtol=1e-12, atol=1e-12)


def test_equal_outcomes_are_flat_whatever_their_size():
    X, _, present = data()
    sizes = torch.tensor([[1e-200], [3.0], [-1e120]], dtype=torch.double)
    Y = torch.where(present, sizes, 0.0)
    found = standardize_outcomes(X, Y, present)
    assert found.flat.all() and not found.y.any() and found.scale.isfinite().all()


def test_a_datum_far_out_is_out_of_sight():
    X, _, present = data()
    X[0, 2], X[1, 8] = 1e9, 1e9  # both are there
    found = in_sight(X / 2, present)
    for i, row in enumerate(present):
        expected = in_sight_of_one(X[i, row], unit_box(2))
        assert found[i, row].tolist() == expected.tolist() and not found[i, ~row].any()
    assert not found[0, 2] and not found[1, 8] and found[2].sum() == 12
