"""What every set function offers: values, chains, a certified range, algebra, JSON."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

import discreet.set_functions as families  # complete by the time a method looks into it
from discreet import checks
from discreet.checks import BoolArray, FloatArray, IntArray
from discreet.errors import InvalidArgument, InvalidType, UnknownName

if TYPE_CHECKING:
    from discreet.set_functions.explicit import Table
    from discreet.set_functions.structure import ConcaveForm, CutNetwork, GroupForm

MOST_ITEMS_OF_A_TABLE = 24  # enumerating the subsets of more is refused: 2^24 values take 128 MB


class SetFunction(ABC):
    """A real function of subsets of {0, ..., n-1}."""

    n: int
    _families: ClassVar[dict[str, type[SetFunction]]] = {}
    #: The constructor's arguments, if f is linear in them: sums and multiples are then of the same family.
    _linear_in: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if not cls.__name__.startswith("_"):
            SetFunction._families[cls.__name__] = cls

    # Values

    def __call__(self, subset: Iterable[int] | BoolArray) -> float:
        """The value of one set, given as an iterable of indices or as a boolean mask."""
        return float(self._value(checks.subset_mask(self._name, "subset", subset, self.n)))

    def chain_values(self, order: Iterable[int]) -> FloatArray:
        """The n+1 values of the prefixes {}, {order[0]}, {order[0], order[1]}, ... in one pass."""
        values = self._chain(checks.permutation(self._name, "order", order, self.n))
        if values.shape != (self.n + 1,) or values.dtype != np.float64:
            raise InvalidType(f"The _chain of {self._name} must give {self.n + 1} floats, as an array.")
        return values

    def table(self) -> Table:
        """The same function with all 2^n values computed once."""
        checks.integer(self._name, "n", self.n, 0, MOST_ITEMS_OF_A_TABLE)
        return families.Table(self._all_values())

    @abstractmethod
    def range(self) -> tuple[float, float]:
        """Numbers (lo, hi) with lo <= f(S) <= hi for every S; certified, not always attained."""

    @property
    def integer_valued(self) -> bool:
        """Whether every value is known to be an integer."""
        return bool(self._linear_in) and integral(*(getattr(self, name) for name in self._linear_in))

    @property
    def known_submodular(self) -> bool:
        """Whether all functions of the family are submodular. `minimize` relies on it: override it if not."""
        return True

    @abstractmethod
    def _value(self, mask: BoolArray) -> float:
        """The value of a checked mask, which must not be changed."""

    @abstractmethod
    def _chain(self, order: IntArray) -> FloatArray:
        """The values along a checked order, as a new array."""

    def _all_values(self) -> FloatArray:
        """The values of all 2^n sets, indexed by code; families override it where all at once is faster."""
        bits = np.arange(self.n)
        return np.array([self._value((code >> bits) & 1 == 1) for code in range(2**self.n)])

    # Algebra

    def __add__(self, other: SetFunction) -> SetFunction:
        if not isinstance(other, SetFunction):
            return NotImplemented
        total = families.Sum([self, other])
        return total.terms[0] if len(total.terms) == 1 else total

    def __mul__(self, factor: float) -> SetFunction:
        return self._scaled(checks.positive_number(self._name, "factor", factor, quoted=False))

    __rmul__ = __mul__

    def __neg__(self) -> SetFunction:
        return families.Negated(self)

    def shift(self, amount: float) -> SetFunction:
        """S -> f(S) + amount."""
        return self + families.Modular(np.zeros(self.n), constant=amount)

    def restrict(self, subset: Iterable[int] | BoolArray) -> SetFunction:
        """f on subsets of `subset`, whose items are renumbered 0, 1, ... in increasing order."""
        return families.Restriction(self, subset)

    def contract(self, subset: Iterable[int] | BoolArray) -> SetFunction:
        """S -> f(S + subset) - f(subset) on the other items, renumbered in increasing order."""
        return families.Contraction(self, subset)

    def complement(self) -> SetFunction:
        """S -> f(V minus S), submodular when f is."""
        return families.Complement(self)

    def _scaled(self, factor: float) -> SetFunction:
        """factor * f; a family that is closed under scaling returns one of its members."""
        if not self._linear_in:
            return families.Scaled(self, factor)
        return type(self)(*(factor * getattr(self, name) for name in self._linear_in))

    @classmethod
    def _merged(cls, functions: Sequence[Self]) -> Self | None:
        """One member of the family that equals the sum, or None where the family is not closed."""
        if not cls._linear_in:
            return None
        return cls(*(np.sum([getattr(f, name) for f in functions], axis=0) for name in cls._linear_in))

    # JSON

    def to_dict(self) -> dict[str, Any]:
        """A description made of JSON types; `SetFunction.from_dict` restores it exactly."""
        return {"kind": type(self).__name__, **self._fields()}

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> Self:
        """The function that `to_dict` described."""
        if not isinstance(description, Mapping) or not isinstance(description.get("kind"), str):
            raise InvalidArgument("A set function is described by a mapping with a 'kind'.")
        fields = dict(description)
        kind = fields.pop("kind")
        family = SetFunction._families.get(kind)
        if family is None:
            sentence = f"No set function is called {kind!r}."
            raise checks.unknown_name(sentence, kind, sorted(SetFunction._families))
        if not issubclass(family, cls):
            raise InvalidArgument(f"{kind!r} does not describe a {cls.__name__}.")
        try:
            return family._from_fields(fields)
        except (InvalidType, UnknownName):
            raise
        except (TypeError, KeyError, AttributeError):  # without the cause, which may quote a private number
            raise InvalidArgument(f"The fields {sorted(fields)} do not fit a {kind}.") from None

    def _fields(self) -> dict[str, Any]:
        """The constructor's arguments as JSON types: by default the attributes of the same names."""
        return {name: _as_json(getattr(self, name)) for name in inspect.signature(type(self)).parameters}

    @classmethod
    def _from_fields(cls, fields: dict[str, Any]) -> Self:
        return cls(**fields)

    # Structure that minimisers and simulations can use

    def concave_form(self) -> ConcaveForm | None:
        """The weights a >= 0 and b if f(S) = g(a(S)) + b(S) with g concave; None if not known."""
        return None

    def cut_network(self) -> CutNetwork | None:
        """A cut problem whose minimum over auxiliary nodes is f; None if not known."""
        return None

    def group_form(self) -> GroupForm | None:
        """f as a function of the number of items, plus prices, plus weighted groups; None if not known."""
        return None

    @property
    def _name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        return f"{self._name}(n={self.n})"


