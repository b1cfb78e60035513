"""Set functions made of others: sums, multiples, negations, restrictions, contractions, complements."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any, Self, TypeVar

import numpy as np

from discreet import checks
from discreet.checks import BoolArray, FloatArray, IntArray
from discreet.errors import InvalidType
from discreet.set_functions.base import SetFunction
from discreet.set_functions.structure import (
    ConcaveForm,
    CutNetwork,
    GroupForm,
    sum_of_forms,
    sum_of_group_forms,
    sum_of_networks,
)

Structure = TypeVar("Structure", ConcaveForm, CutNetwork)


class Sum(SetFunction):
    """S -> sum of the functions' values. Those of one family are merged where it is closed under sums."""

    def __init__(self, functions: Iterable[SetFunction]) -> None:
        families: dict[type[SetFunction], list[SetFunction]] = {}
        sizes = set()
        for function in functions:
            if not isinstance(function, SetFunction):
                raise InvalidType("The 'functions' of Sum must be set functions (wrap code in FromCallable).")
            sizes.add(function.n)
            for term in function.terms if isinstance(function, Sum) else (function,):
                families.setdefault(type(term), []).append(term)
        if len(sizes) != 1:
            wanted = "at least one, with the same number of items"
            raise checks.invalid_argument("Sum", "functions", wanted, sorted(sizes) or "none")
        (self.n,) = sizes
        terms: list[SetFunction] = []
        for family, members in families.items():
            merged = members[0] if len(members) == 1 else family._merged(members)
            terms.extend(members if merged is None else [merged])
        self.terms: tuple[SetFunction, ...] = tuple(terms)

    def range(self) -> tuple[float, float]:
        lows, highs = zip(*(term.range() for term in self.terms), strict=True)
        return sum(lows), sum(highs)

    @property
    def integer_valued(self) -> bool:
        return all(term.integer_valued for term in self.terms)

    @property
    def known_submodular(self) -> bool:
        return all(term.known_submodular for term in self.terms)

    def _value(self, mask: BoolArray) -> float:
        return sum(term._value(mask) for term in self.terms)

    def _chain(self, order: IntArray) -> FloatArray:
        values = self.terms[0]._chain(order)
        for term in self.terms[1:]:
            values += term._chain(order)
        return values

    def _all_values(self) -> FloatArray:
        return functools.reduce(np.add, (term._all_values() for term in self.terms))

    def _scaled(self, factor: float) -> Sum:
        return Sum(term._scaled(factor) for term in self.terms)

    def __neg__(self) -> Sum:
        return Sum(-term for term in self.terms)

    def _fields(self) -> dict[str, Any]:
        return {"functions": [term.to_dict() for term in self.terms]}

    @classmethod
    def _from_fields(cls, fields: dict[str, Any]) -> Self:
        return cls([SetFunction.from_dict(term) for term in fields["functions"]])

    def concave_form(self) -> ConcaveForm | None:
        return sum_of_forms([term.concave_form() for term in self.terms])

    def cut_network(self) -> CutNetwork | None:
        return sum_of_networks([term.cut_network() for term in self.terms])

    def group_form(self) -> GroupForm | None:
        return sum_of_group_forms([term.group_form() for term in self.terms])


class _Derived(SetFunction):
    """A function of one other function, by default on the same items."""

    def __init__(self, function: SetFunction) -> None:
        self.function = function
        self.n = function.n

    @classmethod
    def _from_fields(cls, fields: dict[str, Any]) -> Self:
        return cls(**fields | {"function": SetFunction.from_dict(fields["function"])})

    def range(self) -> tuple[float, float]:
        return self.function.range()

    @property
    def integer_valued(self) -> bool:
        return self.function.integer_valued

    @property
    def known_submodular(self) -> bool:
        return self.function.known_submodular

    def concave_form(self) -> ConcaveForm | None:
        form = self.function.concave_form()
        return None if form is None else self._derived(form)

    def cut_network(self) -> CutNetwork | None:
        network = self.function.cut_network()
        return None if network is None else self._derived(network)

    def _derived(self, structure: Structure) -> Structure | None:
        return None


