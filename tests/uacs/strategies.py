"""UACS documents for property tests, as parsed JSON: valid ones, and ones with one value wrong."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.uacs.seed_schema import PART_TYPES

JsonDict = dict[str, Any]

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
numbers = st.integers(-(10**25), 10**25) | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=8,
)
json_objects = st.dictionaries(text, json_values, max_size=3)

_two = st.integers(0, 59).map("{:02}".format)
timestamps = st.builds(
    lambda day, sep, hour, minute, second, fraction, offset: (
        f"{day}{sep}{hour}:{minute}:{second}{fraction}{offset}"
    ),
    st.dates().map(str) | st.sampled_from(["2024-02-29", "2000-02-29", "0001-01-01", "9999-12-31"]),
    st.sampled_from("Tt"),
    st.integers(0, 23).map("{:02}".format),
    _two,
    _two,
    st.just("") | st.integers(0, 10**9).map(".{}".format),
    st.sampled_from(["Z", "z", "+00:00", "-00:00", "+05:45", "-23:59"]),
) | st.sampled_from(
    ["1998-12-31T23:59:60Z", "1998-12-31T15:59:60.123-08:00", "1999-01-01T05:44:60+05:45"]
)
uuids = st.uuids().map(str) | st.uuids().map(lambda text: str(text).upper())
uris = st.sampled_from(
    [
        "https://example.com/a.png",
        "http://user:pw@example.com:8080/a/b;c=1/?q=%20#frag",
        "urn:isbn:0451450523",
        "mailto:a@example.com",
        "data:text/plain,hi",
        "file:///tmp/x",
        "a:",
        "a:/",
        "a://",
        "http://[::1]/",
        "http://[2001:db8::7:192.0.2.1]:1/",
        "http://[v1.a:b]/",
        "x+y-z.1:a?b?c#d/e?f",
    ]
)


def _obj(required: JsonDict, optional: JsonDict | None = None) -> st.SearchStrategy[JsonDict]:
    known = st.fixed_dictionaries(required, optional=optional or {})
    names = {*required, *(optional or {})}
    extra = st.dictionaries(text.filter(lambda key: key not in names), json_values, max_size=2)
    return st.builds(lambda fields, more: {**fields, **more}, known, extra | st.just({}))


sources = st.one_of(
    *(
        st.builds(
            lambda value, extra, name=name: {name: value, **extra},
            uris if name == "url" else text,
            st.just({}) | st.just({"size": 1.0}),
        )
        for name in ("base64", "url", "file_id")
    )
)


def _media(kind: str, media_types: st.SearchStrategy[str]) -> st.SearchStrategy[JsonDict]:
    return _obj({"type": st.just(kind), "source": sources, "media_type": media_types})


known_parts = {
    "text": _obj(
        {"type": st.just("text"), "text": text},
        {"format": st.sampled_from(["markdown", "plain"])},
    ),
    **{kind: _media(kind, text.map(f"{kind}/{{}}".format)) for kind in ("image", "video", "audio")},
    "file": _media("file", text),
    "tool_call": _obj(
        {"type": st.just("tool_call"), "id": text, "name": text, "arguments": json_objects}
    ),
    "tool_result": _obj(
        {"type": st.just("tool_result"), "tool_call_id": text, "content": json_values},
        {"is_error": st.booleans()},
    ),
    "structured_data": _obj(
        {
            "type": st.just("structured_data"),
            "schema_id": text,
            "data": json_objects | st.lists(json_values, max_size=3),
        }
    ),
    "requested_response_format": _obj(
        {"type": st.just("requested_response_format"), "schema": json_objects}
    ),
}
unknown_parts = _obj({"type": text.filter(lambda kind: kind not in PART_TYPES)})
parts = st.one_of(*known_parts.values(), unknown_parts)
actors = _obj(
    {"id": text, "role": st.sampled_from(["human", "assistant", "system", "tool"])},
    {"name": text},
)
messages = _obj(
    {
        "message_id": text,
        "timestamp": timestamps,
        "actor": actors,
        "content": st.lists(parts, min_size=1, max_size=4),
    },
    {"metadata": json_objects},
)
conversations = _obj(
    {
        "conversation_id": uuids,
        "created_at": timestamps,
        "updated_at": timestamps,
        "messages": st.lists(messages, max_size=2),
    },
    {"metadata": json_objects},
)

_wrong_strings = st.sampled_from(
    [
        "",
        "text",
        "image/",
        "\nimage/png",
        "Image/png",
        "markdown",
        "http://a b/",
        "//example.com/a",
        "http://exämple.com/",
        "http://[::01.2.3.4]/",
        "http://[1::2::3]/",
        "http://a/%2",
        "http://a/\n",
        "http://a/#b#c",
        "1a:b",
        "2026-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "0000-01-01T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:00:00",
        "2026-01-01 00:00:00Z",
        "2026-01-01T00:00:60Z",
        "2026-01-01T23:59:60+01:00",
        "2026-01-01T23:59:61Z",
        "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00:00+24:00",
        "2026-01-01T00:00:00+0100",
        "2026-01-01T00:00:00Z\n",
        "٢٠٢٦-01-01T00:00:00Z",
        "2026-01-01T00:00:00.١Z",
        "0b0f5c9e8f5e5c6e9d0e2f6f3f1f7a11",
        "{0b0f5c9e-8f5e-5c6e-9d0e-2f6f3f1f7a11}",
        "urn:uuid:0b0f5c9e-8f5e-5c6e-9d0e-2f6f3f1f7a11",
        "0b0f5c9e-8f5e-5c6e-9d0e-2f6f3f1f7a1_",
        "0b0f5c9e-8f5e-5c6e-9d0e-2f6f3f1f7a11\n",
        "0b0f5c9e-8f5e-5c6e-9d0e-2f6f3f1f7a1١",
    ]
)
wrong_values = st.one_of(
    _wrong_strings,
    json_values,
    uuids,
    timestamps,
    uris,
    sources,
    parts,
    st.sampled_from([0, 1, 1.0]),
)


@st.composite
def spoiled(draw: st.DrawFn, documents: st.SearchStrategy[JsonDict]) -> Any:
    """A document with one to three places changed: replaced, removed, added or doubled."""
    document: Any = draw(documents)
    for _ in range(draw(st.integers(1, 3))):
        _spoil(draw, document)
    return document


def _spoil(draw: st.DrawFn, node: Any) -> None:
    keys: list[Any] = list(node) if isinstance(node, dict) else list(range(len(node)))
    if not keys:
        return
    key = draw(st.sampled_from(keys))
    if isinstance(node[key], dict | list) and node[key] and draw(st.integers(0, 4)):
        _spoil(draw, node[key])
        return
    match draw(st.sampled_from(["replace", "replace", "replace", "remove", "rename", "add"])):
        case "replace":
            node[key] = draw(wrong_values)
        case "remove":
            del node[key]
        case "rename" if isinstance(node, dict):
            node[draw(_names)] = node.pop(key)
        case _ if isinstance(node, dict):
            node[draw(_names)] = draw(wrong_values)
        case _:
            node.append(draw(wrong_values))


_NAMES = """
    type text url base64 file_id name metadata schema schema_ format is_error content
    model_config __class__ media_type data id
"""
_names = st.sampled_from(_NAMES.split())
