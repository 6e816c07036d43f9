"""The search where some columns are categories."""

import torch
from botorch.acquisition.acquisition import AcquisitionFunction
from botorch.models.deterministic import GenericDeterministicModel

from botorch_ubo.acquisition.search.categories import (
    alternate,
    draw_categories,
    open_categories,
    without_categories,
)

TWO = ((1, 3), (2, 2))


class Hills(AcquisitionFunction):
    """One hill per combination of categories; the highest is in (2, 1), at 0.8."""

    def __init__(self):
        super().__init__(GenericDeterministicModel(lambda X: X))

    def forward(self, X):
        X = X.squeeze(-2)
        top = 0.2 * X[..., 1] + 0.2 * X[..., 2]
        return X[..., 1] + X[..., 2] - (X[..., 0] - top - 0.2).square()


def climb(starts):
    X = starts.squeeze(-2).clone()
    X[:, 0] = 0.2 * X[:, 1] + 0.2 * X[:, 2] + 0.2
    return X[:1], Hills()(X.unsqueeze(-2))[0]


def test_all_categories_are_in_a_box():
    boxes = torch.tensor([[[0.0, 1.0, 0.5], [1.0, 1.5, 0.6]]])
    opened = open_categories(boxes, TWO)
    assert opened.tolist() == [[[0.0, 0.0, 0.0], [1.0, 2.0, 1.0]]]
    assert torch.equal(boxes[0, 0], torch.tensor([0.0, 1.0, 0.5]))
    assert open_categories(boxes, ()) is boxes


def test_small_steps_do_not_lead_to_another_category():
    assert without_categories(torch.tensor([1.0, 2.0, 3.0]), TWO).tolist() == [1.0, 0.0, 0.0]


def test_draws_are_codes_and_half_of_the_data_keep_theirs():
    X = torch.full((400, 3), 2.0, dtype=torch.double)
    keep = torch.arange(400) < 200
    drawn = draw_categories(X, keep, ((1, 3),), seed=0)
    assert set(drawn[:, 1].tolist()) == {0.0, 1.0, 2.0}
    assert torch.equal(drawn[:, [0, 2]], X[:, [0, 2]])
    kept, free = (drawn[:200, 1] == 2).double().mean(), (drawn[200:, 1] == 2).double().mean()
    assert 0.55 < kept < 0.8 and 0.2 < free < 0.45


def test_climbs_alternate_with_looks_at_other_categories():
    X = torch.tensor([[0.2, 0.0, 0.0]], dtype=torch.double)
    best, value = alternate(Hills(), X, Hills()(X.unsqueeze(-2))[0], TWO, climb)
    assert torch.allclose(best, torch.tensor([[0.8, 2.0, 1.0]], dtype=torch.double))
    assert float(value) == 3.0


def test_many_combinations_are_visited_one_category_at_a_time():
    many = tuple((i, 5) for i in range(1, 6))
    X = torch.zeros(1, 6, dtype=torch.double)

    class Sum(Hills):
        def forward(self, X):
            return X.squeeze(-2)[..., 1:].sum(-1)

    best, value = alternate(
        Sum(), X, X.new_tensor(0.0), many, lambda s: (s.squeeze(-2), Sum()(s)[0])
    )
    assert float(value) == 20.0
    assert best[0, 1:].tolist() == [4.0] * 5
