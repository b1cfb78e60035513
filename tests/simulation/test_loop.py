"""The compiled loop keeps a learner's horizon."""

import pytest

from discreet import DiscreetError
from discreet.environments import Pool
from discreet.paper import SubmodPFTAL
from discreet.set_functions import Modular
from discreet.simulation.loop import play


def test_a_run_beyond_the_horizon_is_refused_before_it_starts() -> None:
    """Compiled code trusts the number of rounds, so it is checked outside; nothing has been learned then."""
    pool = Pool([Modular([0.1, -0.1])], rounds=8, seed=0)
    learner = SubmodPFTAL(2, 4, 1.0, seed=0)
    with pytest.raises(DiscreetError, match="can take 4 more rounds, not 8"):
        play(learner, pool)
    assert learner.rounds == 0
    assert play(learner, pool, 4).size == 4
