"""One line in the log for each thing that an admin did: who, what, on what, with public settings.

The line is written once the change is durable. It holds nothing private: settings of learners and keys,
limits of populations, and ids.
"""

from __future__ import annotations

import logging
from typing import Any

#: The logger, whose lines are written whatever the level of the log.
NAME = "discreet.admin"
#: Who did something that was not done with an API key.
IN_PROCESS = "in process"

_log = logging.getLogger(NAME)


def note(by: str, action: str, target: str, **details: Any) -> None:
    """Write a line.

    Args:
        by: The id of the API key, or `IN_PROCESS`.
        action: Such as "learner created".
        target: The name of a learner or population, or the id of a key.
        details: Public settings only, as JSON types.
    """
    facts = {"key": by, "action": action, "target": target, "details": details}
    _log.info("%s: %s (by %s) %s", action, target, by, details, extra={"admin": facts})
