"""The contract that every learner of the package keeps: ours, the paper's and the baselines.

It goes on in `test_every_learner_saved`, `test_every_learner_in_time` and `test_every_learner_inputs`.
"""

import copy
import os
import pickle
import re

import numpy as np
import pytest

import every_learner
from discreet import DiscreetError
from discreet.environments import Pool
from discreet.errors import UnknownDecision
from discreet.learners.decision import Decision
from discreet.set_functions import FromCallable, Modular, Table
from discreet.simulation.loop import play
from every_learner import LEARNERS, N, feedback, is_bandit, some_functions

each = pytest.mark.parametrize("name", LEARNERS)
ROUNDS = 40


def drive(learner, rounds: int) -> list[tuple[frozenset, tuple[float, ...]]]:  # type: ignore[no-untyped-def]
    """The visible transcript of some rounds."""
    functions = some_functions()
    seen = []
    for t in range(rounds):
        decision = learner.ask()
        learner.tell(decision, feedback(learner, decision, functions[t % len(functions)]))
        seen.append((decision.subset, tuple(learner.point)))
    return seen


@each
def test_choices_are_subsets_and_points_lie_in_the_cube(name: str) -> None:
    """Whatever happens, decisions are sets of items and levels lie in [0, 1]."""
    learner = LEARNERS[name](1)
    for subset, point in drive(learner, ROUNDS):
        assert subset <= set(range(N))
        assert all(0 <= level <= 1 for level in point)
    assert learner.rounds == ROUNDS
    assert learner.pending == 0


@each
def test_a_seed_repeats_the_run_and_voids_privacy(name: str) -> None:
    """The same seed gives the same transcript; another one does not, and no seeded run is private."""
    first, again, other = (drive(LEARNERS[name](seed), ROUNDS) for seed in (1, 1, 2))
    assert first == again
    if name != "FixedSet":
        assert first != other
        guarantee = LEARNERS[name](1).guarantee
        assert not guarantee.private or guarantee.epsilon == 0


@each
def test_guarantee_is_present_and_readable(name: str) -> None:
    """Every learner says what it promises, in bits."""
    guarantee = LEARNERS[name](None).guarantee
    assert guarantee.private == (
        not name.startswith(("Hazan", "Follow"))
        and not any(part in name for part in ("published", "spherical", "Without"))
    )
    assert str(guarantee).startswith("Differentially private" if guarantee.private else "NOT PRIVATE")
    assert guarantee.reason == "" or not guarantee.private


@each
def test_compiled_loop_and_ask_tell_are_the_same_algorithm(name: str) -> None:
    """With one seed the simulator's loop pays exactly what ask and tell pay, round by round."""
    functions = some_functions()
    pool = Pool(functions, rounds=ROUNDS, seed=3)
    stepwise, compiled = LEARNERS[name](5), LEARNERS[name](5)
    paid = []
    for t in range(ROUNDS):
        decision = stepwise.ask()
        function = functions[pool.compiled.choice[t]]
        paid.append(function(decision.subset))
        stepwise.tell(decision, feedback(stepwise, decision, function))
    looped = play(compiled, pool)
    np.testing.assert_allclose(looped, paid, atol=1e-12)
    np.testing.assert_array_equal(compiled.point, stepwise.point)


@each
def test_hostile_feedback_is_learnt_from_quietly(name: str) -> None:
    """NaN, infinities, huge numbers, things that are no numbers, non-submodular costs: nothing is raised."""
    learner = LEARNERS[name](1)
    numbers = [float("nan"), float("inf"), -1e300, 1e300, None, "rubbish", [1], {}, 10**400]
    tables = [Table(np.random.default_rng(k).choice([-1e300, 1e300, 0.5], size=2**N)) for k in range(5)]
    for value in numbers:
        decision = learner.ask()
        learner.tell(decision, value if is_bandit(learner) else FromCallable(lambda s: float("nan"), N))
    for table in tables:
        decision = learner.ask()
        learner.tell(decision, feedback(learner, decision, table))
    if not is_bandit(learner):
        for value in numbers:
            learner.tell(learner.ask(), lambda s, value=value: value)
    assert np.all((learner.point >= 0) & (learner.point <= 1))


