"""What a privacy expert would object to in a product, as far as it is the library's to answer.

The objections are numbered as in the project's theory. Three of them belong to a service that knows persons
and clocks, and are tested there: 2 (a cap on what one person contributes), 8 (timing of replies) and 12 (a
ledger of what several learners cost the same people).
"""

import inspect
import logging
import math
import os
import pathlib
import pickle
import stat
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet import BanditLearner, DiscreetError, FullInformationLearner, load
from discreet.errors import AlreadyTold, Expired, StaleState
from discreet.estimators import one_point, one_point_with_coin
from discreet.learners import bandit, feedback
from discreet.learners.bandit_core import RELEASED
from discreet.learners.base import Learner
from discreet.learners.core import choose
from discreet.learners.draw import PROBABILITY, SIZE, new_draw
from discreet.learners.scalar_release import AsBit
from discreet.lovasz import subgradient
from discreet.paper import BanditSubmodPFTAL
from discreet.privacy import exclusive
from discreet.randomizers import OneBit
from discreet.randomness import BitSource, chacha20
from discreet.set_functions import FromCallable, Modular
from every_learner import LEARNERS, N, is_bandit, some_functions, state_of

each = pytest.mark.parametrize("name", LEARNERS)
PRIVATE = [name for name in LEARNERS if LEARNERS[name](None).guarantee.private]

#: Recognisable private values: within the range of costs and beyond it.
PLANTED = 0.731058578630
PLANTED_FAR = 987654321.125


def public(learner: Learner) -> dict[str, str]:
    """Everything that a program would show of a learner; the lineage is random, and left out."""
    shown = {"repr": repr(learner), "str": str(learner), "guarantee": str(learner.guarantee)}
    for name in dir(learner):
        if not name.startswith("_") and name != "lineage" and not callable(getattr(learner, name)):
            shown[name] = repr(getattr(learner, name))
    return shown


def tell_constant(learner: Learner, decision: Any, value: Any) -> None:
    """A cost, or a function whose every value it is."""
    learner.tell(decision, value if is_bandit(learner) else lambda chosen: value)


def arrays(learner: Learner) -> dict[str, Any]:
    return state_of(learner)["arrays"]  # type: ignore[no-any-return]


@each
def test_objection_1_expiry_is_a_cost_like_any_other(name: str) -> None:
    """Objection 1: at a fixed deadline a missing cost passes the same mechanism, as one in mid-range would.

    The same bits are spent and the same state is reached as by a learner that is told the middle then.
    """
    missing, told = LEARNERS[name](3), LEARNERS[name](3)
    missing.expire_after = 1
    for t in range(1, 8):
        assert missing.ask() == told.ask()
        assert missing.rounds == t - 1
        tell_constant(told, t, 0.0)
    with pytest.raises(Expired, match="nothing was changed"):
        tell_constant(missing, 1, PLANTED)
    missing.ask()
    told.ask()
    assert state_of(missing) == state_of(told)


def test_objection_1_expiry_is_owned_up_to() -> None:
    """Objection 1: the documentation says that costs which are missing for a reason bias the result."""
    assert "that is a bias" in " ".join((BanditLearner.__doc__ or "").split())


@pytest.mark.parametrize(
    ("make", "length"),
    [
        (lambda: BanditLearner(N, 1.0, (-1, 1), mode="central", block=4, seed=2), 4),
        (lambda: FullInformationLearner(N, 1.0, (-1, 1), seed=2), 7),
    ],
    ids=["central", "batched"],
)
def test_objection_3_partial_blocks_are_never_released(
    make: Any, length: int, tmp_path: pathlib.Path
) -> None:
    """Objection 3: what an open block holds is seen by nobody, whether one saves, loads or asks.

    Of two learners whose costs are as different as can be, everything public is the same until the block is
    full, and differs then (so the test would see a release that comes too early).
    """
    learners = [make(), make()]
    extremes: list[Any] = [-1.0, 1.0] if is_bandit(learners[0]) else [Modular([-0.3] * N), Modular([0.3] * N)]
    for told in range(1, length + 1):
        for learner, extreme in zip(learners, extremes, strict=True):
            learner.tell(learner.ask(), extreme)
        if told == 2:
            for k in (0, 1):
                learners[k].save(tmp_path / str(k))
                learners[k] = load(tmp_path / str(k))
        shown = [public(learner) for learner in learners]
        assert (shown[0] == shown[1]) == (told < length)


