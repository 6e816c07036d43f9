"""Raw units, the model's space and the kernel's: there and back, and where the way ends."""

import pytest
import torch
from botorch.exceptions.errors import InputDataError
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize
from botorch.models.transforms.input import (
    AffineInputTransform,
    AppendFeatures,
    ChainedInputTransform,
    InputStandardize,
    InputTransform,
    Log10,
    Round,
    Warp,
)

from botorch_ubo.boxes import hull, pad
from botorch_ubo.models.space import (
    box_to_model_space,
    covers_kernel_space,
    from_model_space,
    growing_parts,
    stretch,
    to_kernel_space,
    to_model_space,
)
from botorch_ubo.models.training_data import training_inputs
from tests.support.gps import tensor

BOX = tensor([[1.0, 10.0], [100.0, 30.0]])
TRANSFORMS = {
    "none": lambda: None,
    "normalize": lambda: Normalize(2, bounds=BOX),
    "normalize learned": lambda: Normalize(2),
    "normalize one": lambda: Normalize(2, indices=[1], bounds=BOX[:, 1:]),
    "standardize": lambda: InputStandardize(2),
    "standardize one": lambda: InputStandardize(2, indices=[0]),
    "log": lambda: Log10([0, 1]),
    "log of one": lambda: Log10([0]),
    "chain": lambda: ChainedInputTransform(
        log=Log10([0]), unit=Normalize(2, bounds=tensor([[0.0, 10.0], [2.0, 30.0]]))
    ),
    "longer chain": lambda: ChainedInputTransform(
        shift=AffineInputTransform(2, coefficient=tensor([[2.0, 2.0]]), offset=tensor([[0.5, 0]])),
        log=Log10([0, 1]),
        unit=InputStandardize(2, indices=[1]),
    ),
}


def model(transform: InputTransform | None, dtype: torch.dtype = torch.double) -> SingleTaskGP:
    generator = torch.Generator().manual_seed(0)
    uniform = torch.rand(6, 2, generator=generator, dtype=torch.double)
    X = (BOX[0] + (BOX[1] - BOX[0]) * uniform).to(dtype)
    gp = SingleTaskGP(X, X.sum(dim=-1, keepdim=True), input_transform=transform)
    return gp.to(dtype).eval()


def warp() -> Warp:
    """The Kumaraswamy warp ``1 - (1 - x^a)^b`` with a = 2 and b = 1: a square."""
    transform = Warp(2, [0, 1], bounds=BOX, eps=1e-9).double()
    transform._set_concentration(1, tensor([2.0, 2.0]))
    transform._set_concentration(0, tensor([1.0, 1.0]))
    return transform


@pytest.mark.parametrize("dtype", [torch.float, torch.double])
@pytest.mark.parametrize("name", TRANSFORMS)
class TestRoundTrip:
    def test_of_the_data(self, name: str, dtype: torch.dtype) -> None:
        gp = model(TRANSFORMS[name](), dtype)
        X = training_inputs(gp)
        inner = to_model_space(gp, X)
        assert inner.dtype == dtype and covers_kernel_space(gp)
        torch.testing.assert_close(inner, gp.train_inputs[0])
        torch.testing.assert_close(to_kernel_space(gp, X), inner)
        torch.testing.assert_close(from_model_space(gp, inner), X)

    def test_far_beyond_the_data(self, name: str, dtype: torch.dtype) -> None:
        """In double precision whatever the model's, as the controller keeps its box."""
        gp = model(TRANSFORMS[name](), dtype)
        box = pad(hull(gp.train_inputs[0].double()), tensor([3.0, 20.0]))
        raw = from_model_space(gp, box)
        assert raw.dtype == torch.double and (raw[0] < raw[1]).all()
        torch.testing.assert_close(to_model_space(gp, raw), box, rtol=1e-9, atol=0)


class TestByHand:
    def test_a_chain_on_some_dimensions(self) -> None:
        gp = model(TRANSFORMS["chain"]())
        # log10 to 0 .. 2, then to the unit interval; the other dimension from 10 .. 30
        inner = to_model_space(gp, tensor([[1.0, 10.0], [10.0, 25.0], [1000.0, 50.0]]))
        torch.testing.assert_close(inner, tensor([[0.0, 0.0], [0.5, 0.75], [1.5, 2.0]]))
        back = from_model_space(gp, tensor([[2.0, -1.0]]))
        torch.testing.assert_close(back, tensor([[1e4, -10.0]]))

    def test_overflow_goes_to_usable_numbers(self) -> None:
        raw = from_model_space(model(None), tensor([[-1.7e308] * 2, [1.7e308] * 2]))
        assert (raw[1] - raw[0]).isfinite().all()
        log = model(Log10([0, 1]))
        raw = from_model_space(log, tensor([[-1e4, -400.0], [1e4, 400.0]]))
        assert (raw > 0).all() and (raw[1] - raw[0]).isfinite().all()
        assert to_model_space(log, raw).isfinite().all()