@each
def test_late_and_disordered_tells_are_learnt_from(name: str) -> None:
    """Decisions may be told about in any order, by id or as they are."""
    learner = LEARNERS[name](1)
    decisions = learner.ask(count=5)
    assert [d.round for d in decisions] == [1, 2, 3, 4, 5]
    for position, decision in enumerate(reversed(decisions)):
        told = feedback(learner, decision, some_functions()[0])
        learner.tell(decision if position % 2 else decision.id, told)
    assert learner.rounds == 5
    assert learner.pending == 0


@each
def test_telling_twice_or_the_unknown_changes_nothing(name: str) -> None:
    """Both are named errors, and the point stays where it was."""
    learner = LEARNERS[name](1)
    decision = learner.ask()
    told = feedback(learner, decision, some_functions()[0])
    learner.tell(decision, told)
    before = learner.point
    with pytest.raises(DiscreetError, match="already"):
        learner.tell(decision, told)
    twin = LEARNERS[name](1)
    for unknown in (Decision(99, frozenset(), 99, learner.lineage), twin.ask(), 99, 0, "x", None):
        with pytest.raises(UnknownDecision) as refused:
            learner.tell(unknown, told)  # type: ignore[arg-type]
        assert not re.search(r"\d", str(refused.value))  # it may be the cost, given in the wrong place
    np.testing.assert_array_equal(learner.point, before)
    assert learner.rounds == 1


@each
def test_no_aliasing_of_what_is_handed_out(name: str) -> None:
    """Scribbling on a point does not move the learner."""
    learner = LEARNERS[name](1)
    learner.point[:] = 7.0
    assert learner.point.max() <= 1


@each
def test_learners_are_not_copied(name: str) -> None:
    """A copy would share noise: refused, with the reason."""
    learner = LEARNERS[name](1)
    with pytest.raises(TypeError, match="share noise"):
        copy.deepcopy(learner)
    with pytest.raises(TypeError, match="share noise"):
        pickle.dumps(learner)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_cannot_go_on() -> None:
    """A child that shares its parent's tree is refused when it tells."""
    learner = LEARNERS["BanditSubmodPFTAL"](None)
    decision = learner.ask()
    child = os.fork()
    if child == 0:
        try:
            learner.tell(decision, 0.5)
        except DiscreetError as error:
            os._exit(7 if "forked" in str(error) else 8)
        os._exit(9)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


