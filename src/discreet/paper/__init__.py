"""The algorithms of Rivera Cardoso and Cummings, "Differentially Private Online Submodular Optimization".

That is their preprint (arXiv:1807.02290, 2018). The refereed version, "Differentially Private Online
Submodular Minimization" (AISTATS 2019, PMLR 89), claims other rates and is not implemented. For use rather
than study take `discreet.BanditLearner` and `discreet.FullInformationLearner`.

Arguments that all share:

- `calibration`: "corrected" (the default) is private. "published" runs what is printed, and its guarantee
  says which claim is false and what the real loss is (`docs/errata.md`; symbols: `docs/notation.md`).
- `noise`: "laplace" (exact, the corrected default) or "spherical" (density proportional to exp(-|z|_2 /
  scale), as printed; in floats, and so not private).
- `seed` makes a run repeatable and not private; `source` has random bits instead.

Examples:
    >>> learner = BanditSubmodPFTAL(["bread", "butter"], T=10_000, epsilon=1.0)
    >>> learner.tell(learner.ask(), 0.3)
    >>> convex = PFTAL(Box([0, 0], [1, 1]), T=10, epsilon=1.0, H=1.0, L=2.0)
    >>> convex.tell([1.0, -1.0])
    >>> TBAP(d=2, T=8, mu=1.0, epsilon=1.0).add([0.6, 0.8]).shape
    (2,)
"""

from discreet.paper.pftal import PFTAL, TBAP, Ball, Box, ConvexSet, Simplex
from discreet.paper.submod_pftal import BanditSubmodPFTAL, SubmodPFTAL

__all__ = ["PFTAL", "TBAP", "Ball", "BanditSubmodPFTAL", "Box", "ConvexSet", "Simplex", "SubmodPFTAL"]