def _as_json(value: Any) -> Any:
    if isinstance(value, SetFunction):
        return value.to_dict()
    if isinstance(value, np.ndarray):
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value


def frozen(array: FloatArray) -> FloatArray:
    """The array, made read-only: set functions never change once built."""
    array.setflags(write=False)
    return array


def vector(
    owner: str, name: str, values: object, size: int | None = None, default: float | None = None
) -> FloatArray:
    """A read-only copy of finite numbers, or `size` times the default where None is given."""
    if values is None and size is not None and default is not None:
        return frozen(np.full(size, default))
    return frozen(checks.finite_vector(owner, name, values, size))


def integral(*arrays: FloatArray | float) -> bool:
    """Whether all numbers are integers, and small enough that float sums of them stay exact."""
    return all(bool(np.all(a == np.rint(a))) and float(np.abs(a).sum()) < 2.0**53 for a in arrays)


def modular_values(weights: FloatArray, constant: float = 0.0) -> FloatArray:
    """The values of S -> constant + sum of weights over S on all sets, indexed by code."""
    values = np.array([constant])
    for weight in weights:
        values = np.concatenate((values, values + weight))
    return values


def modular_range(weights: FloatArray, constant: float = 0.0) -> tuple[float, float]:
    """The least and the greatest value of S -> constant + sum of weights over S."""
    return constant + float(weights[weights < 0].sum()), constant + float(weights[weights > 0].sum())
