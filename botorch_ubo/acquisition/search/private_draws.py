r"""Random draws of code that takes no generator, from a private one.

BoTorch draws some initial conditions, Thompson samples and optimal samples with ``torch.rand`` and
the like, from the generator of the process. To seed that generator and to put it back afterwards
would hand the same numbers to other threads twice. A :class:`PrivateDraws` gives each such call,
in this thread alone, a generator of its own instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

_LIKE: dict[Callable[..., Tensor], Callable[..., Tensor]] = {
    torch.rand_like: torch.rand,
    torch.randn_like: torch.randn,
}
_FACTORIES = {torch.rand, torch.randn, torch.randint, torch.randperm}
_OF_TENSORS = {
    torch.normal, torch.multinomial, torch.bernoulli, torch.poisson,
    Tensor.multinomial, Tensor.bernoulli,
}  # fmt: skip
_IN_PLACE = {
    Tensor.normal_, Tensor.uniform_, Tensor.exponential_, Tensor.bernoulli_, Tensor.random_,
    Tensor.cauchy_, Tensor.log_normal_, Tensor.geometric_,
}  # fmt: skip
_CPU = torch.device("cpu")


class PrivateDraws(TorchFunctionMode):
    r"""Calls of ``torch.rand`` and the like within draw from a private generator.

    Numbers are drawn in main memory and moved to where they are wanted, so that all devices get
    the same ones. Calls that have a generator keep it. What torch cannot be given one for
    (``torch.nn.functional.dropout``, gamma variates) still draws from that of the process, and
    what seeds it itself (BoTorch's ``IIDNormalSampler``) still does.

    Example:
        >>> with PrivateDraws(seed=0):
        >>>     X = torch.rand(3)  # the same each time
    """

    def __init__(self, seed: int) -> None:
        r"""Seed the generator.

        Args:
            seed: The seed.
        """
        super().__init__()
        self._generator = torch.Generator().manual_seed(seed)

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func in _LIKE:
            return self._draw_like(func, *args, **kwargs)
        known = func in _FACTORIES or func in _OF_TENSORS or func in _IN_PLACE
        if not known or kwargs.get("generator") is not None or kwargs.get("out") is not None:
            return func(*args, **kwargs)
        if func in _IN_PLACE:
            return self._draw_in_place(func, *args, **kwargs)
        return self._draw(func, *args, **kwargs)

    def _draw(self, func: Any, *args: Any, **kwargs: Any) -> Tensor:
        tensors = [x for x in (*args, *kwargs.values()) if isinstance(x, Tensor)]
        device = kwargs.get("device")
        if device is None:
            device = tensors[0].device if tensors else torch.get_default_device()
        if func in _FACTORIES or not tensors:  # those of tensors alone take no device
            kwargs["device"] = _CPU
        wants_grad = kwargs.pop("requires_grad", False)
        args = tuple(x.cpu() if isinstance(x, Tensor) else x for x in args)
        kwargs = {k: x.cpu() if isinstance(x, Tensor) else x for k, x in kwargs.items()}
        drawn: Tensor = func(*args, **{**kwargs, "generator": self._generator})
        drawn = drawn.to(device)
        return drawn.requires_grad_() if wants_grad else drawn

    def _draw_in_place(self, func: Any, x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if x.device == _CPU:
            drawn: Tensor = func(x, *args, **{**kwargs, "generator": self._generator})
            return drawn
        like = torch.empty(x.shape, dtype=x.dtype)
        return x.copy_(func(like, *args, **{**kwargs, "generator": self._generator}))

    def _draw_like(self, func: Any, like: Tensor, **kwargs: Any) -> Tensor:
        kwargs = {key: value for key, value in kwargs.items() if value is not None}
        kwargs.pop("memory_format", None)
        where = {"dtype": like.dtype, "device": like.device, **kwargs}
        return self._draw(_LIKE[func], tuple(like.shape), **where)
