"""How many operations a device is given: what a GPU pays for, however little each has to do."""

from types import TracebackType
from typing import Any, Self

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

# Beside views: shapes, numbers of the host and memory that nothing is written to.
_FREE = {
    f"aten::{name}"
    for name in ("_unsafe_view", "scalar_tensor", "lift_fresh", "detach", "empty", "empty_like")
}


class Operations(TorchDispatchMode):
    """Counts what passes the dispatcher while it is entered.

    ``launched`` leaves out views, which only look at memory another way and launch nothing;
    ``scalars`` are single numbers that the host has waited for, and ``left`` counts tensors with
    elements in a row, all others, that were copied to the host.
    """

    def __init__(self) -> None:
        super().__init__()
        self.launched = self.views = self.scalars = self.left = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        name = func._schema.name
        if name.endswith("_local_scalar_dense"):
            self.scalars += 1
        elif name in _FREE or any(map(_is_view, func._schema.returns)):
            self.views += 1
        else:
            self.launched += 1
        sources = [x for x in tree_leaves((args, kwargs)) if isinstance(x, Tensor)]
        results = [x for x in tree_leaves(out) if isinstance(x, Tensor)]
        if any(x.device.type != "cpu" and x.dim() for x in sources) and any(
            x.device.type == "cpu" and x.dim() for x in results
        ):
            self.left += 1
        return out

    def __enter__(self) -> Self:
        super().__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        super().__exit__(kind, error, trace)


def _is_view(result: Any) -> bool:
    return result.alias_info is not None and not result.alias_info.is_write


def synchronize(device: torch.device | str) -> None:
    """Wait until a device has done what it was given."""
    if torch.device(device).type == "cuda":
        torch.cuda.synchronize()
