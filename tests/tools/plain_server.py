"""A server of tools in plain JSON-RPC over stdio, which answers as some servers do. Its argument:

a number: the code with which it refuses to tell of changes; `ends`: it ends the telling at once;
`silent`: it does not answer that at all; `none`: it knows nothing of tools; `odd`: its tool
answers what its own schema forbids.
"""

from __future__ import annotations

import json
import sys
from typing import Any

MODERN = "2026-07-28"
ADD = {"name": "add", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def answer(method: str, mode: str) -> dict[str, Any] | None:
    """The result, or the error; None: nothing is said."""
    result_fields = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    odd = {"outputSchema": NUMBER} if mode == "odd" else {}
    match method:
        case "server/discover":
            can = {"tools": {"listChanged": True}}
            own = {"name": "plain", "version": "1"}
            return {"result": {"supportedVersions": [MODERN], "capabilities": can,
                               "serverInfo": own, **result_fields}}  # fmt: skip
        case "tools/list" if mode != "none":
            return {"result": {"tools": [{**ADD, **odd}], **result_fields}}
        case "tools/call":
            content = [{"type": "text", "text": "added"}]
            return {"result": {"content": content, "resultType": "complete"}}
        case "subscriptions/listen" if mode in ("ends", "none", "odd"):
            return {"result": {"resultType": "complete"}}
        case "subscriptions/listen" if mode == "silent":
            return None
        case "subscriptions/listen":
            return {"error": {"code": int(mode), "message": "not here"}}
        case _:
            return {"error": {"code": -32601, "message": "Method not found"}}


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        reply = answer(str(request.get("method")), sys.argv[1]) if "id" in request else None
        if reply is not None:
            print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **reply}), flush=True)


if __name__ == "__main__":
    main()
