"""The smallest model API: an example for docs/extending/agent-api.md, held by `test_new_api`.

Request: `{"model", "lines": [{"from", "text"}]}`. Stream: `{"text"}` events, then `{"end": true}`.
"""
