"""The case that a file of another name is meant for."""

import pytest

from evaluation.core.fault import FaultKind
from evaluation.evaluate import check
from evaluation.phase.phase import load_phase
from evaluation.platform.archive import MeantNames
from test.phases import refuge_phase, refuge_submission


@pytest.mark.parametrize(
    ("names", "stem", "meant"),
    [
        (["001", "002"], "CT_001_0000", "001"),
        (["000", "001"], "CT_001_0000", "001"),
        (["001", "002"], "001_pred", "001"),
        (["001", "002"], "1", "001"),
        (["001", "010"], "10", "010"),
        (["001", "002"], "case-002.seg", "002"),
        (["001", "CT_1"], "CT_1_pred", "CT_1"),
        (["CT_001", "CT_002"], "001_pred", "CT_001"),
        (["CT_001", "CT_002"], "ct-2", "CT_002"),
        (["CT_001", "CT_002"], "CT", None),
        (["CT_001", "CT_002"], "003", None),
        (["A_1", "B_1"], "1", None),
        (["001", "002"], "001_002", None),
        (["001", "002"], "", None),
        ([], "001", None),
    ],
)
def test_the_meant_case(names, stem, meant):
    assert MeantNames(names).case_of(stem) == meant


def test_a_participant_hears_which_name_is_meant(tmp_path):
    phase = load_phase(refuge_phase(tmp_path / "phase"))
    submission = refuge_submission(tmp_path / "submission")
    masks = sorted((submission / "segmentation").iterdir())
    for mask in masks:
        mask.rename(mask.with_name(f"eye_{mask.stem}_0000{mask.suffix}"))
    faults = list(check(phase.form, submission, workers=1).faults)
    unknown = [fault for fault in faults if fault.kind is FaultKind.UNKNOWN]
    assert len(unknown) == len(masks)
    for fault, mask in zip(unknown, masks, strict=True):
        assert fault.hint == f"for {mask.stem}? Name it segmentation/{mask.name}"
    (missing,) = [fault for fault in faults if fault.kind is FaultKind.MISSING]
    assert "Rename it" not in str(missing)
