"""Policies: which sets to play next, given what was released so far.

| policy | plans | learns from |
|---|---|---|
| `ChainBandit` | a prefix of the point's chain for a slot of rounds | released costs |
| `Averaging` | random level sets, for slots that adapt their length | released gradients |
| `WatchedLeader`, `DoublingLeader` | what has lowered costs, for slots that grow | released gradients |
| `Leader`, `DualAveraging`, `Descent` | one prefix per round | released gradients or estimates |
| `Arms` | one of all subsets per round | released costs |
| `Fixed`, `Uniform` | a fixed set, a random set | nothing |

Examples:
    >>> from discreet.randomness import BitSource
    >>> policy = Uniform(3)
    >>> policy.plan(policy.start(), BitSource()).rounds
    array([1])
"""

from discreet.policies.averaging import Averaging, Descent, DualAveraging, Leader
from discreet.policies.base import CompiledPolicy, Policy
from discreet.policies.chain_bandit import ChainBandit
from discreet.policies.leaders import DoublingLeader, WatchedLeader
from discreet.policies.sets import Arms, Fixed, Uniform

__all__ = [
    "Arms",
    "Averaging",
    "ChainBandit",
    "CompiledPolicy",
    "Descent",
    "DoublingLeader",
    "DualAveraging",
    "Fixed",
    "Leader",
    "Policy",
    "Uniform",
    "WatchedLeader",
]
