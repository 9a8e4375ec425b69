"""Old keys of settings are found wherever their models are, and only there."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from bridge.runtime.renamed_keys import KeyRenaming, RenamedFrom


class Wheel(BaseModel):
    size: Annotated[int, RenamedFrom("big")] = 1
    free: dict[str, int] = {}


class Car(BaseModel):
    wheels: tuple[Wheel, ...] = ()
    spare: Wheel | None = None
    named: dict[str, Wheel] = Field(default={})
    colour: str = ""


def test_old_keys_are_renamed_at_every_depth() -> None:
    renaming = KeyRenaming()
    data = {
        "wheels": [{"big": 3}, {"size": 4}], "spare": {"big": 5}, "named": {"a": {"big": 6}},
    }  # fmt: skip

    renamed = renaming.apply(Car, data)

    assert renamed == {
        "wheels": [{"size": 3}, {"size": 4}], "spare": {"size": 5}, "named": {"a": {"size": 6}},
    }  # fmt: skip
    assert [(key.path, key.new_key) for key in renaming.renamed] == [
        ("wheels[0].big", "size"), ("spare.big", "size"), ("named.a.big", "size"),
    ]  # fmt: skip
    assert data["wheels"] == [{"big": 3}, {"size": 4}]


def test_the_same_name_elsewhere_is_no_old_key() -> None:
    renaming = KeyRenaming()
    data = {"big": 1, "named": {"big": {"free": {"big": 2}}}}

    assert renaming.apply(Car, data) == data
    assert renaming.renamed == []


def test_an_old_key_beside_its_new_key_is_a_problem() -> None:
    renaming = KeyRenaming()

    renaming.apply(Car, {"spare": {"big": 5, "size": 6}})

    assert renaming.problems == [
        "spare.big: this key is now called 'size', and both are given; remove 'big'"
    ]


def test_values_of_another_form_are_left_to_validation() -> None:
    data = {"wheels": 3, "spare": [], "named": [{"big": 1}], 7: "seven"}

    assert KeyRenaming().apply(Wheel, ["no mapping"]) == ["no mapping"]
    assert KeyRenaming().apply(Car, data)["spare"] == []  # type: ignore[index]
