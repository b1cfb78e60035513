"""One ask and one tell of a bandit learner, with cryptographic bits, in a Python loop."""

from collections.abc import Callable, Iterator

from benchmarks.measure import Row, median_seconds
from discreet import BanditLearner

_PAIRS = 2000


def pairs(learner: BanditLearner) -> Callable[[], None]:
    """So many decisions, each told about at once."""

    def work() -> None:
        for _ in range(_PAIRS):
            learner.tell(learner.ask(), 0.25)

    return work


def rows() -> Iterator[Row]:
    for n, limit in ((10, 25e-6), (1000, 150e-6)):
        for mode in ("local", "central"):
            learner = BanditLearner(n, 1.0, (0, 1), mode=mode)
            seconds = median_seconds(pairs(learner), 7, _PAIRS)
            yield Row(f"ask + tell, bandit, {mode}, n={n}", seconds, limit=limit)
