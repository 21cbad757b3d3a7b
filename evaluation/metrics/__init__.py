"""Metrics: pure functions on arrays, without files and without policy.

Every public name, here and in ``__all__``, is a function that takes plain arrays, for use in a notebook or
another evaluation. It checks its arguments and calls the code that `evaluate` runs. The prediction is always
the first argument and the reference the second one.

Each module holds one topic and lists its public functions in its own ``__all__``. Names follow one scheme:

- ``auc(scores, labels)`` is public and returns one value.
- ``weighted_auc(table, weights)`` is the same figure under each row of a matrix of case weights, such as
  those of a bootstrap. It takes columns of cases, or a table that is made of them once. `evaluate` calls it.
- ``dice_of_counts(counts)`` is the same figure of quantities that several figures share: pixel counts, a
  confusion matrix, lesions.

In two public names "weighted" is a term of the field: `weighted_dice`, of maps of confidences, and
`weighted_f1`. A function whose figure a phase can declare has the metric's name and its defaults.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evaluation.metrics.boxes import *
    from evaluation.metrics.classification import *
    from evaluation.metrics.confusion import *
    from evaluation.metrics.detection import *
    from evaluation.metrics.free_response import *
    from evaluation.metrics.intervals import *
    from evaluation.metrics.label_surfaces import *
    from evaluation.metrics.lesions import *
    from evaluation.metrics.operating_points import *
    from evaluation.metrics.points import *
    from evaluation.metrics.probabilities import *
    from evaluation.metrics.regression import *
    from evaluation.metrics.segmentation import *
else:

    def __getattr__(name: str) -> Any:
        # Topics are imported when a public name is first used: `evaluate` needs few of them.
        import importlib
        import pkgutil

        topics = [module.name for module in pkgutil.iter_modules(__path__)]
        if (name.startswith("__") and name != "__all__") or name in topics:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        public = {}
        for topic in topics:
            module = importlib.import_module(f"{__name__}.{topic}")
            public |= {each: _telling(getattr(module, each)) for each in getattr(module, "__all__", ())}
        globals().update(public, __all__=sorted(public))
        try:
            return globals()[name]
        except KeyError:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None

    def _telling(function: Any) -> Any:
        # A notebook that shows NaN would not tell why; `evaluate` calls the functions themselves.
        import functools
        import inspect
        import re
        import warnings

        from numpy.typing import ArrayLike

        @functools.wraps(function)
        def told(*arguments: Any, **options: Any) -> Any:
            value = function(*arguments, **options)
            if isinstance(value, float) and value != value:
                text = " ".join((function.__doc__ or "").split())
                why = re.search(r"\bNaN (if|without|for|where) [^.;]*", text)
                told_why = f": {why[0]}." if why else ""
                warnings.warn(f"{function.__name__} is undefined for these values{told_why}", stacklevel=2)
            return value

        told.__module__ = __name__  # where pickle finds it
        signature = inspect.signature(function)
        names = {ArrayLike: "ArrayLike", ArrayLike | None: "ArrayLike | None"}
        shown = [
            one.replace(annotation=names.get(one.annotation, one.annotation))
            for one in signature.parameters.values()
        ]
        told.__signature__ = signature.replace(parameters=shown)
        return told

    def __dir__() -> list[str]:
        return list(__getattr__("__all__"))
