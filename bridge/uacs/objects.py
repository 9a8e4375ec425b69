"""The base of all UACS objects: frozen, with extra fields, and without the optional fields that are
absent.

The readers of `codec.py` build objects from JSON, code builds them from keyword arguments; the same
rules check both. `codec.write` writes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from operator import is_
from typing import TYPE_CHECKING, Any, ClassVar, Self, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ValidationError,
)
from pydantic.config import JsonDict
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from bridge.uacs.free_json import JsonAny
from bridge.uacs.invalid import to_invalid_uacs
from bridge.uacs.values import Text


@dataclass(frozen=True)
class Optional:
    """Marks `T | None` as a field that JSON may omit but not set to null; None means absent."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        (inner,) = (member for member in get_args(source) if member is not type(None))
        present = handler.generate_schema(inner)
        return core_schema.json_or_python_schema(present, core_schema.nullable_schema(present))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return handler(schema)


def absent(*, meaning: str | bool | None = None) -> Any:
    """Returns the default of an `Optional` field: None, which is never written.

    Args:
        meaning: The value that an absent field stands for; the JSON Schema names it as the default.
    """
    extra: JsonDict | None = None if meaning is None else {"default": meaning}
    return Field(default=None, exclude_if=partial(is_, None), json_schema_extra=extra)


class UacsObject(BaseModel):
    """A frozen JSON object that keeps unknown fields.

    Raises:
        InvalidUacs: An argument of the constructor breaks a rule of the schema.
    """

    model_config = ConfigDict(frozen=True, extra="allow", serialize_by_alias=True)

    if not TYPE_CHECKING:  # pydantic's way to type extra fields; a checker takes it for a field
        __pydantic_extra__: dict[Text, JsonAny]

    optional_fields: ClassVar[tuple[str, ...]] = ()
    """Names of the fields that are left out when they are None."""

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        fields = cls.model_fields.items()
        cls.optional_fields = tuple(name for name, info in fields if info.exclude_if is not None)

    def __init__(self, **data: Any) -> None:
        try:
            super().__init__(**data)
        except ValidationError as error:
            raise to_invalid_uacs(error) from None

    # Marks a constructor that only validates, as BaseModel's own: else pydantic would call it
    # for every object it reads from JSON, which doubles the time.
    __init__.__pydantic_base_init__ = True  # pyright: ignore[reportFunctionMemberAccess]

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Returns a copy; a copy with changes is validated like any new object.

        Args:
            update: New values by field name; None removes a field.
            deep: Whether values are copied, too; it has no effect together with `update`.

        Raises:
            InvalidUacs: A value in `update` breaks a rule of the schema.
        """
        if update is None:
            return super().model_copy(deep=deep)
        fields = {
            info.alias or name: getattr(self, name)
            for name, info in type(self).model_fields.items()
        }
        return type(self)(**{**fields, **(self.model_extra or {}), **update})
