"""Settings shared by all tests."""

from hypothesis import settings

# No deadline: the first call of a kernel compiles it. Derandomised: a red run can be repeated as it was;
# `pytest --hypothesis-profile=search` looks for new examples.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None, max_examples=1000)
settings.load_profile("repeatable")
