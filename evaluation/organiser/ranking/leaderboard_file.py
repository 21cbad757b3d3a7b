"""The types of `leaderboard.json` and of the organiser's tables of single cases."""

from dataclasses import dataclass, field
from typing import Any, Literal

from evaluation.organiser.ranking import difficulty
from evaluation.organiser.ranking.annotators import AnnotatorsSection
from evaluation.organiser.ranking.classifiers import Classifiers, CurvePoints
from evaluation.organiser.ranking.comparisons import Comparison, Comparisons
from evaluation.organiser.ranking.readers import AgainstReaders, AnnotatorPoint
from evaluation.organiser.ranking.robustness import Variation
from evaluation.organiser.ranking.stability import AcrossRankings, PlaceDistribution, RankingAgreement
from evaluation.platform.result_file import schema_of
from evaluation.stats.figure import Difference, Figure

FORMAT: Literal["leaderboard/1"] = "leaderboard/1"
ORGANISER_FORMAT = "leaderboard-organiser/1"


@dataclass(frozen=True)
class MetricOfTeam:
    """A team's metric with its intervals, if any, and its rank (None: not ranked).

    ``rank_set``: the lowest and highest rank by value; all teams' sets hold at once with 95 % confidence.
    """

    figure: Figure
    rank: float | None = None
    rank_set: tuple[int, int] | None = None

    @property
    def value(self) -> float:
        """The value of the metric."""
        return self.figure.value


@dataclass(frozen=True)
class BoardOfTeam:
    """A team's place in a leaderboard.

    ``place``: teams with equal scores share the lowest place ("1, 1, 3"). ``rank``: the place under the
    scheme's rule for ties. ``score``: lower is better. ``exact_score``: the same as a decimal or a fraction.
    ``would_be_place``: the place that an unranked team would take if it alone joined.
    """

    place: int | None = None
    score: float | None = None
    exact_score: str | None = None
    rank: float | None = None
    would_be_place: int | None = None
    distribution: PlaceDistribution | None = None


@dataclass(frozen=True)
class Team:
    """A row of a leaderboard. ``submission``: the one that counts. ``submissions``: their number.

    ``chosen_here``: an ensemble whose members were chosen by results on the same cases. ``seconds_per_case``:
    as declared, else the mean of the run times on the platform.
    """

    team: str
    eligible: bool
    submission: str
    submissions: int
    metrics: dict[str, MetricOfTeam]
    boards: dict[str, BoardOfTeam]
    note: str | None = None
    chosen_here: bool = False
    seconds_per_case: float | None = None


@dataclass(frozen=True)
class MetricOfPhase:
    """A metric: title, direction, unit, whether the scheme uses it, tests, and why intervals are missing.

    ``unranked``: the tests of teams without a place against chosen teams.
    """

    title: str
    better: Literal["higher", "lower"]
    unit: str
    in_ranking: bool
    no_intervals: str | None = None
    comparisons: Comparisons | None = None
    unranked: tuple[Comparison, ...] = ()


@dataclass(frozen=True)
class PhaseLeaderboard:
    """The teams of one phase in the order of the leaderboard.

    ``agreement``: by board, Kendall's τ-b between the ranking and each resample's ranking. ``robustness``:
    the places under other schemes and in subgroups. ``across``: the comparison of the boards of several
    tasks. ``clusters``: of the cases, such as patients, which intervals and tests take as units; None
    without any. ``titles``: the words of the phase for names in its files.
    """

    role: str | None = field(default=None, kw_only=True)
    challenge: str
    phase: str
    manifest: str
    cases: int | None = field(default=None, kw_only=True)
    scheme: dict[str, Any]
    metrics: dict[str, MetricOfPhase]
    teams: tuple[Team, ...]
    agreement: dict[str, RankingAgreement] = field(default_factory=dict)
    robustness: tuple[Variation, ...] = ()
    across: AcrossRankings | None = None
    subgroup_tests: tuple[difficulty.SubgroupTest, ...] = ()
    annotators: AnnotatorsSection | None = None
    clusters: int | None = None
    titles: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class FinalTeam:
    """A team's place over all phases, None where it has no place in one of them."""

    team: str
    place: int | None = None
    score: float | None = None
    exact_score: str | None = None
    phases: dict[str, int | None] = field(default_factory=dict)
    distribution: PlaceDistribution | None = None


@dataclass(frozen=True)
class PhaseChange:
    """A team's metric in two phases: ``difference`` is the later minus the earlier value.

    ``earlier``, ``later``: the roles of the phases. ``p_holm`` is corrected for the ranked teams of the
    metric and the two phases; teams without a place are a separate family.
    """

    metric: str
    team: str
    earlier: str
    later: str
    difference: Difference
    p_holm: float | None = None


@dataclass(frozen=True)
class Leaderboard:
    """The content of `leaderboard.json`.

    ``across``: the comparison of the phases' overall leaderboards. ``generalisation``: the changes of all
    teams between every two phases.
    """

    format: Literal["leaderboard/1"]
    phases: tuple[PhaseLeaderboard, ...]
    final: tuple[FinalTeam, ...] | None = None
    notices: tuple[str, ...] = ()
    across: AcrossRankings | None = None
    generalisation: tuple[PhaseChange, ...] = ()


@dataclass(frozen=True)
class FrocPoints:
    """A free-response ROC curve by descending threshold, from (0, 0) on."""

    false_positives_per_case: tuple[float, ...]
    sensitivity: tuple[float, ...]


@dataclass(frozen=True)
class CaseValues:
    """A metric's values by team, in the order of ``cases``; None where a case does not enter."""

    cases: tuple[str, ...]
    teams: dict[str, tuple[float | None, ...]]


@dataclass(frozen=True)
class OrganiserPart:
    """The figures of single cases. They reveal labels and are written to separate files."""

    difficulties: tuple[difficulty.CaseDifficulty, ...] = ()
    values: dict[str, CaseValues] = field(default_factory=dict)
    curves: dict[str, dict[str, CurvePoints]] = field(default_factory=dict)
    free_response: dict[str, dict[str, FrocPoints]] = field(default_factory=dict)
    annotator_points: tuple[AnnotatorPoint, ...] = ()
    readers: tuple[AgainstReaders, ...] = ()
    reader_curves: dict[str, CurvePoints] = field(default_factory=dict)
    classifiers: Classifiers = field(default_factory=Classifiers)
    operating_points: tuple[dict[str, Any], ...] = ()
    subgroups: tuple[difficulty.SubgroupValue, ...] = ()


def leaderboard_schema() -> dict[str, Any]:
    """Return the schema of `leaderboard.json`."""
    return schema_of(Leaderboard, "leaderboard.json")
