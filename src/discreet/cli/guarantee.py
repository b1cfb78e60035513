"""The command ``discreet guarantee``: what a learner promises, in words, as data, or for the registry."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from discreet.cli.app import Json, app, command, show, wrapped
from discreet.errors import InvalidArgument


@command(
    app,
    "discreet guarantee --epsilon 0.5 --local --rounds-per-person 3",
    "discreet guarantee shop.learner",
    "discreet guarantee --epsilon 1 --service --registry > entry.yaml",
    note="The guarantee depends neither on the items nor on the method. A saved learner stays in its "
    "file. The registry is https://registry.opendp.org; parts of an entry are left for you to fill in.",
)
def guarantee(
    file: Annotated[Path | None, Argument(help="A learner that was saved, instead of a description.")] = None,
    epsilon: Annotated[float | None, Option(help="Privacy loss.")] = None,
    full: Annotated[bool, Option("--full", help="The whole cost function is seen.")] = False,
    local: Annotated[bool, Option("--local", help="No exact sums may be kept.")] = False,
    rounds_per_person: Annotated[int, Option(help="Rounds in which one person may appear.")] = 1,
    delta: Annotated[float, Option(help="With --local: the probability that more may be lost.")] = 0.0,
    service: Annotated[bool, Option("--service", help="The learner is in the service.")] = False,
    registry: Annotated[
        bool, Option("--registry", help="Print YAML for the registry of deployments.")
    ] = False,
    json: Json = False,
) -> None:
    """What a learner promises, in plain words."""
    from discreet import BanditLearner, FullInformationLearner
    from discreet.loading import guarantee_in
    from discreet.privacy.registry import registry_yaml

    if (file is None) == (epsilon is None):
        raise InvalidArgument("Give either the file of a learner or --epsilon.")
    if file is not None and (full or local or delta or rounds_per_person != 1):
        raise InvalidArgument("A file says itself what its learner is. Give no other description.")
    if full and (local or delta):
        raise InvalidArgument("A learner that sees whole functions is not local, and has no delta.")
    if epsilon is None:
        assert file is not None
        found = guarantee_in(file)
    elif full:
        found = FullInformationLearner(1, epsilon, (0, 1), rounds_per_person=rounds_per_person).guarantee
    else:
        found = BanditLearner(
            1,
            epsilon,
            (0, 1),
            mode="local" if local else "central",
            rounds_per_person=rounds_per_person,
            delta=delta,
        ).guarantee
    if service:  # it shows how many have told
        found = dataclasses.replace(found, absence_hidden=False)
    if registry:
        print(registry_yaml(found), end="")
    else:
        facts = vars(found) | {"neighbours": found.neighbours.value, "text": str(found)}
        show(json, facts, wrapped(str(found)))
