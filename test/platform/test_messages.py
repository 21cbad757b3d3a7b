import re

from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.core.fault import MAX_KEPT, Fault, FaultKind, Faults
from evaluation.platform import messages

TEXT = st.text(st.characters(), max_size=400)
LINES = st.none() | st.integers(1, 10**9)
FAULT = st.builds(Fault, st.sampled_from(FaultKind), TEXT, TEXT, TEXT, LINES, st.none() | TEXT)
FAULTS = st.lists(FAULT, min_size=1, max_size=30)


def participant_line(faults):
    return messages.participant_line(Faults(faults))


def organiser_report(faults):
    return messages.organiser_report(Faults(faults))


def fault(kind, file, line=None):
    return Fault(kind, file, "this", "that", line)


def test_the_participants_line_names_kind_count_and_first_file():
    faults = [
        fault(FaultKind.WRONG_SIZE, "b.png"),
        fault(FaultKind.MISSING, "z.png"),
        fault(FaultKind.WRONG_SIZE, "a.png"),
    ]
    assert participant_line(faults) == (
        "Submission rejected, 3 faults: 1 missing (first: z.png: expected this, found that); "
        "2 wrong size (first: a.png: expected this, found that)"
    )
    assert participant_line(faults[:1]).startswith("Submission rejected, 1 fault: 1 wrong size (first: b.png")
    assert organiser_report(faults) == [
        "missing (1):",
        "  z.png: expected this, found that",
        "wrong size (2):",
        "  a.png: expected this, found that",
        "  b.png: expected this, found that",
        "Rejected, 3 faults: 1 missing, 2 wrong size",
    ]


def test_the_order_of_faults_does_not_show_and_lines_have_that_of_numbers():
    faults = [fault(kind, f"{name}.csv", line) for kind in FaultKind for name in "ab" for line in (10, 9)]
    assert participant_line(faults) == participant_line(faults[::-1])
    assert organiser_report(faults) == organiser_report(faults[::-1])
    report = organiser_report([fault(FaultKind.MALFORMED, "a.csv", line) for line in (10, None, 9)])
    assert [line.partition(":")[0] for line in report[1:-1]] == [
        "  a.csv",
        "  a.csv, line 9",
        "  a.csv, line 10",
    ]


@settings(max_examples=60)
@given(FAULTS)
def test_nothing_in_a_submission_breaks_the_line(faults):
    line = participant_line(faults)
    assert len(line) <= 1024
    assert line.isprintable()
    for kind in {fault.kind for fault in faults}:
        assert f"{sum(fault.kind is kind for fault in set(faults))} {kind.value}" in line
    for line in organiser_report(faults):
        assert line.isprintable()
        assert len(line.encode("utf-8")) < 64 * 1024


def test_the_longest_line_names_every_kind():
    faults = [fault(kind, "x" * 500, line) for kind in FaultKind for line in range(10**4)]
    line = participant_line(faults)
    assert 900 < len(line) <= 1024
    assert all(f"10000 {kind.value} (first: xxx" in line for kind in FaultKind)


def test_at_most_400_faults_are_listed_and_every_kind_among_them():
    kinds = list(FaultKind)
    faults = [Fault(kinds[0], f"{i:05}.png", "this", f"that of {i}") for i in range(5000)]
    faults += [fault(kind, "one.png") for kind in kinds[1:]]
    report = organiser_report(faults)
    listed = [line for line in report if line.startswith("  ") and "…" not in line]
    assert len(listed) <= 400
    assert len(report) < 450  # the platform keeps 500 lines
    headings = {line.partition(" (")[0] for line in report if line.endswith("):")}
    assert headings == {kind.value for kind in kinds}
    shown = sum(bool(re.match(r"  \d{5}\.png", line)) for line in report)
    assert f"  … and {5000 - shown} more" in report
    assert report[-1].startswith(f"Rejected, {len(faults)} faults: ")


def test_many_equal_faults_share_a_line():
    equal = [Fault(FaultKind.WRONG_VALUE, f"{i:02}.png", "0 or 255", "1", hint="a hint") for i in range(40)]
    report = organiser_report([*equal, fault(FaultKind.WRONG_VALUE, "x.png")])
    assert report[1:3] == [
        "  00.png; 01.png; 02.png; and 37 more (40 in all): expected 0 or 255, found 1 (a hint)",
        "  x.png: expected this, found that",
    ]
    # A few are named one by one.
    assert len(organiser_report(equal[:10])) == 12
    assert len(organiser_report(equal[:11])) == 3


def test_folded_faults_beyond_the_limit_are_counted():
    faults = [
        Fault(FaultKind.MALFORMED, f"{number:03}.csv", "a", str(number), line)
        for number in range(450)
        for line in range(2, 14)
    ]
    report = organiser_report(faults)
    # Of a thousand that are kept 83 are twelve of a file, and four are of the next.
    assert MAX_KEPT == 83 * 12 + 4
    assert len(report) == 1 + 83 + 4 + 2
    assert report[-2:] == [f"  … and {450 * 12 - 1000} more", "Rejected, 5400 faults: 5400 malformed"]


def test_faults_of_one_list_stand_in_its_order():
    faults = [
        Fault(FaultKind.WRONG_VALUE, "a.json", "x", str(12 - n), field=f"points[{n}]") for n in range(12)
    ]
    assert [fault.field for fault in Faults(reversed(faults))] == [f"points[{n}]" for n in range(12)]
