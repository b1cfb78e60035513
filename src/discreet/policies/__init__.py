"""Policies: which sets to play next, given what was released so far.

| policy | plans | learns from |
|---|---|---|
| `Model` | sets that may be the best by a model of their costs, each for some rounds | released costs |
| `ChainBandit` | a prefix of the point's chain for a slot of rounds | released costs |
| `Averaging` | random level sets, for slots that adapt their length | released gradients |
| `Choose` | the set that was best in the phase before | noisy minima over all sets |
| `WatchedLeader`, `DoublingLeader` | what has lowered costs, for slots that grow | released gradients |
| `Leader`, `DualAveraging`, `Descent` | one prefix per round | released gradients or estimates |
| `Arms` | one of all subsets per round | released costs |
| `ItemSampling` | the best set by a draw from its beliefs | released costs |
| `Fixed`, `Uniform` | a fixed set, a random set | nothing |

A policy of your own keeps to the protocol `Policy`. A compiled one derives from `CompiledPolicy`, and needs
`kernel`, the generic functions `plan` and `learn`, and the types of arrays.

Examples:
    >>> from discreet.randomness import BitSource
    >>> policy = Uniform(3)
    >>> policy.plan(policy.start(), BitSource()).rounds
    array([1])
"""

from discreet.checks import BoolArray, FloatArray, IntArray
from discreet.compiled import kernel
from discreet.policies.averaging import Averaging, Descent, DualAveraging, Leader
from discreet.policies.base import CompiledPolicy, Policy, learn, plan
from discreet.policies.chain_bandit import ChainBandit
from discreet.policies.choose import Choose
from discreet.policies.leaders import DoublingLeader, WatchedLeader
from discreet.policies.model import Model
from discreet.policies.posterior import ItemSampling
from discreet.policies.sets import Arms, Fixed, Uniform

__all__ = [
    "Arms",
    "Averaging",
    "BoolArray",
    "ChainBandit",
    "Choose",
    "CompiledPolicy",
    "Descent",
    "DoublingLeader",
    "DualAveraging",
    "Fixed",
    "FloatArray",
    "IntArray",
    "ItemSampling",
    "Leader",
    "Model",
    "Policy",
    "Uniform",
    "WatchedLeader",
    "kernel",
    "learn",
    "plan",
]
