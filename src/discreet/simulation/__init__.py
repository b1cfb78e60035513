"""Learners against streams, in compiled loops."""

from discreet.simulation.loop import Run, play, regret
from discreet.simulation.replicas import simulate
from discreet.simulation.trace import Trace

__all__ = ["Run", "Trace", "play", "regret", "simulate"]
