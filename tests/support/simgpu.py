"""A pretend accelerator, so that device mistakes show on machines without one.

Tensors report device ``simgpu:0`` while their numbers live in CPU memory. The rules are those of
CUDA: mixing with a CPU tensor of one or more dimensions raises, ``.numpy()`` without ``.cpu()``
raises, CPU scalars (0-dim) are accepted. Importing this module registers the backend for the
whole process (torch allows one), so only ``on_devices.py`` imports it.

Not modelled: speed, streams, and autograd through an in-place write into a view, which gives
wrong gradients. BoTorch's ``fix_features(X, {})`` does that: see
:func:`without_view_writes`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

import torch
from botorch.generation import gen
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.backend_registration import (
    _DummyBackendModule,
    _setup_privateuseone_for_python_backend,
)

NAME = "simgpu"
# Operations for which CUDA, too, accepts a CPU operand.
_CROSS_DEVICE = (
    "_copy_from", "copy_", "_to_copy", "index.Tensor", "index_put", "_index_put_impl_",
    "_unsafe_index",
)  # fmt: skip
_RAW: dict[int, Tensor] = {}  # storage id -> the CPU tensor behind it; shallow copies share it


@dataclass
class Transfers:
    """What has come from the device to the host: tensors with elements in a row, and numbers."""

    tensors: int = 0
    numbers: int = 0

    def note(self, name: str, source: Any, target: Any) -> None:
        if name.startswith("_local_scalar_dense"):
            self.numbers += 1
        elif is_sim(source) and isinstance(target, Tensor) and not is_sim(target):
            self.tensors += source.dim() > 0
            self.numbers += source.dim() == 0


_COUNTING: list[Transfers] = []


@contextmanager
def count_transfers() -> Iterator[Transfers]:
    """Count transfers from the device to the host."""
    found = Transfers()
    _COUNTING.append(found)
    try:
        yield found
    finally:
        _COUNTING.remove(found)


def is_sim(x: Any) -> bool:
    return isinstance(x, Tensor) and x.device.type == NAME


def _key(x: Tensor) -> int:
    return x.untyped_storage()._cdata


def _wrap(raw: Tensor) -> Tensor:
    wrapper = torch._C._acc.create_empty_tensor(tuple(raw.shape), raw.dtype)
    _RAW[_key(wrapper)] = raw
    return wrapper


def _unwrap(x: Any) -> Any:
    if is_sim(x):
        return _RAW[_key(x)]
    return torch.device("cpu") if isinstance(x, torch.device) else x


def _as_tensor(x: Any) -> Any:
    """A number in a tensor's place, with all its digits; 0-dim, so it promotes nothing."""
    if isinstance(x, float):
        return torch.tensor(x, dtype=torch.double)
    return torch.tensor(x) if isinstance(x, int) else x


def _refuse_mixed_devices(name: str, leaves: list[Any]) -> None:
    if not any(map(is_sim, leaves)) or name.startswith(_CROSS_DEVICE):
        return
    for x in leaves:
        if isinstance(x, Tensor) and not is_sim(x) and x.dim() > 0:
            raise RuntimeError(
                f"Expected all tensors on one device; found {NAME}:0 and {x.device} ({name})."
            )


def _as_strided(wrapper: Tensor, raw: Tensor, size: Any, stride: Any, offset: Any) -> Tensor:
    # The geometry in the call is the wrapper's (contiguous, offset 0), not the raw view's.
    if wrapper.stride() != raw.stride():
        raw = raw.contiguous()
    offset = wrapper.storage_offset() if offset is None else offset
    offset += raw.storage_offset() - wrapper.storage_offset()
    return _wrap(raw.as_strided(size, stride, offset))


def _written_arguments(schema: Any, args: Any, kwargs: Any) -> list[Tensor]:
    written = [
        args[i] if i < len(args) else kwargs.get(argument.name)
        for i, argument in enumerate(schema.arguments)
        if argument.alias_info is not None and argument.alias_info.is_write
    ]
    return [x for x in written if x is not None]


def _note(name: str, source: Any, target: Any) -> None:
    for transfers in _COUNTING:
        transfers.note(name, source, target)


def _run_on_cpu(func: Any, *args: Any, **kwargs: Any) -> Any:
    schema = func._schema
    name = schema.name.split("::")[1]
    name += "." + schema.overload_name if schema.overload_name else ""
    _refuse_mixed_devices(name, tree_leaves((args, kwargs)))
    cpu_args, cpu_kwargs = tree_map(_unwrap, args), tree_map(_unwrap, kwargs)
    cpu_args = [
        _as_tensor(x) if str(argument.type) == "Tensor" else x
        for x, argument in zip(cpu_args, schema.arguments, strict=False)
    ]
    if name.startswith("_copy_from"):
        _note(name, args[0], args[1])
        _unwrap(args[1]).copy_(_unwrap(args[0]))
        return args[1]
    if name == "as_strided":
        offset = cpu_args[3] if len(cpu_args) > 3 else cpu_kwargs.get("storage_offset")
        return _as_strided(args[0], cpu_args[0], cpu_args[1], cpu_args[2], offset)
    if name in ("view", "_reshape_alias", "_unsafe_view"):
        return _wrap(cpu_args[0].reshape(cpu_args[1]))
    out = func(*cpu_args, **cpu_kwargs)
    if name.startswith("_local_scalar_dense"):
        _note(name, args[0], out)
    if name.startswith("_to_copy") and torch.device(kwargs.get("device") or NAME).type == "cpu":
        _note(name, args[0], out)
        return out
    written = _written_arguments(schema, args, kwargs)
    for x in filter(is_sim, written):  # `out=` tensors that the CPU kernel resized
        if x.shape != _RAW[_key(x)].shape:
            x.data = _wrap(_RAW[_key(x)])
    if not schema.returns:  # all that it does is to write
        return None
    if written:
        return written[0] if len(written) == 1 else tuple(written)
    is_view = any(result.alias_info is not None for result in schema.returns)
    return tree_map(
        lambda x: _wrap(x if is_view else x.contiguous()) if isinstance(x, Tensor) else x, out
    )


@contextmanager
def without_view_writes() -> Iterator[None]:
    """Let ``optimize_acqf`` skip the one in-place write whose gradient is not modelled."""
    original = gen.fix_features

    def fix_features(X: Tensor, fixed_features: Any = None, **kwargs: Any) -> Tensor:
        return original(X, fixed_features, **kwargs) if fixed_features else X

    with mock.patch.object(gen, "fix_features", fix_features):
        yield


_copy_with_storage = Tensor.__deepcopy__


def _deepcopy(self: Tensor, memo: dict[int, Any]) -> Tensor:
    # The original copies the storage, which here has no memory of its own, and crashes.
    if not is_sim(self):
        return _copy_with_storage(self, memo)
    if id(self) not in memo:
        memo[id(self)] = self.detach().clone().requires_grad_(self.requires_grad)
    return memo[id(self)]


Tensor.__deepcopy__ = _deepcopy


class _Backend(_DummyBackendModule):
    """Without a generator of its own, for those who keep and restore all of them."""

    def get_rng_state(self, device: Any = None) -> Tensor:
        return torch.empty(0, dtype=torch.uint8)

    def set_rng_state(self, state: Tensor, device: Any = None) -> None:
        pass


_setup_privateuseone_for_python_backend(NAME, _Backend())
_LIBRARY = torch.library.Library("_", "IMPL")
_LIBRARY.fallback(_run_on_cpu, "PrivateUse1")