@pytest.mark.parametrize("name", ["BanditSubmodPFTAL", "SubmodPFTAL"])
def test_an_interruption_after_the_commit_reuses_no_noise(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception between a kernel's commit and its return: the next node's noise is another."""
    import discreet.learners.feedback as told

    step = "learn_cost" if "Bandit" in name else "learn_function"
    original = getattr(told, step)

    def interrupted(*arguments):  # type: ignore[no-untyped-def]
        if original(*arguments) >= 0:
            raise KeyboardInterrupt
        return -1

    learner = LEARNERS[name](None)
    function = some_functions()[0]
    decision = learner.ask()
    monkeypatch.setattr(told, step, interrupted)
    with pytest.raises(KeyboardInterrupt):
        learner.tell(decision, feedback(learner, decision, function))
    monkeypatch.undo()
    live = learner._core.mechanism.state.live.reshape(-1, N)
    first = live[0].copy()
    assert first.any()
    decision = learner.ask()
    learner.tell(decision, feedback(learner, decision, function))
    assert learner.rounds == 2
    assert not set(live[1].tolist()) & set(first.tolist())


def test_threads_share_a_learner() -> None:
    """Every id is handed out once, every decision is learnt from once, whoever tells it."""
    from concurrent.futures import ThreadPoolExecutor

    learner = every_learner.paper.BanditSubmodPFTAL(N, 10_000, 1.0)

    def work(_: int) -> list[int]:
        decisions = learner.ask(count=50)
        for decision in decisions:
            learner.tell(decision, 0.1)
            with pytest.raises(DiscreetError, match="already"):
                learner.tell(decision, 0.1)
        return [decision.id for decision in decisions]

    with ThreadPoolExecutor(8) as pool:
        ids = [name for names in pool.map(work, range(16)) for name in names]
    assert len(set(ids)) == len(ids) == 800
    assert learner.rounds == 800
    assert learner.pending == 0


def test_secrets_are_cleared_after_each_round() -> None:
    """The room for gradients holds nothing of the last cost."""
    for name in ("BanditSubmodPFTAL", "SubmodPFTAL", "HazanKaleBandit"):
        learner = LEARNERS[name](1)
        decision = learner.ask()
        learner.tell(decision, feedback(learner, decision, some_functions()[0]))
        assert not learner._core.vector.any()
        assert not learner._core.estimate.any()


def test_functions_with_absurd_values_cause_no_warning() -> None:
    """Overflows and non-numbers inside private functions are neither warned about nor raised."""
    learner = LEARNERS["SubmodPFTAL"](1)
    absurd = [
        Modular([1.7e308] * N),
        2.0 * FromCallable(lambda s: 1.7e308, N),
        FromCallable(lambda s: None, N),  # type: ignore[arg-type, return-value]
        FromCallable(lambda s: "my salary is 70k", N),  # type: ignore[arg-type, return-value]
        FromCallable(lambda s: 0.0, N, chain=lambda order: [10**400] * (N + 1)),
    ]
    for function in absurd:
        learner.tell(learner.ask(), function)
    assert learner.rounds == len(absurd)


def test_named_items_are_used_in_subsets_and_functions() -> None:
    """Callers see their own names, in decisions and in the functions they tell."""
    from discreet.paper import SubmodPFTAL

    learner = SubmodPFTAL(["tea", "milk"], T=10, epsilon=1.0, S1=[1])
    decision = learner.ask()
    assert decision.subset == {"milk"}
    seen = []
    learner.tell(decision, lambda chosen: seen.append(chosen) or 0.0)
    assert frozenset({"tea", "milk"}) in seen


def test_wrong_feedback_kinds_are_public_errors() -> None:
    """The number of items and the type of feedback are public; a function's own exception is passed on."""
    learner = LEARNERS["SubmodPFTAL"](1)
    decision = learner.ask()
    with pytest.raises(DiscreetError, match="must have 3 items"):
        learner.tell(decision, Modular([1, 2]))
    with pytest.raises(TypeError, match="a set function, its description or callable"):
        learner.tell(decision, 0.5)
    with pytest.raises(ZeroDivisionError):
        learner.tell(decision, lambda s: 1 / 0)
    learner.tell(decision, Modular([0.1, 0.1, 0.1]))
    assert learner.rounds == 1


@pytest.mark.parametrize("items", [0, -1, "abc", [], ["a", "a"], 1.5, True])
def test_bad_items_are_refused(items: object) -> None:
    """A count of at least one, or different names."""
    from discreet.paper import SubmodPFTAL

    with pytest.raises(DiscreetError, match="'items'"):
        SubmodPFTAL(items, T=10, epsilon=1.0)  # type: ignore[arg-type]


def test_the_suite_covers_all_learners() -> None:
    """A learner that is added to the package must be added here."""
    from discreet import baselines, paper
    from discreet.learners.base import Learner

    known = {type(make(1)).__name__ for make in every_learner.LEARNERS.values()}
    public = {
        name
        for module in (baselines, paper)
        for name in module.__all__
        if isinstance(getattr(module, name), type) and issubclass(getattr(module, name), Learner)
    }
    assert public - known <= {"BestFixedSet"}