class _Multiple(_Derived):
    """factor * f, with a factor of any sign."""

    factor: float

    def range(self) -> tuple[float, float]:
        lo, hi = sorted(self.factor * end for end in self.function.range())
        return lo, hi

    @property
    def integer_valued(self) -> bool:
        return self.factor.is_integer() and self.function.integer_valued

    def _value(self, mask: BoolArray) -> float:
        return self.factor * self.function._value(mask)

    def _chain(self, order: IntArray) -> FloatArray:
        return self.factor * self.function._chain(order)

    def _all_values(self) -> FloatArray:
        return self.factor * self.function._all_values()

    def group_form(self) -> GroupForm | None:
        form = self.function.group_form()
        return None if form is None else form.scaled(self.factor)


class Scaled(_Multiple):
    """S -> factor * f(S), factor > 0. Written `2.5 * f`."""

    def __init__(self, function: SetFunction, factor: float) -> None:
        super().__init__(function)
        self.factor = checks.positive_number("Scaled", "factor", factor, quoted=False)

    def _scaled(self, factor: float) -> SetFunction:
        return Scaled(self.function, self.factor * factor)

    def _derived(self, structure: Structure) -> Structure:
        return structure.scaled(self.factor)


class Negated(_Multiple):
    """S -> -f(S), for rewards: supermodular where f is submodular. Written `-f`."""

    factor = -1.0
    known_submodular = False

    def _scaled(self, factor: float) -> SetFunction:
        return Negated(self.function._scaled(factor))

    def __neg__(self) -> SetFunction:
        return self.function

    @classmethod
    def _merged(cls, functions: Sequence[Self]) -> Self:
        return cls(Sum(each.function for each in functions))


class _Minor(_Derived):
    """S -> f(S + inside) - offset, for sets of the items that are neither inside nor outside."""

    def __init__(self, function: SetFunction, inside: BoolArray, outside: BoolArray, offset: float) -> None:
        super().__init__(function)
        self._inside, self._outside, self._offset = inside, outside, offset
        self._free = np.flatnonzero(~(inside | outside))
        self.n = self._free.size

    def range(self) -> tuple[float, float]:
        lo, hi = self.function.range()
        return lo - self._offset, hi - self._offset

    def _value(self, mask: BoolArray) -> float:
        whole = self._inside.copy()
        whole[self._free] = mask
        return self.function._value(whole) - self._offset

    def _chain(self, order: IntArray) -> FloatArray:
        first, last = np.flatnonzero(self._inside), np.flatnonzero(self._outside)
        values = self.function._chain(np.concatenate((first, self._free[order], last)))
        return values[first.size : first.size + self.n + 1] - self._offset

    def _derived(self, structure: Structure) -> Structure:
        return structure.fixing(self._inside, self._outside, self._offset)


class Restriction(_Minor):
    """S -> f(S), for subsets of the kept items only. Written `f.restrict(kept)`."""

    def __init__(self, function: SetFunction, kept: Iterable[int] | BoolArray) -> None:
        mask = checks.subset_mask("Restriction", "kept", kept, function.n)
        self.kept = np.flatnonzero(mask)
        super().__init__(function, np.zeros_like(mask), ~mask, 0.0)


class Contraction(_Minor):
    """S -> f(S + chosen) - f(chosen), for subsets of the other items. Written `f.contract(chosen)`."""

    def __init__(self, function: SetFunction, chosen: Iterable[int] | BoolArray) -> None:
        mask = checks.subset_mask("Contraction", "chosen", chosen, function.n)
        self.chosen = np.flatnonzero(mask)
        super().__init__(function, mask, np.zeros_like(mask), function._value(mask))


class Complement(_Derived):
    """S -> f(V minus S). Written `f.complement()`."""

    def complement(self) -> SetFunction:
        return self.function

    def _value(self, mask: BoolArray) -> float:
        return self.function._value(~mask)

    def _chain(self, order: IntArray) -> FloatArray:
        # What is left outside a prefix of the order is a prefix of the reversed order.
        return self.function._chain(order[::-1].copy())[::-1].copy()

    def _derived(self, structure: Structure) -> Structure:
        return structure.complemented()
