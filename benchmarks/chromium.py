"""A browser without a window, for pictures and tests of pages; it comes from the system, not from pip."""

import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome")
#: Nothing that asks the network by itself, and what it needs inside a container.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def program() -> str | None:
    """Where it is installed, if it is."""
    return next(filter(None, map(shutil.which, NAMES)), None)
