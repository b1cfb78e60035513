"""Learners against streams, in compiled loops."""

from discreet.simulation.loop import play, regret

__all__ = ["play", "regret"]
