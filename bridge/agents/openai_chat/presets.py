"""Known servers of Chat Completions: their addresses, key variables, and the members they refuse.

Source: their documentation and issue trackers, 2026-11. The bridge also learns from a server's
refusals (`bridge.agents.model.dialects`); an entry here saves the first refused request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MaxTokensName = Literal["max_completion_tokens", "max_tokens"]
PresetName = Literal[
    "cerebras",
    "deepseek",
    "fireworks",
    "groq",
    "llamacpp",
    "lmstudio",
    "mistral",
    "ollama",
    "openrouter",
    "together",
    "vllm",
    "xai",
]


@dataclass(frozen=True)
class Preset:
    """`key_variable` is the environment variable that the vendor's own SDK reads; servers on one's
    own machine have none."""

    base_url: str
    key_variable: str = ""
    max_tokens_name: MaxTokensName = "max_tokens"
    without: frozenset[str] = frozenset()


PRESETS: dict[PresetName, Preset] = {
    "cerebras": Preset("https://api.cerebras.ai/v1", "CEREBRAS_API_KEY", "max_completion_tokens"),
    "deepseek": Preset("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    "fireworks": Preset("https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY"),
    # console.groq.com/docs/openai: a request with `messages[].name` gets 400.
    "groq": Preset(
        "https://api.groq.com/openai/v1",
        "GROQ_API_KEY",
        "max_completion_tokens",
        frozenset(("name",)),
    ),
    # Templates of local models read role and content, and usually no name.
    "llamacpp": Preset("http://localhost:8080/v1", without=frozenset(("name",))),
    "lmstudio": Preset("http://localhost:1234/v1", without=frozenset(("name",))),
    # 422 `extra_forbidden` for `stream_options`, `messages[].name`, `max_completion_tokens`; the
    # last chunk has the usage without it.
    "mistral": Preset(
        "https://api.mistral.ai/v1",
        "MISTRAL_API_KEY",
        without=frozenset(("stream_options", "name", "reasoning_content", "reasoning")),
    ),
    # docs.ollama.com/api/openai-compatibility: `max_tokens` alone is read, `name` is not.
    "ollama": Preset("http://localhost:11434/v1", without=frozenset(("name",))),
    "openrouter": Preset("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    # Its templates read only role and content, so names must stand in the text.
    "together": Preset(
        "https://api.together.xyz/v1", "TOGETHER_API_KEY", without=frozenset(("name",))
    ),
    "vllm": Preset("http://localhost:8000/v1", without=frozenset(("name",))),
    "xai": Preset("https://api.x.ai/v1", "XAI_API_KEY", "max_completion_tokens"),
}
