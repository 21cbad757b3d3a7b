"""Each module has a test of its name, or the list here says which tests hold it in its place."""

from collections.abc import Iterator

import pytest

from test.repository import REPOSITORY

PACKAGE, TESTS = REPOSITORY / "evaluation", REPOSITORY / "test"

# A command is run as its user runs it: by tests of what it is for, not of how it is divided.
COMMANDS = {
    "__main__.py": "cli/test_commands.py",
    "cli/arguments.py": "cli/test_commands.py",
    "cli/audience_command.py": "container/test_audience.py",
    "cli/audit_command.py": "cli/test_commands.py",
    "cli/check_command.py": "cli/test_commands.py",
    "cli/build_command.py": "starter/test_commands.py",
    "cli/export_command.py": "starter/test_commands.py",
    "cli/new_command.py": "starter/test_commands.py",
    "cli/ensemble_command.py": "cli/test_fusion_commands.py",
    "cli/each_arguments.py": "cli/test_evaluate_each.py",
    "cli/each_progress.py": "cli/test_evaluate_each.py",
    "cli/form_command.py": "cli/test_commands.py",
    "cli/fuse_command.py": "cli/test_fusion_commands.py",
    "cli/main.py": "cli/test_commands.py",
    "cli/progress.py": "cli/test_commands.py",
    "cli/rank_arguments.py": "cli/test_rank.py",
    "cli/rank_command.py": "cli/test_rank.py",
    "cli/rank_inputs.py": "cli/test_rank_tables.py",
    "cli/rank_table.py": "cli/test_rank.py",
    "cli/rehearse_command.py": "cli/test_commands.py",
    "cli/sample_command.py": "cli/test_commands.py",
    "cli/report_command.py": "cli/test_report.py",
    "cli/report_submission.py": "cli/test_report.py",
    "cli/schema_command.py": "cli/test_commands.py",
    "cli/seal_command.py": "cli/test_commands.py",
    "cli/settings_command.py": "cli/test_commands.py",
    "cli/summary_command.py": "cli/test_commands.py",
    "cli/unpack_command.py": "cli/test_commands.py",
}
# One format or method in several modules is tested from the outside, through the module that calls them.
PARTS = {
    "jobs.py": "test_library.py",
    "results.py": "test_library.py",
    "annotators/annotations.py": "annotators/test_reference.py",
    "annotators/comparison.py": "annotators/test_combine.py",
    "annotators/scoring.py": "annotators/test_ensemble.py",
    "annotators/submissions.py": "annotators/test_ensemble.py",
    "challenges/adam/eyes.py": "challenges/adam/test_sample.py",
    "challenges/cysts/benchmark/evaluation_set.py": "challenges/cysts/benchmark/test_steps.py",
    "challenges/cysts/benchmark/measures.py": "challenges/cysts/benchmark/test_steps.py",
    "challenges/cysts/benchmark/scans.py": "challenges/cysts/benchmark/test_steps.py",
    "challenges/cysts/benchmark/task_assignment.py": "challenges/cysts/benchmark/test_steps.py",
    "challenges/cysts/scoring.py": "challenges/cysts/test_rules.py",
    "challenges/declared/classes.py": "challenges/declared/test_decisions.py",
    "challenges/declared/decided.py": "challenges/declared/test_decisions.py",
    "challenges/declared/number.py": "challenges/declared/test_scores.py",
    "challenges/declared/scalar.py": "challenges/declared/test_scores.py",
    "challenges/declared/list_field.py": "challenges/declared/test_points.py",
    "challenges/edd2020/detection.py": "challenges/edd2020/test_rules.py",
    "challenges/edd2020/detection_metrics.py": "challenges/edd2020/test_rules.py",
    "challenges/edd2020/sets.py": "challenges/edd2020/test_rules.py",
    "challenges/justraigs/reference.py": "challenges/justraigs/test_grading.py",
    "challenges/refuge/sample.py": "test_evaluate.py",
    "phase/config_tables.py": "phase/test_config.py",
    "metrics/plain_arguments.py": "metrics/test_plain_classification.py",
    "metrics/plain_box_table.py": "metrics/test_plain_boxes.py",
    "metrics/plain_confidence.py": "metrics/test_plain_segmentation.py",
    "metrics/plain_correlations.py": "metrics/test_plain_errors.py",
    "metrics/plain_cup_to_disc.py": "metrics/test_plain_segmentation.py",
    "core/class_aggregates.py": "challenges/declared/test_decisions.py",
    "core/score_aggregates.py": "challenges/declared/test_scores.py",
    "core/value_aggregates.py": "challenges/declared/test_regression.py",
    "rescoring/cluster_worker.py": "rescoring/test_cluster.py",
    "ranking/scheme_choice.py": "ranking/test_schemes.py",
    "organiser/attack/areas.py": "organiser/attack/test_attack.py",
    "organiser/attack/detections.py": "organiser/attack/test_attack.py",
    "organiser/attack/splits.py": "organiser/attack/test_attack.py",
    "organiser/attack/spoilt.py": "organiser/attack/test_attack.py",
    "phase/scores.py": "test_summary.py",
    "phase/registry.py": "phase/test_phase.py",
    "phase/writer.py": "challenges/adam/test_sample.py",
    "platform/index.py": "platform/test_archive.py",
    "platform/jobs.py": "platform/test_algorithm.py",
    "platform/phase_settings.py": "organiser/test_settings.py",
    "platform/submission.py": "platform/test_archive.py",
    "platform/submission_writer.py": "platform/test_algorithm.py",
    "charts/bland_altman.py": "charts/test_specifications.py",
    "charts/calibration.py": "charts/test_specifications.py",
    "charts/confusion_matrix.py": "charts/test_specifications.py",
    "charts/cumulative.py": "charts/test_specifications.py",
    "charts/encodings.py": "charts/test_specifications.py",
    "charts/error_cloud.py": "charts/test_specifications.py",
    "charts/forest.py": "charts/test_specifications.py",
    "charts/froc.py": "charts/test_specifications.py",
    "charts/histogram.py": "charts/test_specifications.py",
    "charts/metric_intervals.py": "charts/test_specifications.py",
    "charts/precision_recall.py": "charts/test_specifications.py",
    "report/case_pictures.py": "report/test_case_images.py",
    "report/case_rows.py": "report/test_submission.py",
    "report/decision_figures.py": "report/test_classification.py",
    "report/graders.py": "report/test_classification.py",
    "report/overview.py": "report/test_submission.py",
    "report/run_section.py": "report/test_submission.py",
    "report/size_figures.py": "report/test_case_images.py",
    "report/value_figures.py": "report/test_submission.py",
    "report/subgroup_figures.py": "report/test_submission.py",
    "report/metric_rows.py": "report/test_submission.py",
    "report/page.py": "report/test_render.py",
    "report/results.py": "report/test_submission.py",
    "ranking/results.py": "ranking/test_results_folder.py",
    "ranking/analysis.py": "ranking/test_leaderboard.py",
    "ranking/case_report.py": "ranking/test_leaderboard.py",
    "ranking/certainty.py": "ranking/test_leaderboard.py",
    "ranking/difficulty.py": "ranking/test_leaderboard.py",
    "ranking/final.py": "ranking/test_leaderboard.py",
    "ranking/leaderboard_file.py": "ranking/test_leaderboard.py",
    "ranking/leaderboard_writing.py": "ranking/test_leaderboard.py",
    "ranking/resampling.py": "ranking/test_comparisons.py",
    "ranking/scheme_scores.py": "ranking/test_robustness.py",
    "ranking/selection.py": "ranking/test_boards.py",
    "ranking/stability.py": "ranking/test_leaderboard.py",
    "ranking/tables/long_form.py": "ranking/tables/test_results.py",
    "ranking/tables/values.py": "ranking/tables/test_results.py",
    "workers/case_reader.py": "workers/test_reading.py",
    "workers/case_scorer.py": "workers/test_scoring.py",
    "workers/pool.py": "workers/test_scoring.py",
    "workers/reader.py": "workers/test_reading.py",
    "workers/scorer.py": "workers/test_scoring.py",
    "workers/server.py": "workers/test_processes.py",
    "workers/worker.py": "workers/test_scoring.py",
    "challenges/declared/catalogue.py": "challenges/declared/test_page.py",
    "challenges/declared/field_table.py": "challenges/declared/test_rules.py",
    "challenges/declared/measure.py": "challenges/declared/test_rules.py",
    "challenges/declared/ranking.py": "challenges/declared/test_rules.py",
    "challenges/declared/table.py": "challenges/declared/test_rules.py",
    "phase/declaration.py": "challenges/declared/test_rules.py",
    "phase/scheme_table.py": "ranking/test_scheme_file.py",
    "phase/validation.py": "phase/test_config.py",
    "define.py": "phase/test_home.py",
    "starter/image.py": "container/test_own_image.py",
    "starter/samples.py": "starter/test_repository.py",
    "io/kinds/packed_crop.py": "io/kinds/test_packed.py",
}
# Declarations without a branch, in every test of what is made of them.
DECLARATIONS = {
    "core/field.py": "phase/test_form_file.py",
    "core/outcome.py": "workers/test_scoring.py",
    "core/scheme.py": "ranking/test_scheme_file.py",
    "core/source.py": "platform/test_archive.py",
    "rescoring/task.py": "rescoring/test_run.py",
}
ELSEWHERE = {**COMMANDS, **PARTS, **DECLARATIONS}


def without_a_test_of_their_name() -> Iterator[str]:
    """Yield the paths of the modules that no test is named after, below the package."""
    for path in sorted(PACKAGE.rglob("*.py")):
        module = path.relative_to(PACKAGE)
        if path.name != "__init__.py" and not (TESTS / module.parent / f"test_{module.name}").exists():
            yield module.as_posix()


def test_every_module_has_a_test_of_its_name_or_a_reason():
    assert set(without_a_test_of_their_name()) == set(ELSEWHERE)


@pytest.mark.parametrize("path", sorted(set(ELSEWHERE.values())))
def test_the_tests_in_their_place_are_there(path):
    assert (TESTS / path).is_file()
