"""Settings under keys of the version before -> the same settings under the keys of this version.

A field declares its old key beside its type; every settings model may do so:

    stalled_after: Annotated[float, RenamedFrom("deaf_after")] = Field(default=300.0)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel


@dataclass(frozen=True)
class RenamedFrom:
    """The key that a settings field had in the version before; a part of the field's `Annotated`
    type."""

    key: str


@dataclass(frozen=True)
class RenamedKey:
    """An old key that a configuration still has: `path` leads to it, `new_key` takes its place."""

    path: str
    new_key: str

    def __str__(self) -> str:
        return f"{self.path} is now called {self.new_key}; the old key works until the next version"


@dataclass
class KeyRenaming:
    """Renames the old keys of one configuration.

    `renamed` has each old key that was found; `problems` has a line for each place where an old key
    and its new key are both given.
    """

    renamed: list[RenamedKey] = field(default_factory=list[RenamedKey])
    problems: list[str] = field(default_factory=list[str])

    def apply(self, model: type[BaseModel], data: object, path: str = "") -> object:
        """Return `data` with the new keys of `model` and of the models inside it.

        `data` is what YAML holds for the model; `path` leads to it. What does not have the form of
        the model is returned as it is: validation reports it.
        """
        plan = _plan(model)
        if not isinstance(data, Mapping) or plan.is_empty:
            return data
        if plan.concerns.isdisjoint(data):
            return data
        renamed: dict[object, object] = {}
        for key, value in data.items():
            new_key = plan.new_keys.get(key) if isinstance(key, str) else None
            place = f"{path}.{key}" if path else str(key)
            if new_key is not None and new_key in data:
                self.problems.append(
                    f"{place}: this key is now called {new_key!r}, and both are given; remove "
                    f"{key!r}"
                )
                continue
            if new_key is not None:
                self.renamed.append(RenamedKey(place, new_key))
            final_key = key if new_key is None else new_key
            nested = plan.nested.get(final_key) if isinstance(final_key, str) else None
            renamed[final_key] = self._apply_inside(nested, value, place) if nested else value
        return renamed

    def _apply_inside(self, inside: _Inside, data: object, path: str) -> object:
        """As `apply`, for a field that holds models: one, or a mapping or a sequence of them."""
        for model in inside.models:
            if inside.by_name and isinstance(data, Mapping):
                return {
                    key: self.apply(model, value, f"{path}.{key}") for key, value in data.items()
                }
            if isinstance(data, list):
                return [
                    self.apply(model, value, f"{path}[{index}]") for index, value in enumerate(data)
                ]
            data = self.apply(model, data, path)
        return data


@dataclass(frozen=True)
class _Inside:
    """The models that a field holds; `by_name`: as the values of a mapping."""

    models: tuple[type[BaseModel], ...]
    by_name: bool


@dataclass(frozen=True)
class _Plan:
    """What is to be renamed in one model: its own keys, and the fields whose types hold models with
    renamed keys."""

    new_keys: Mapping[str, str]
    nested: Mapping[str, _Inside]

    @property
    def is_empty(self) -> bool:
        return not self.new_keys and not self.nested

    @cached_property
    def concerns(self) -> frozenset[str]:
        """The keys of which at least one is there where anything is to be done."""
        return frozenset((*self.new_keys, *self.nested))


@cache
def _plan(model: type[BaseModel]) -> _Plan:
    new_keys = {
        declared.key: name
        for name, info in model.model_fields.items()
        for declared in info.metadata
        if isinstance(declared, RenamedFrom)
    }
    nested = {
        name: _Inside(tuple(_models_in(info.annotation)), get_origin(info.annotation) is dict)
        for name, info in model.model_fields.items()
        if any(not _plan(inner).is_empty for inner in _models_in(info.annotation))
    }
    return _Plan(new_keys, nested)


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    """The settings models that a type names, at any depth: `dict[str, RoomSettings]` holds one."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    arguments = get_args(annotation)
    if get_origin(annotation) is Annotated:
        arguments = arguments[:1]
    return [model for argument in arguments for model in _models_in(argument)]
