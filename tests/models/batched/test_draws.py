"""Random numbers of many runs."""

import torch

from botorch_ubo.models.batched.draws import filling, normal, uniform

LIKE = torch.empty(0, dtype=torch.double)


def test_they_follow_from_the_seed_alone():
    seeds = torch.tensor([3, 5, 2**62, -1])
    many = uniform(seeds, 50, LIKE)
    torch.testing.assert_close(uniform(seeds[1:2], 50, LIKE)[0], many[1], rtol=0, atol=0)
    torch.testing.assert_close(uniform(seeds, 20, LIKE), many[:, :20], rtol=0, atol=0)
    assert len({tuple(row.tolist()) for row in many}) == 4


def test_they_are_the_numbers_of_splitmix64():
    # The first outputs of the reference implementation for the seed that mixes to zero.
    state, digits = 0, []
    for _ in range(3):
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % 2**64
        digits.append(((z ^ (z >> 31)) >> 12) + 0.5)
    expected = torch.tensor(digits, dtype=torch.double) * 2.0**-52
    torch.testing.assert_close(uniform(torch.tensor([0]), 3, LIKE)[0], expected, rtol=0, atol=0)


def test_they_fill_the_interval_evenly():
    numbers = uniform(torch.arange(8), 5000, LIKE)
    assert 0 < float(numbers.min()) < 1e-3 and 1 - 1e-3 < float(numbers.max()) < 1
    assert float((numbers.mean(dim=-1) - 0.5).abs().max()) < 0.02
    assert float((normal(numbers).std(dim=-1) - 1).abs().max()) < 0.05
    single = uniform(torch.arange(8), 5000, LIKE.float())
    assert 0 < float(single.min()) and float(single.max()) < 1
    near_one = uniform(torch.tensor([1304]), 20_000, LIKE.float())  # to 24 digits it would be one
    assert float(near_one.max()) < 1 and normal(near_one).isfinite().all()


def test_space_filling_points_are_the_same_each_time():
    first = filling(16, 3, LIKE)
    assert first is filling(16, 3, LIKE) and first.shape == (16, 3)
