"""Shapes of secrets come from the installed connectors; a connector that fails loses no log
line."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence

import pytest

from bridge.app import redaction
from bridge.app.redaction import HIDDEN, hide_secrets
from bridge.ports.secret_shapes import SecretShape


class Connector:
    """A connector type with these shapes."""

    def __init__(self, *shapes: SecretShape) -> None:
        self._shapes = shapes

    def secret_shapes(self) -> Sequence[SecretShape]:
        return self._shapes


@pytest.fixture
def connectors(monkeypatch: pytest.MonkeyPatch) -> Generator[Callable[..., None]]:
    shapes = redaction._shapes  # pyright: ignore[reportPrivateUsage]

    def use(**kinds: object) -> None:
        monkeypatch.setattr(redaction, "names_of", lambda _group: list(kinds))
        monkeypatch.setattr(redaction, "connector_type", kinds.__getitem__)
        shapes.cache_clear()

    yield use
    shapes.cache_clear()


def test_secrets_of_a_platform_are_hidden_by_the_shapes_of_its_connector(
    connectors: Callable[..., None],
) -> None:
    connectors(
        other=Connector(
            SecretShape(r"pass [a-z]{6}", signs=("pass ",)),
            SecretShape(r"\b\d{3}-\d{3}\b", sign_pattern=r"\d-\d"),
        )
    )

    assert hide_secrets("pass abcdef") == HIDDEN
    assert hide_secrets("it is 123-456.") == f"it is {HIDDEN}."
    assert hide_secrets("xoxb-123456789012-abcdef") == "xoxb-123456789012-abcdef"


def test_a_connector_whose_shapes_fail_does_not_affect_the_others(
    connectors: Callable[..., None],
) -> None:
    class Broken:
        def secret_shapes(self) -> Sequence[SecretShape]:
            raise RuntimeError("not today")

    connectors(broken=Broken(), plain=object(), other=Connector(SecretShape("s3cret", ("s3",))))

    assert hide_secrets("a s3cret, ?token=abc") == f"a {HIDDEN}, ?token={HIDDEN}"


def test_the_password_in_an_address_is_hidden() -> None:
    text = "is 'postgresql://bridge:geheim@db.example.org/bridge', see https://host:8080/a@b"

    assert hide_secrets(text) == (
        f"is 'postgresql://{HIDDEN}@db.example.org/bridge', see https://host:8080/a@b"
    )