class TestWhereItEnds:
    """A transform that cannot be continued beyond the data ends the model's space."""

    def enders(self) -> dict[str, InputTransform]:
        return {
            "warp": warp(),
            "round": Round(integer_indices=[0]),
            "mirror": AffineInputTransform(
                2, coefficient=tensor([[1.0, -1.0]]), offset=tensor([[0.0, 0.0]])
            ),
        }

    @pytest.mark.parametrize("name", ["warp", "round", "mirror"])
    def test_alone(self, name: str) -> None:
        gp = model(self.enders()[name])
        assert growing_parts(gp) == () and not covers_kernel_space(gp)
        X = training_inputs(gp)
        assert torch.equal(to_model_space(gp, X), X)
        assert torch.equal(from_model_space(gp, X), X)
        torch.testing.assert_close(to_kernel_space(gp, X), gp.train_inputs[0])
        assert not torch.equal(to_kernel_space(gp, X), X)

    def test_in_a_chain_the_parts_before_it_stay(self) -> None:
        unit = Normalize(2, bounds=BOX)
        after = Normalize(2, bounds=tensor([[0.0, 0.0], [2.0, 2.0]]))
        gp = model(ChainedInputTransform(unit=unit, whole=Round(integer_indices=[1]), after=after))
        parts = growing_parts(gp)
        assert len(parts) == 1 and isinstance(parts[0], Normalize)
        assert not covers_kernel_space(gp)
        point = tensor([[100.0, 26.0]])
        torch.testing.assert_close(to_model_space(gp, point), tensor([[1.0, 0.8]]))
        torch.testing.assert_close(to_kernel_space(gp, point), tensor([[0.5, 0.5]]))
        torch.testing.assert_close(from_model_space(gp, tensor([[2.0, 0.5]])), tensor([[199, 20]]))


class TestStretch:
    def test_is_one_where_nothing_is_between(self) -> None:
        for name in ("none", "chain"):
            assert stretch(model(TRANSFORMS[name]()), BOX).tolist() == [1.0, 1.0]

    def test_by_hand(self) -> None:
        # The model's space is the unit square of BOX; then 5 x in one dimension, x / 4 in another,
        # in the kernel's space mirrored.
        unit = Normalize(2, bounds=BOX)
        mirror = AffineInputTransform(
            2, coefficient=tensor([[0.2, -4.0]]), offset=tensor([[0.0, 0.0]])
        )
        gp = model(ChainedInputTransform(unit=unit, mirror=mirror))
        torch.testing.assert_close(stretch(gp, BOX), tensor([5.0, 0.25]))

    def test_of_a_warp_is_that_over_the_box(self) -> None:
        gp = model(warp())
        # From 0 to a half of either side, whose square is a quarter.
        half = torch.stack([BOX[0], BOX.mean(dim=0)])
        expected = 0.25 / (half[1] - half[0])
        torch.testing.assert_close(stretch(gp, half), expected, rtol=1e-6, atol=0)

    def test_is_unknown_where_the_kernel_sees_other_dimensions(self) -> None:
        more = AppendFeatures(feature_set=tensor([[1.0, 2.0]]), transform_on_train=True)
        assert stretch(model(more), BOX) is None


@pytest.mark.parametrize("lower", [0.0, -1.0])
def test_a_box_outside_the_domain_of_a_logarithm_is_refused_in_words(lower: float) -> None:
    gp = model(Log10([0]))
    box = tensor([[lower, 1.0], [2.0, 2.0]])
    with pytest.raises(InputDataError, match=r"(?s)Expected a box within the domain.*hard_limits"):
        box_to_model_space(gp, box)
    good = box_to_model_space(gp, tensor([[0.1, 1.0], [1000.0, 2.0]]))
    torch.testing.assert_close(good, tensor([[-1.0, 1.0], [3.0, 2.0]]))
