"""Arguments of samples that are out of range."""

import numpy as np
import pytest

from evaluation.organiser.annotators.ellipses import Ellipse
from evaluation.organiser.samples import adam
from evaluation.organiser.samples.fundus import reference_fovea, reference_mask
from evaluation.organiser.samples.likelihoods import likelihoods_with_auc
from test.organiser.samples import test_edd2020, test_justraigs, test_oct_volumes
from test.organiser.samples.test_adam import parsed
from test.organiser.samples.test_fundus import draw


def of_adam(*arguments):
    return lambda folder: adam.write(parsed(folder, *arguments), lambda done: None)


def of_edd(**changed):
    return lambda folder: test_edd2020.write(folder, **changed)


def of_justraigs(*options):
    return lambda folder: test_justraigs.write(folder, "--cases", "50", *options)


def of_volumes(count, scale):
    return lambda _: test_oct_volumes.drawn(count, scale)


def of_fundus(**changed):
    return lambda _: draw(**changed)


def of_grades(function):
    return lambda _: function(draw(1)[0], np.random.default_rng(0), 0)


def of_likelihoods(labels, auc=0.9):
    return lambda _: likelihoods_with_auc(np.array(labels), auc, np.random.default_rng(0))


def of_ellipse(*values):
    return lambda _: Ellipse(*values)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (of_adam("--noise", "0.5"), "^--noise:"),
        (of_adam("--second-camera", "1.5"), "^--second-camera:"),
        (of_adam("--cases", "4"), "^--cases:"),
        (of_adam("--width", "10", "--height", "10"), "^size:"),
        (of_edd(cases=0), "at least one case"),
        (of_edd(out_of_sample=-1), "at least one case"),
        (of_edd(width=8), "at least one case"),
        (of_justraigs("--referable", "0"), "expected"),
        (of_justraigs("--referable", "1"), "expected"),
        (of_justraigs("--stack", "0"), "expected"),
        (of_justraigs("--graders", "1"), "^graders:"),
        (of_justraigs("--graders", "100"), "^graders:"),
        (of_volumes(0, 1), "at least one case"),
        (of_volumes(1, 0), "at least one case"),
        (of_volumes(1, 1.5), "at least one case"),
        (of_fundus(count=0), "^count:"),
        (of_fundus(fraction=-0.1), "^glaucoma_fraction:"),
        (of_fundus(fraction=1.5), "^glaucoma_fraction:"),
        (of_fundus(width=63), "^size:"),
        (of_fundus(height=63), "^size:"),
        (of_grades(reference_mask), "^graders:"),
        (of_grades(reference_fovea), "^graders:"),
        (of_likelihoods([False] * 4), "^labels:"),
        (of_likelihoods([True] * 3), "^labels:"),
        (of_likelihoods([0, 1]), "^labels:"),
        (of_likelihoods([[True, False]]), "^labels:"),
        (of_likelihoods([True, False], 1.1), "^auc:"),
        (of_likelihoods([True, False], -0.1), "^auc:"),
        (of_ellipse(0, 0, 0, 1, 0), "^ellipse:"),
        (of_ellipse(0, 0, 1, -1, 0), "^ellipse:"),
        (of_ellipse(0, 0, np.inf, 1, 0), "^ellipse:"),
        (of_ellipse(np.nan, 0, 1, 1, 0), "^ellipse:"),
    ],
)
def test_arguments_out_of_range_are_refused(make, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        make(tmp_path)
