"""How far annotators agree on one field over all cases: kappa, correlations, limits of agreement."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations
from typing import Any

from evaluation.annotators.comparison import Figure, LeftOut, amounts, categories, counting, measures
from evaluation.core.field import Kind
from evaluation.metrics.agreement import Agreement, cohen_kappa, fleiss_kappa
from evaluation.metrics.intraclass import intraclass_correlations, limits_of_agreement
from evaluation.metrics.krippendorff import krippendorff_alpha


@dataclass
class FieldAgreement:
    """Collects the figures of the annotators' values of one field, case by case."""

    name: str
    kind: Kind
    _decisions: dict[str, list[dict[str, Hashable]]] = field(default_factory=lambda: defaultdict(list))
    _amounts: dict[str, list[dict[str, float]]] = field(default_factory=lambda: defaultdict(list))
    _measures: dict[tuple[str, str, str], list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, values: Mapping[str, Any], left_out: LeftOut | None = None) -> None:
        """Add the values of one case by annotator; regions that are left out of a mask do not count."""
        annotators = sorted(values)
        without = left_out or {}

        def of(figures: Mapping[str, Figure], *those: str) -> dict[str, Figure]:
            return counting(figures, *(without.get(one, ()) for one in those))

        decided = {
            annotator: of(categories(self.kind, values[annotator]), annotator) for annotator in annotators
        }
        for decision in dict.fromkeys(
            name for annotator_decisions in decided.values() for name in annotator_decisions
        ):
            self._decisions[decision].append(
                {annotator: named[decision] for annotator, named in decided.items() if decision in named}
            )
        given = {annotator: of(amounts(self.kind, values[annotator]), annotator) for annotator in annotators}
        for amount in dict.fromkeys(name for of_annotator in given.values() for name in of_annotator):
            numbers = {
                annotator: of_annotator[amount]
                for annotator, of_annotator in given.items()
                if amount in of_annotator
            }
            self._amounts[amount].append(
                {annotator: number for annotator, number in numbers.items() if not math.isnan(number)}
            )
        for first, second in combinations(annotators, 2):
            compared = measures(self.kind, values[first], values[second])
            for name, value in of(compared, first, second).items():
                if not math.isnan(value):
                    self._measures[name, first, second].append(value)

    def result(self) -> list[Agreement]:
        """Return the figures of decisions, of numbers, and the mean measures of every pair.

        Decisions: Cohen's kappa of every pair, Fleiss' kappa and Krippendorff's alpha of all. Numbers:
        ICC(2,1) and ICC(3,1) over the cases that all annotators have, Krippendorff's alpha, and Bland and
        Altman's limits of agreement of every pair. Undefined figures (only one category occurs) are left out.
        """
        found = []
        for decision, cases in self._decisions.items():
            prefix = f"{decision}: " if decision else ""
            annotators = sorted({annotator for case_values in cases for annotator in case_values})
            for first, second in combinations(annotators, 2):
                both = [case for case in cases if first in case and second in case]
                kappa = cohen_kappa([case[first] for case in both], [case[second] for case in both])
                found.append(self._agreement(f"{prefix}Cohen's kappa", first, second, len(both), kappa))
            several = [list(case.values()) for case in cases if len(case) > 1]
            kappa = fleiss_kappa(several)
            found.append(self._agreement(f"{prefix}Fleiss' kappa", "all", "", len(several), kappa))
            categories_of_all = {value: code for code, value in enumerate(dict.fromkeys(chain(*several)))}
            codes = [[float(categories_of_all[value]) for value in case] for case in several]
            alpha = krippendorff_alpha(codes, "nominal")
            found.append(self._agreement(f"{prefix}Krippendorff's alpha", "all", "", len(several), alpha))
        for amount, numbers in self._amounts.items():
            found += self._of_numbers(f"{amount}: " if amount else "", numbers)
        for (name, first, second), values in sorted(self._measures.items()):
            mean = math.fsum(values) / len(values)
            found.append(self._agreement(f"mean {name}", first, second, len(values), mean))
        return [agreement for agreement in found if not math.isnan(agreement.value)]

    def _of_numbers(self, prefix: str, cases: Sequence[Mapping[str, float]]) -> Iterator[Agreement]:
        annotators = sorted({annotator for case in cases for annotator in case})
        of_all = [case for case in cases if len(case) == len(annotators)]
        table = [[case[annotator] for annotator in annotators] for case in of_all]
        correlations = intraclass_correlations(table) if table else None
        if correlations is not None:
            named = (("ICC(2,1)", correlations.agreement), ("ICC(3,1)", correlations.consistency))
            for measure, found in named:
                yield replace(
                    self._agreement(f"{prefix}{measure}", "all", "", len(table), found.value),
                    lower=found.interval.lower,
                    upper=found.interval.upper,
                )
        several = [list(case.values()) for case in cases if len(case) > 1]
        alpha = krippendorff_alpha(several, "interval")
        yield self._agreement(f"{prefix}Krippendorff's alpha", "all", "", len(several), alpha)
        for first, second in combinations(annotators, 2):
            both = [case for case in cases if first in case and second in case]
            limits = limits_of_agreement([case[first] for case in both], [case[second] for case in both])
            if limits is None:
                continue
            for measure, value, interval in (
                ("mean difference", limits.bias, limits.bias_interval),
                ("lower limit of agreement", limits.lower, limits.lower_interval),
                ("upper limit of agreement", limits.upper, limits.upper_interval),
            ):
                yield replace(
                    self._agreement(f"{prefix}{measure}", first, second, len(both), value),
                    lower=interval.lower,
                    upper=interval.upper,
                )

    def _agreement(self, measure: str, first: str, second: str, cases: int, value: float) -> Agreement:
        return Agreement(self.name, measure, first, second, cases, value)
