"""The algorithms of Rivera Cardoso and Cummings, "Differentially Private Online Submodular Optimization".

Each exists in two calibrations. ``"corrected"`` (the default) is private: the noise is made for the
true distance between neighbouring histories, bounds are enforced, and parameters are what the
proofs need. ``"published"`` runs what is printed, and its guarantee says which claim is false and
what the real loss is. `docs/errata.md` has the reasons, `docs/notation.md` the symbols.

For use rather than study take `discreet.BanditLearner` and `discreet.FullInformationLearner`.
"""

from discreet.paper.bandit_submod_pftal import BanditSubmodPFTAL
from discreet.paper.submod_pftal import SubmodPFTAL

__all__ = ["BanditSubmodPFTAL", "SubmodPFTAL"]
