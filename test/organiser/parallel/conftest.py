"""Keeps challenges of other tests away from processes started here, as for the tests of `rescoring`."""

from test.organiser.rescoring.conftest import _own_challenges_alone

__all__ = ["_own_challenges_alone"]
