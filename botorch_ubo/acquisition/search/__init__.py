"""The search for the maximum of an acquisition function: settings, starts, climbs."""

from botorch_ubo.acquisition.search.climbing import climb
from botorch_ubo.acquisition.search.in_space import (
    check_pending,
    is_joint,
    maximize_in_space,
    needs_own_search,
)
from botorch_ubo.acquisition.search.input_space import InputArguments, InputSpace
from botorch_ubo.acquisition.search.lattice import Lattice, SpaceExhaustedError
from botorch_ubo.acquisition.search.maximize import maximize_acquisition
from botorch_ubo.acquisition.search.private_draws import PrivateDraws
from botorch_ubo.acquisition.search.settings import SearchSettings
from botorch_ubo.acquisition.search.starts import Neighborhood, StartsAroundData

__all__ = [
    "InputArguments",
    "InputSpace",
    "Lattice",
    "Neighborhood",
    "PrivateDraws",
    "SearchSettings",
    "SpaceExhaustedError",
    "StartsAroundData",
    "check_pending",
    "climb",
    "is_joint",
    "maximize_acquisition",
    "maximize_in_space",
    "needs_own_search",
]
