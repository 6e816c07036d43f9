"""Parameters with names: a first box, limits and units each, and the coordinates of a search."""

from botorch_ubo.spaces.numbers import Float, Integer
from botorch_ubo.spaces.parameter import Parameter
from botorch_ubo.spaces.space import Named, Space, as_space
from botorch_ubo.spaces.values import Categorical, Ordinal

__all__ = ["Categorical", "Float", "Integer", "Named", "Ordinal", "Parameter", "Space", "as_space"]
