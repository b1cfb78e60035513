"""What only those need who write parts of their own: set functions, streams, learners, private sums.

Everything here is public here alone; what everybody uses stays where everybody finds it. Modules that are
neither this one nor named in the reference may change without notice.

- A set function derives from `set_functions.SetFunction`; its methods take and return `BoolArray`, `IntArray`
  and `FloatArray`. Check it with `set_functions.is_submodular`. As in `own_set_function`.
- A stream derives from `environments.Stream`, and registers `environments.chain_costs` and `prefix_cost`,
  compiled by `kernel`. Check it with `environments.check_stream`. As in `own_stream`.
- A learner derives from `BanditFeedback` or `FunctionFeedback`. Its constructor is decorated with
  `keeps_arguments`, reads its arguments by `named_items`, `cost_interval` and `first_point`, and puts a core
  together by `new_core`, inside `subgradient_limits` or `one_point_limits`. As in `own_learner_part`.
- An update rule registers `enter` and `next_point`, compiled by `kernel`. As in `own_learner_part`.
- A mechanism for sums derives from `CompiledPrefixSum`, and registers `samples_needed`, `draw_noise` and
  `add_secret`.
- Any other mechanism needs nothing from here: with three methods `discreet.audit` attacks it. As in
  `broken_mechanism`.

These programs are in `examples/gallery`. CONTRIBUTING.md says step by step what each part must do.

Examples:
    >>> named_items("OwnLearner", 3), named_items("OwnLearner", ["tea", "milk"])
    ((0, 1, 2), ('tea', 'milk'))
    >>> limits, bound = subgradient_limits(-1.0, 1.0)  # what every gradient is forced into
    >>> bound.l1 * bound.step
    4.0
"""

from discreet.checks import BoolArray, FloatArray, IntArray
from discreet.compiled import kernel
from discreet.learners.arguments import cost_interval, first_point, keeps_arguments, named_items
from discreet.learners.core import new_core
from discreet.learners.feedback import BanditFeedback, FunctionFeedback
from discreet.learners.limits import one_point_limits, subgradient_limits
from discreet.learners.update_rules import enter, next_point
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
    "cost_interval",
    "draw_noise",
    "enter",
    "first_point",
    "keeps_arguments",
    "kernel",
    "named_items",
    "new_core",
    "next_point",
    "one_point_limits",
    "samples_needed",
    "subgradient_limits",
]
