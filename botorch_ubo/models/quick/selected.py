r"""A GP that keeps all of its data, and is conditioned on some of them."""

from __future__ import annotations

from typing import Any

import torch
from botorch.acquisition.objective import PosteriorTransform
from botorch.exceptions.errors import UnsupportedError
from botorch.posteriors.gpytorch import GPyTorchPosterior
from botorch.posteriors.transformed import TransformedPosterior
from gpytorch.models import ExactGP
from torch import Tensor

from botorch_ubo.compat.botorch_private import original_train_inputs, put_train_data
from botorch_ubo.models.gram import Gram
from botorch_ubo.models.quick.factored import FactoredPosterior
from botorch_ubo.models.quick.gp import QuickGP


class SelectedGP(QuickGP):
    """A :class:`QuickGP` whose posterior is that of a selection of its training data.

    ``train_inputs`` and ``train_targets`` are all data, of which a controller counts successes and
    looks for the incumbent. The posterior, single points or joint, is the one of :meth:`core`.
    """

    selected: Tensor
    """Indices of the data that the posterior is conditioned on."""

    @classmethod
    def of(cls, core: QuickGP, X: Tensor, Y: Tensor, selected: Tensor) -> SelectedGP:
        r"""All data around a model that was fitted to some of them.

        Args:
            core: A fitted model in evaluation mode, of the selected data.
            X: ``n x d`` inputs.
            Y: ``n x 1`` outcomes.
            selected: ``m`` indices: the data of ``core``.

        Returns:
            The model; it shares all but the data with ``core``.
        """
        model: SelectedGP = object.__new__(cls)
        model.__dict__.update(core.__dict__)
        model.__dict__["selected"] = selected
        outcome = getattr(core, "outcome_transform", None)
        with torch.no_grad():
            targets = (Y if outcome is None else outcome(Y)[0]).squeeze(-1)
            inputs = core.transform_inputs(X)
        put_train_data(model, X, inputs, targets)
        model._factored = None
        return model

    def core(self) -> QuickGP:
        """The model of the selected data alone, which shares all else with this one."""
        if len(self.train_targets) <= int(self.selected.max()) or self.training:
            raise UnsupportedError(
                "Expected a model in evaluation mode with the data that it was fitted to; its mode "
                "or its data were changed. Fit a new one."
            )
        core: QuickGP = object.__new__(QuickGP)
        core.__dict__.update(self.__dict__)
        del core.__dict__["selected"]
        original, inputs = original_train_inputs(self), self.train_inputs[0]
        targets = self.train_targets[self.selected]
        put_train_data(core, original[self.selected], inputs[self.selected], targets)
        core._factored = None
        return core

    def posterior(  # type: ignore[override]  # its parents disagree about the order of arguments
        self,
        X: Tensor,
        output_indices: list[int] | None = None,
        observation_noise: bool | Tensor = False,
        posterior_transform: PosteriorTransform | None = None,
    ) -> GPyTorchPosterior | TransformedPosterior:
        """See ``SingleTaskGP``."""
        single_points = X.dim() == 3 and X.shape[-2] == 1 and observation_noise is False
        arguments = X, output_indices, observation_noise, posterior_transform
        if self.training or (single_points and self.has_shortcut()):
            return super().posterior(*arguments)
        return self.core().posterior(*arguments)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """See ``ExactGP``."""
        return super().__call__(*args, **kwargs) if self.training else self.core()(*args, **kwargs)

    def get_fantasy_model(self, inputs: Tensor, targets: Tensor, **kwargs: Any) -> QuickGP:
        """See ``ExactGP``."""
        return self.core().get_fantasy_model(inputs, targets, **kwargs)

    def training_gram(self) -> Gram:
        """Of the selected data."""
        return self.core().training_gram()

    def _factor(self) -> FactoredPosterior:
        return FactoredPosterior.of(self.core())


def conditioned(model: ExactGP) -> ExactGP:
    """The model of those data that a posterior is conditioned on: mostly the model itself."""
    return model.core() if isinstance(model, SelectedGP) else model
