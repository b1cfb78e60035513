"""The algorithms of Rivera Cardoso and Cummings, "Differentially Private Online Submodular Optimization".

That is their preprint (arXiv:1807.02290, 2018). The refereed version, "Differentially Private Online
Submodular Minimization" (AISTATS 2019, PMLR 89), claims other rates and is not implemented.

Each exists in two calibrations. ``"corrected"`` (the default) is private: the noise is made for the
true distance between neighbouring histories, bounds are enforced, and parameters are what the
proofs need. ``"published"`` runs what is printed, and its guarantee says which claim is false and
what the real loss is. `docs/errata.md` has the reasons, `docs/notation.md` the symbols.

All take `noise`: "laplace" (exact, the corrected default) or "spherical" (density proportional to
exp(-|z|_2 / scale), as printed; in floats, and so not private); and `seed`, which makes a run repeatable and
not private, or `source`, random bits instead of a seed.

For use rather than study take `discreet.BanditLearner` and `discreet.FullInformationLearner`.
"""

from discreet.paper.pftal import PFTAL, Ball, Box, ConvexSet, Simplex
from discreet.paper.submod_pftal import BanditSubmodPFTAL, SubmodPFTAL
from discreet.paper.tbap import TBAP

__all__ = ["PFTAL", "TBAP", "Ball", "BanditSubmodPFTAL", "Box", "ConvexSet", "Simplex", "SubmodPFTAL"]
