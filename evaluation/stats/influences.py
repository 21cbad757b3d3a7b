"""How a figure changes with each case's share of the weight, from which its variance follows."""

import numpy as np

from evaluation.stats.numbers import Floats


def correlation_influences(predicted: Floats, truth: Floats, weights: Floats, absolute: bool) -> Floats:
    """Return how Pearson's correlation changes with each case's share of the weight, shape (rows, cases).

    Under each row of weights, for finite columns of shape (cases,). absolute: of absolute agreement instead,
    2·cov / (var + var + difference²), the intraclass correlation of many cases. NaN where nothing varies.
    """
    shares = weights / weights.sum(axis=1, keepdims=True)
    mine, true = (column - (shares @ column)[:, np.newaxis] for column in (predicted, truth))
    product, square, true_square = mine * true, mine**2, true**2
    means = [np.einsum("ij,ij->i", shares, one)[:, np.newaxis] for one in (product, square, true_square)]
    covariance, variance, true_variance = means
    with np.errstate(divide="ignore", invalid="ignore"):
        if not absolute:
            scale = np.sqrt(variance * true_variance)
            spread = square / variance + true_square / true_variance
            return np.asarray((product - covariance * spread / 2) / scale)
        apart = (shares @ (predicted - truth))[:, np.newaxis]
        scale = variance + true_variance + apart**2
        spread = square + true_square - variance - true_variance + 2 * apart * (mine - true)
        return np.asarray(2 * (product - covariance - covariance / scale * spread) / scale)