def test_objection_3_partial_blocks_get_the_noise_of_full_ones() -> None:
    """Objection 3: missing costs fill a block up; it is released once, when full, and not before."""
    learner = BanditLearner(N, 1.0, (-1, 1), mode="central", block=3, expire_after=5)
    learner.tell(learner.ask(), PLANTED)
    [learner.ask() for _ in range(6)]  # the decision 2 expires with the last of these
    assert (learner.rounds, learner.mean_cost) == (2, None)
    learner.ask()
    assert learner.rounds == 3
    assert learner.mean_cost is not None


@pytest.mark.parametrize("name", PRIVATE)
def test_objection_4_crash_and_retry_learns_nothing_twice(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Objection 4: a cost whose learning was interrupted is struck out, so no fresh noise is spent on it."""
    learner = LEARNERS[name](None)
    step = "learn_cost" if is_bandit(learner) else "learn_function"
    original = getattr(feedback, step)
    for when in ("before", "after"):

        def crash(*arguments: Any, when: str = when) -> int:
            if when == "before" or original(*arguments) >= 0:
                raise KeyboardInterrupt
            return -1

        decision = learner.ask()
        monkeypatch.setattr(feedback, step, crash)
        with pytest.raises(KeyboardInterrupt):
            tell_constant(learner, decision, PLANTED)
        monkeypatch.undo()
        before = arrays(learner)
        with pytest.raises(AlreadyTold):
            tell_constant(learner, decision, PLANTED)
        assert arrays(learner) == before
    assert learner.rounds == 1
    tell_constant(learner, learner.ask(), PLANTED)
    assert learner.rounds == 2


@pytest.mark.parametrize("name", ["BanditLearner", "NoisedGradients", "SubmodPFTAL", "ExponentialWeights"])
def test_objection_4_crash_and_retry_spends_words_before_their_use(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Objection 4: bits that an interrupted round may have used are never read again."""
    drawn: list[int] = []

    def recorded() -> Any:
        draw = chacha20()

        def words_to_come(count: int) -> np.ndarray:
            bits = draw(count)
            drawn.extend(bits.tolist())
            return bits

        return words_to_come

    learner = LEARNERS[name](None)
    learner._source = BitSource(fresh=recorded)
    step = "learn_cost" if is_bandit(learner) else "learn_function"
    original, read = getattr(feedback, step), []

    def crash(*arguments: Any) -> int:
        bits, cursor = arguments[-2:]
        after = original(*arguments)
        if after >= 0:
            read.extend(bits[cursor:after].tolist())
            raise KeyboardInterrupt
        return int(after)

    decision = learner.ask()
    monkeypatch.setattr(feedback, step, crash)
    with pytest.raises(KeyboardInterrupt):
        tell_constant(learner, decision, 0.5)
    monkeypatch.undo()
    assert read
    assert drawn.index(learner._source.bits64()) > drawn.index(read[-1])


def test_objection_4_crash_and_retry_takes_the_same_bit_once(tmp_path: pathlib.Path) -> None:
    """Objection 4: a client sends the same bit again; it counts once, and after a crash as it did before."""
    learner = BanditLearner(N, 1.0, (-1, 1))
    decision = learner.ask()
    learner.save(tmp_path / "learner")
    bit = OneBit(1.0, (-1, 1)).release(PLANTED)
    learner.tell(decision, released=bit)
    told = arrays(learner)
    for again in (bit, 1 - bit):
        with pytest.raises(AlreadyTold, match="nothing was changed"):
            learner.tell(decision.id, released=again)
    assert arrays(learner) == told
    for _ in range(2):  # the server crashed, and comes back from its file: no new noise is drawn
        restored = load(tmp_path / "learner")
        restored.tell(decision.id, released=bit)
        assert arrays(restored) == told


@pytest.mark.parametrize("moment", ["before", "after"])
def test_objection_4_crash_and_retry_leaves_a_sound_file(
    moment: str, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    """Objection 4: a bit whose learning was interrupted counts once or is lost, and files stay readable."""
    original = bandit.learn_released

    def crash(*arguments: Any) -> None:
        if moment == "after":
            original(*arguments)
        raise KeyboardInterrupt

    learner = BanditLearner(N, 1.0, (-1, 1))
    decision = learner.ask()
    monkeypatch.setattr(bandit, "learn_released", crash)
    with pytest.raises(KeyboardInterrupt):
        learner.tell(decision, released=1)
    monkeypatch.undo()
    with pytest.raises(AlreadyTold):
        learner.tell(decision, released=1)
    learner.save(tmp_path / "learner")
    assert arrays(load(tmp_path / "learner")) == arrays(learner)


@pytest.mark.parametrize("name", ["BanditLearner central", "FullInformationLearner tree", "SubmodPFTAL"])
def test_objection_5_a_state_loaded_twice_is_refused(name: str, tmp_path: pathlib.Path) -> None:
    """Objection 5: of a saved learner, its file and an old backup (whose number is known) one goes on."""
    learner = LEARNERS[name](None)
    backup = learner._whole()
    tell_constant(learner, learner.ask(), PLANTED)
    with pytest.raises(StaleState, match="is of generation 0, the latest is"):
        type(learner).from_bytes(backup, generation=learner.generation)
    learner.save(tmp_path / "learner")
    with pytest.raises(StaleState, match="handed over"):
        learner.ask()
    load(tmp_path / "learner")
    with pytest.raises(StaleState, match="has been loaded already"):
        load(tmp_path / "learner")


@pytest.mark.parametrize("name", ["BanditLearner central", "FullInformationLearner", "SubmodPFTAL"])
def test_objection_6_state_files_are_for_their_owner_only(name: str, tmp_path: pathlib.Path) -> None:
    """Objection 6: mode 0600 under every name, and no other way out: neither pickle nor repr has the sums."""
    learner = LEARNERS[name](None)
    tell_constant(learner, learner.ask(), PLANTED_FAR)
    with pytest.raises(TypeError, match="share noise"):
        pickle.dumps(learner)
    assert not [shown for key, shown in public(learner).items() if key != "point" and "array(" in shown]
    learner.save(tmp_path / "learner")
    load(tmp_path / "learner")
    assert [stat.S_IMODE(os.stat(entry).st_mode) for entry in tmp_path.iterdir()] == [0o600]


def test_objection_6_files_of_local_learners_hold_bits_only() -> None:
    """Objection 6: all that a local learner keeps follows from the bits, so its file is no secret."""
    learner = BanditLearner(N, 1.0, (-1, 1), seed=6)
    from_bits = BanditLearner(N, 1.0, (-1, 1), seed=6)
    for cost in np.linspace(-1, 1, 30):
        decision, before = learner.ask(), int(learner._core.rounds[RELEASED])
        learner.tell(decision, cost)
        bit = int(learner._core.rounds[RELEASED] > before)
        assert from_bits.ask() == decision
        from_bits.tell(decision.id, released=bit)
        from_bits._source.bits64()  # the one that made the bit
    assert state_of(from_bits) == state_of(learner)


def test_objection_7_the_client_pins_range_and_epsilon() -> None:
    """Objection 7: a bit is made with what the client was built with; no request can ask for another."""
    assert list(inspect.signature(OneBit.release).parameters) == ["self", "value"]
    client = OneBit(Fraction(1, 4), (0.0, 1.0))
    bounds = {client.probability_of_one(units) for units in (-client.grid.units, client.grid.units)}
    assert max(bounds) / min(bounds) <= Fraction(math.exp(0.25))
    with pytest.raises(AttributeError):
        client.grid.low = -100.0  # type: ignore[misc]
    learner = BanditLearner(N, 1, (0, 1), rounds_per_person=4)
    assert learner._core.kind == AsBit(client.slope, round(client.magnitude))
    for wrong in (2, -1, 0.5, True, "1"):
        with pytest.raises(DiscreetError, match="must be 0 or 1"):
            learner.tell(learner.ask(), released=wrong)  # type: ignore[arg-type]
    assert learner.rounds == 0


def test_objection_7_who_sees_the_raw_cost_is_said() -> None:
    """Objection 7: a server that is told the cost sees it for a moment; the guarantee does not deny it."""
    text = str(BanditLearner(N, 1.0, (0, 1)).guarantee)
    assert "only the machine that does so sees it" in text
    assert "Exact sums are kept" in str(BanditLearner(N, 1.0, (0, 1), mode="central").guarantee)


def drawn_with(core: Any, items: list[int], word: int) -> tuple[list[int], int, float]:
    """The order, size and probability of a set drawn among some items by one word."""
    draw = new_draw(np.array(items))
    assert choose(core, draw, np.array([word], dtype=np.uint64), 0) == 1
    return draw.order.tolist(), int(draw.numbers[SIZE]), float(draw.chances[PROBABILITY])


@pytest.mark.parametrize("coin", [False, True])
@pytest.mark.parametrize("available", [[0, 1, 2], [0, 2], [1], [2, 1]])
def test_objection_9_availability_comes_before_sampling(available: list[int], coin: bool) -> None:
    """Objection 9: the set is drawn among the items on offer, with the probability that is written down.

    Every set that can be drawn is enumerated. The probabilities add up to 1, and the mean of the one-point
    estimate is exactly the gradient among the items on offer. To draw among all items, take those that are
    off out afterwards, and learn as if the rest had been drawn, gives another mean.
    """
    learner, function = BanditSubmodPFTAL(N, 256, 1.0, x1=[0.2, 0.9, 0.6]), some_functions()[5]

    def mean_estimate(offer: list[int]) -> tuple[float, np.ndarray]:
        drawn = [drawn_with(learner._core, offer, (k << 54) - 1) for k in range(1, 1024)]
        order = [item for item in drawn[0][0] if item in available]
        total, mean, estimate = 0.0, np.zeros(N), np.empty(N)
        for size, probability in {outcome[1:] for outcome in drawn}:
            chosen = [item for item in drawn[0][0][:size] if item in available]
            for heads in (False, True):
                arguments = (np.array(order), len(chosen), probability, function(chosen))
                if coin:
                    one_point_with_coin(*arguments, heads, estimate)
                else:
                    one_point(*arguments, estimate)
                mean += 0.5 * probability * estimate
            total += probability
        return total, mean

    limited = FromCallable(lambda chosen: function([available[i] for i in chosen]), len(available))
    gradient = np.zeros(N)
    gradient[available] = subgradient(limited, learner.point[available])
    total, mean = mean_estimate(available)
    assert total == pytest.approx(1.0, abs=1e-12)
    assert mean == pytest.approx(gradient, abs=1e-12)
    _, taken_out_afterwards = mean_estimate([0, 1, 2])
    assert np.allclose(taken_out_afterwards, gradient, atol=0.01) == (len(available) == N)


@each
def test_objection_10_nothing_counts_clipped_values(name: str) -> None:
    """Objection 10: a cost beyond the range and one at its end leave the same state, to the last byte.

    So there is no counter of clipped values and no range that follows the data, in attributes or in files.
    What is no number is likewise not told apart from the middle of the range.
    """
    learners = [LEARNERS[name](8) for _ in range(3)]
    values = [(1.0, PLANTED_FAR, 1e300), (-1.0, -PLANTED_FAR, -1e308), (0.0, float("nan"), "rubbish")]
    for t in range(12):
        for learner, value in zip(learners, values[t % 3], strict=True):
            decision = learner.ask()
            if is_bandit(learner):
                learner.tell(decision, value)
            else:
                learner.tell(decision, lambda chosen, value=value: value if chosen else 0.0)
    shown = [public(learner) for learner in learners]
    assert shown[0] == shown[1] == shown[2]
    assert state_of(learners[0]) == state_of(learners[1]) == state_of(learners[2])


@pytest.mark.parametrize("kind", [BanditLearner, FullInformationLearner])
def test_objection_10_the_range_is_declared_beforehand(kind: Any) -> None:
    """Objection 10: there is no default for it that data could fill in, and nothing to change it by."""
    with pytest.raises(TypeError, match="cost_range"):
        kind(N, 1.0)
    learner = kind(N, 1.0, (0, 1))
    assert not [name for name in dir(learner) if "clip" in name.lower() or "range" in name.lower()]


@pytest.mark.parametrize("name", PRIVATE)
def test_objection_11_nothing_that_is_shown_holds_a_private_value(
    name: str, caplog: pytest.LogCaptureFixture, tmp_path: pathlib.Path
) -> None:
    """Objection 11: planted costs are searched for in all errors, logs, warnings, reprs and attributes.

    Decisions, costs and released bits are also given in each other's place, as in a program with a mistake.
    """
    caplog.set_level(logging.DEBUG)
    texts: list[str] = []

    def attempt(*arguments: Any, **named: Any) -> None:
        try:
            learner.tell(*arguments, **named)
        except Exception as error:
            chain: BaseException | None = error
            while chain is not None:
                texts.extend((str(chain), repr(chain)))
                chain = chain.__cause__ or chain.__context__

    class Talkative:
        def __float__(self) -> float:
            raise ValueError(f"{PLANTED} and {PLANTED_FAR}")

        def __repr__(self) -> str:
            return f"{PLANTED}, {PLANTED_FAR}"

    learner = LEARNERS[name](None)
    private: list[Any] = [PLANTED, -PLANTED_FAR, str(PLANTED_FAR), [PLANTED], {PLANTED: 1}, Talkative()]
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        for value in private:
            decision = learner.ask()
            tell_constant(learner, decision, value)
            texts.append(repr(decision))
            for arguments in (
                (decision, value),  # told already
                (value, decision),  # the wrong way round
                (value, value),
                (decision.id + 1, value),  # never asked for
                (str(value), value),
                (decision, value, value),
            ):
                attempt(*arguments)
            attempt(decision, released=value)
            attempt(learner.ask(), released=value)
            attempt(learner.ask(), value, released=1)
            attempt(learner.ask(), Modular([PLANTED] * (N + 1)))
            try:
                learner.tell_many([(learner.ask(), value), (value, value)])
            except Exception as error:
                texts.append(f"{error} {error!r}")
        texts.extend(public(learner).values())
        learner.save(tmp_path / "learner")
        attempt(1, PLANTED)  # handed over, perhaps
        loaded = load(tmp_path / "learner")
        texts.extend(public(loaded).values())
        data = bytearray(loaded._whole())
        data[len(data) // 2] ^= 1
        (tmp_path / "learner").write_bytes(data)
        try:
            load(tmp_path / "learner")
        except DiscreetError as error:
            texts.append(str(error))
    texts += [record.getMessage() for record in caplog.records] + [str(warning.message) for warning in warned]
    assert len(texts) > 50
    for digits in ("731058578", "987654321"):
        assert not [text for text in texts if digits in text]


def test_objection_11_the_search_would_find_something() -> None:
    """Objection 11: the same search in what is secret does find the value, so it is able to fail."""
    learner = BanditLearner(N, 1.0, (-1, 1), mode="central", block=9)
    learner.tell(learner.ask(), PLANTED)
    units = round(PLANTED * learner._core.units)
    held = exclusive._unpacked(exclusive.opened(learner._whole())["arrays"]["draws.numbers"])
    assert str(units) in str(held)
    assert not [shown for shown in public(learner).values() if str(units) in shown]


@pytest.mark.parametrize("name", [name for name in PRIVATE if is_bandit(LEARNERS[name](None))])
def test_objection_11_errors_do_not_depend_on_private_values(name: str) -> None:
    """Objection 11: whether something is raised, and what it says, is the same for every cost."""
    said = []
    for value in (0.0, PLANTED, PLANTED_FAR, float("nan"), None, "text", object(), 10**400):
        learner = LEARNERS[name](None)
        decision = learner.ask()
        assert learner.tell(decision, value) is None  # type: ignore[func-returns-value]
        with pytest.raises(AlreadyTold) as refusal:
            learner.tell(decision, value)
        said.append(str(refusal.value))
    assert len(set(said)) == 1
