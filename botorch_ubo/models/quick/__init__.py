"""The fast path: a squared exponential GP, its fit, its LogEI and the search of it, in numpy.

What is outside this folder sees a ``SingleTaskGP`` and an ``AcquisitionFunction``. Where the
formulas of the path do not hold, BoTorch's own way is taken.
"""

from botorch_ubo.models.quick.ascent import ascend
from botorch_ubo.models.quick.density import LogDensity
from botorch_ubo.models.quick.factored import Array, minus_half_squares, to_array
from botorch_ubo.models.quick.fit import fit_quick_gp
from botorch_ubo.models.quick.gp import PointPosterior, QuickGP
from botorch_ubo.models.quick.hypervolume import Line
from botorch_ubo.models.quick.log_ehvi import QuickLogExpectedHypervolumeImprovement
from botorch_ubo.models.quick.log_ei import QuickLogExpectedImprovement
from botorch_ubo.models.quick.maxima import EXACT_NOISE, MIN_NOISE, START_SHARES
from botorch_ubo.models.quick.outcomes import OutcomesPosterior, QuickModelList
from botorch_ubo.models.quick.search import gen_candidates_quick, has_quick_search
from botorch_ubo.models.quick.selected import SelectedGP, conditioned
from botorch_ubo.models.quick.written_out import ClosedForm, ValuesAndGradients, closed_form

__all__ = [
    "EXACT_NOISE",
    "MIN_NOISE",
    "START_SHARES",
    "Array",
    "ClosedForm",
    "Line",
    "LogDensity",
    "OutcomesPosterior",
    "PointPosterior",
    "QuickGP",
    "QuickLogExpectedHypervolumeImprovement",
    "QuickLogExpectedImprovement",
    "QuickModelList",
    "SelectedGP",
    "ValuesAndGradients",
    "ascend",
    "closed_form",
    "conditioned",
    "fit_quick_gp",
    "gen_candidates_quick",
    "has_quick_search",
    "minus_half_squares",
    "to_array",
]
