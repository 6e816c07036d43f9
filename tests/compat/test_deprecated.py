"""What 0.1.0 documented still imports, warns with the new name, and is the same object."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator

import matplotlib
import pytest
import torch

matplotlib.use("Agg")

from matplotlib import pyplot

import botorch_ubo
from botorch_ubo import deprecated
from botorch_ubo.compat.deprecated import MOVED_MODULES, moved_names
from botorch_ubo.plotting import plot_best

# What README, tutorials and the documentation of 0.1.0 imported, beside what is in `botorch_ubo`.
DOCUMENTED = [
    "from botorch_ubo.kernel_reach import kernel_reach, register_reach, require_finite_reach",
    "from botorch_ubo.factories import log_ei, q_log_ei",
    "from botorch_ubo.factories import sought_value, improvement_over, variance_capped_log_ei",
    "from botorch_ubo.triggers import Always, EveryEvaluations, FirstStep, Never, RegretBound",
    "from botorch_ubo.beta import ConstantBeta, PublishedBeta, TheoremBeta",
    "from botorch_ubo.context import BoxState, Context, Settings, StepRecord, training_inputs",
    "from botorch_ubo.radius import Radius, theorem_radius",
    "from botorch_ubo.quick_fit import fit_quick_gp",
    "from botorch_ubo.quick_gp import PointPosterior, QuickGP",
    "from botorch_ubo.quick_search import gen_candidates_quick, has_quick_search",
    "from botorch_ubo.acquisition.quick_improvement import QuickLogExpectedImprovement",
    "from botorch_ubo.strategies.base import Proposal, Strategy",
    "from botorch_ubo.optimizer import UnboundedOptimizer",
    "from botorch_ubo.candidates import SearchSettings",
    "from botorch_ubo.checkpoint import CheckpointError",
    "from botorch_ubo.evaluation import EvaluationError",
    "from botorch_ubo.result import NoResultError, OptimizationResult",
    "from botorch_ubo.trials import Trial",
    "from botorch_ubo.boxes import from_model_space, to_model_space",
    "from botorch_ubo import factories",
    "from botorch_ubo.models import temper",
]
# The same, where nothing has changed and nothing is to be warned about.
UNCHANGED = [
    "from botorch_ubo import Always, Context, ExpandingBounds, Method, Proposal, Strategy",
    "from botorch_ubo import UnboundedOptimizer, fit_default_model, maximize, minimize",
    "from botorch_ubo import available_methods, get_method, published_model, register_method",
    "from botorch_ubo.posterior import check_model, summarize_posterior",
    "from botorch_ubo.controller import ExpandingBounds",
    "from botorch_ubo.records import Certificate, ExpansionRecord",
    "from botorch_ubo.models import default_model, fit_default_model, published_model",
    "from botorch_ubo.methods import available_methods, get_method, register_method",
    "from botorch_ubo.plotting import plot_best, plot_boxes, plot_intervals, plot_regret_bound",
    "from botorch_ubo.testing import StrategyConformance",
    "from botorch_ubo.strategies import PublishedBox, RoamingBox, TheoremBox",
    "from botorch_ubo.acquisition.penalties import HingeQuadraticPenalty, QuadraticPenalty",
]


@pytest.fixture(autouse=True)
def as_if_never_imported() -> Iterator[None]:
    """Old names are found anew in every test; later ones do not see them."""

    def forget() -> None:
        for name in MOVED_MODULES:
            sys.modules.pop(name, None)
            parent, _, child = name.rpartition(".")
            vars(sys.modules[parent]).pop(child, None)

    forget()
    yield
    forget()


@pytest.mark.parametrize("old", sorted(MOVED_MODULES))
def test_a_moved_module_warns_and_gives_the_same_objects(old: str) -> None:
    new = MOVED_MODULES[old]
    with pytest.warns(DeprecationWarning) as caught:
        module = importlib.import_module(old)
    assert str(caught[0].message) == f"{old} is now {new}."
    home = importlib.import_module(new)
    names = [name for name in getattr(home, "__all__", vars(home)) if not name.startswith("_")]
    assert names
    assert all(getattr(module, name) is getattr(home, name) for name in names)
    with pytest.raises(AttributeError, match="no attribute 'nothing_of_the_sort'"):
        module.nothing_of_the_sort  # noqa: B018


def test_a_moved_module_warns_where_it_is_imported_and_once() -> None:
    with pytest.warns(DeprecationWarning) as caught:
        import botorch_ubo.radius
        import botorch_ubo.radius as again
    assert again is botorch_ubo.radius
    assert len(caught) == 1 and caught[0].filename == __file__


@pytest.mark.parametrize("line", DOCUMENTED)
def test_documented_imports_still_work_and_say_what_is_new(line: str) -> None:
    namespace: dict[str, object] = {}
    with pytest.warns(DeprecationWarning, match=r"^botorch_ubo\.\S+ is now botorch_ubo\.\S+\.$"):
        exec(line, namespace)
    names = [name.strip() for name in line.partition(" import ")[2].split(",")]
    assert all(namespace[name] is not None for name in names)


@pytest.mark.parametrize("line", UNCHANGED)
def test_other_documented_imports_do_not_warn(line: str, recwarn: pytest.WarningsRecorder) -> None:
    exec(line, {})
    assert not [w for w in recwarn if "is now" in str(w.message)]


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("models", "temper", "models.compress_bad_outcomes"),
        ("policies.factories", "sought_value", "policies.factories.best_mean_with_margin"),
        ("policies.factories", "improvement_over", "policies.factories.log_ei_over"),
        ("boxes", "from_model_space", "models.space.from_model_space"),
        ("boxes", "to_model_space", "models.space.to_model_space"),
    ],
)
def test_a_moved_name_is_the_new_one(module: str, old: str, new: str) -> None:
    home, _, name = f"botorch_ubo.{new}".rpartition(".")
    expected = f"botorch_ubo.{module}.{old} is now botorch_ubo.{new}."
    with pytest.warns(DeprecationWarning) as caught:
        found = getattr(importlib.import_module(f"botorch_ubo.{module}"), old)
    assert found is getattr(importlib.import_module(home), name)
    assert [str(w.message) for w in caught] == [expected]
    assert caught[0].filename == __file__


def test_the_first_argument_of_a_figure_has_another_name() -> None:
    Y = torch.tensor([1.0, 3.0, 2.0])
    with pytest.warns(DeprecationWarning) as caught:
        ax = plot_best(Y=Y)
    assert str(caught[0].message) == "plot_best(Y=...) is now plot_best(run=...)."
    assert caught[0].filename == __file__
    assert ax.lines[0].get_ydata().tolist() == [1.0, 3.0, 3.0]
    with pytest.raises(TypeError):
        plot_best(Y, Y=Y)
    pyplot.close("all")


def test_a_name_that_never_was_is_missing_as_usual() -> None:
    get = moved_names("botorch_ubo.boxes", {"a": "b"})
    with pytest.raises(AttributeError, match=r"module 'botorch_ubo.boxes' has no attribute 'c'"):
        get("c")
    with pytest.raises(ImportError):
        exec("from botorch_ubo.boxes import nothing_of_the_sort")
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("botorch_ubo.nothing_of_the_sort")


def test_the_finder_is_installed_once() -> None:
    deprecated.install()
    deprecated.install()
    kinds = [finder for finder in sys.meta_path if isinstance(finder, deprecated._MovedModule)]
    assert len(kinds) == 1
    assert botorch_ubo.__version__
