"""From data to a fitted GP: the recommended model, and the one of the paper's experiments."""

from botorch_ubo.compat.deprecated import moved_names
from botorch_ubo.models.compression import compress_bad_outcomes
from botorch_ubo.models.default import default_model, fit_default_model, fit_default_models
from botorch_ubo.models.published import published_model

__all__ = [
    "compress_bad_outcomes",
    "default_model",
    "fit_default_model",
    "fit_default_models",
    "published_model",
]

__getattr__ = moved_names(__name__, {"temper": "compress_bad_outcomes"})
