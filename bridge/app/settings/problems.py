"""What is wrong with values of the configuration file, in plain words, without secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from bridge.app.redaction import hide_secrets
from bridge.app.settings.nearest import closest, nearest
from bridge.model.secret_refs import SecretRef

_LISTS = ("tuple_type", "list_type", "set_type", "frozen_set_type")
_MAPPINGS = ("dict_type", "mapping_type", "model_type", "model_attributes_type")
_QUOTED = re.compile(r"'([^']*)'")


def value_problem(model: type[BaseModel], key: str, value: str) -> str:
    """Why the key of this model cannot have the value; empty if it can."""
    try:
        model.model_validate({key: value})
    except ValidationError as error:
        own = [text for text in problems_in(error, model) if text.startswith(f"{key}: ")]
        return own[0].removeprefix(f"{key}: ") if own else ""
    return ""


def _secret_key(model: type[BaseModel], loc: tuple[int | str, ...]) -> str | None:
    """The key at or above this place that holds a SecretRef: errors never show the value there.
    None if there is none."""
    annotation: Any = model
    for index, step in enumerate(loc):
        kinds = (annotation, *getattr(annotation, "__args__", ()))
        models = [k for k in kinds if isinstance(k, type) and issubclass(k, BaseModel)]
        field = models[0].model_fields.get(str(step)) if models else None
        if field is None:
            return None
        annotation = field.annotation
        if annotation is SecretRef or SecretRef in getattr(annotation, "__args__", ()):
            named = loc[index + 1 : index + 2] if get_origin(annotation) is dict else ()
            return str((*named, step)[0])
    return None


def secret_todo(key: str) -> str:
    variable = re.sub(r"[^A-Z0-9]+", "_", key.rpartition(".")[2].upper())
    return (
        f"this file never contains secrets; say where it is found: {key}: {{env: {variable}}} "
        "(or {file: PATH}, or {sealed: NAME} after `uacs-bridge secrets set NAME`)"
    )


def problems_in(error: ValidationError, model: type[BaseModel]) -> list[str]:
    """A line for each of pydantic's errors: the path of the key, and what is wrong."""
    texts: list[str] = []
    details = error.errors(include_url=False)
    for detail in details:
        where = _path(detail["loc"])
        if detail["type"] == "extra_forbidden":
            keys = _fields_at(model, detail["loc"][:-1])
            texts.append(f"{where}: unknown key{nearest(str(detail['loc'][-1]), keys)}")
        elif detail["type"] == "missing":
            texts.append(f"{where}: this key is needed")
        elif (key := _secret_key(model, detail["loc"])) is not None:
            texts.append(f"{where}: {secret_todo(key)}")
        elif detail["type"] == "too_short" and _has_deeper(details, detail["loc"]):
            continue  # pydantic counts only the valid items
        else:
            value = (
                ""
                if isinstance(detail["input"], Mapping)
                else f" (is {_shown_value(detail['input'])})"
            )
            text = hide_secrets(_in_plain_words(detail))
            texts.append(f"{where}: {text}{value}" if where else f"{text}")
    return texts


def _in_plain_words(detail: ErrorDetails) -> str:
    """What the place needs, in terms of YAML instead of Python."""
    value, kind = detail["input"], detail["type"]
    if kind in _LISTS:
        return "this is a list: put it in brackets, or each item on a line after a dash"
    if kind in _MAPPINGS:
        return "this is a mapping: write its keys as `key: value`, one on each line"
    if kind == "string_type" and value is None:
        return "there is no value; text that begins with # is a comment unless it is in quotes"
    if kind == "string_type" and not isinstance(value, (Mapping, list)):
        return "this is a text: put it in quotes"
    if kind == "too_short":
        return "it needs at least one"
    if kind == "literal_error" and isinstance(value, str):
        choices = _QUOTED.findall(str(detail.get("ctx", {}).get("expected", "")))
        return detail["msg"] + nearest(value, choices) if closest(value, choices) else detail["msg"]
    return detail["msg"].removeprefix("Value error, ")


def _shown_value(value: object) -> str:
    """An invalid value, shortened, without anything that looks like a secret."""
    text = hide_secrets(repr(value))
    return text if len(text) <= 80 else f"{text[:79]}…"


def _has_deeper(errors: Sequence[ErrorDetails], loc: tuple[int | str, ...]) -> bool:
    return any(len(e["loc"]) > len(loc) and e["loc"][: len(loc)] == loc for e in errors)


def _path(loc: tuple[int | str, ...]) -> str:
    text = ""
    for step in loc:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text


def _fields_at(model: type[BaseModel], loc: tuple[int | str, ...]) -> list[str]:
    """The keys of the model at this place."""
    annotation: Any = model
    for step in loc:
        if (
            isinstance(annotation, type)
            and issubclass(annotation, BaseModel)
            and step in annotation.model_fields
        ):
            annotation = annotation.model_fields[str(step)].annotation
        arguments = [a for a in getattr(annotation, "__args__", ()) if isinstance(a, type)]
        models = [a for a in arguments if issubclass(a, BaseModel)]
        annotation = models[0] if models else annotation
    return (
        list(annotation.model_fields)
        if isinstance(annotation, type) and issubclass(annotation, BaseModel)
        else []
    )
