"""What only those need who write parts of their own: set functions, streams, policies, releases.

Modules that are neither this one nor named in the reference may change without notice.

- A set function derives from `set_functions.SetFunction`; its methods take and return `BoolArray`, `IntArray`
  and `FloatArray`. Check it with `set_functions.is_submodular`. As in `own_set_function`.
- A compiled stream derives from `environments.Stream`, and registers `environments.chain_costs` and
  `prefix_cost`, compiled by `kernel`. Check it with `environments.check_stream`. As in `own_stream`.
- A policy is any object with `start`, `plan` and `learn`, in plain Python: `learners.PolicyLearner` runs it.
  As in `own_policy`. A fast one derives from `policies.CompiledPolicy` and registers `plan` and `learn`,
  compiled by `kernel`.
- A learner puts a policy, a query and a release together in a `learners.Learner`, and derives from
  `BanditFeedback` or `FunctionFeedback`. Its constructor is decorated with `keeps_arguments`, and reads its
  arguments by `named_items`, `cost_interval` and `first_point`.
- A release derives from `kernel.Release`; its mechanism registers `arrive`, `samples_needed`, `draw_noise`
  and `add_secret`.
- Any other mechanism needs nothing from here: with three methods `discreet.audit` attacks it. As in
  `broken_mechanism`.

These programs are in `examples/gallery`. CONTRIBUTING.md says step by step what each part must do.

    >>> named_items("OwnLearner", 3), named_items("OwnLearner", ["tea", "milk"])
    ((0, 1, 2), ('tea', 'milk'))
"""

from discreet.checks import BoolArray, FloatArray, IntArray
from discreet.compiled import kernel
from discreet.kernel.releases import arrive
from discreet.learners.arguments import cost_interval, first_point, keeps_arguments, named_items
from discreet.learners.feedback import BanditFeedback, FunctionFeedback
from discreet.policies.base import learn, plan
from discreet.prefix_sums.base import CompiledPrefixSum
from discreet.prefix_sums.steps import add_secret, draw_noise, samples_needed

__all__ = [
    "BanditFeedback",
    "BoolArray",
    "CompiledPrefixSum",
    "FloatArray",
    "FunctionFeedback",
    "IntArray",
    "add_secret",
    "arrive",
    "cost_interval",
    "draw_noise",
    "first_point",
    "keeps_arguments",
    "kernel",
    "learn",
    "named_items",
    "plan",
    "samples_needed",
]
