"""Ranks agents for a task by the words of their manifests (BM25). Pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from bridge.openfloor.envelope import Manifest

_K1, _B = 1.2, 0.75  # the usual saturation and weight of the length
_HALF = 2.0  # the BM25 score that counts as 0.5
_KEYPHRASE = 3  # times that a word of a keyphrase counts
# Words that say nothing of a task.
_COMMON = frozenset((
    "a", "about", "an", "and", "any", "are", "at", "be", "by", "can", "could", "do", "does",
    "for", "from", "have", "how", "i", "if", "in", "is", "it", "its", "me", "my", "need", "of",
    "on", "or", "our", "please", "she", "some", "that", "the", "their", "them", "there", "they",
    "this", "to", "us", "want", "was", "we", "what", "when", "where", "which", "who", "will",
    "with", "would", "you", "your",
))  # fmt: skip
_WORD = re.compile(r"[^\W_]+")
_IDEOGRAPHS = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")


def ranked(
    manifests: Sequence[Manifest], task: str, limit: int, language: str = ""
) -> list[Manifest]:
    """Return the manifests that share words with the task, the best first, each with a `score`
    from 0 to 1. A score that an agent's directory gave is replaced. With a `language` (BCP 47),
    agents that name languages and not this one are left out."""
    manifests = speaking(manifests, language)
    documents = [_words_of(manifest) for manifest in manifests]
    wanted = set(_words(task))
    in_how_many = Counter(word for document in documents for word in set(document) & wanted)
    average = sum(document.total() for document in documents) / max(len(documents), 1)
    scored = [
        (_score(document, wanted, in_how_many, len(documents), average), number)
        for number, document in enumerate(documents)
    ]
    best = sorted((-score, number) for score, number in scored if score > 0)
    return [
        replace(manifests[number], score=round(-score / (-score + _HALF), 3))
        for score, number in best[:limit]
    ]


def speaking(manifests: Sequence[Manifest], language: str) -> Sequence[Manifest]:
    """Return the manifests without those of agents that name languages and not this one (BCP 47);
    all of them for ""."""
    return [one for one in manifests if not language or _speaks(one, language)]


def _speaks(manifest: Manifest, language: str) -> bool:
    """Whether the agent speaks the language, in whatever region, or does not say what it speaks."""
    spoken = [tag for capability in manifest.capabilities for tag in capability.languages]
    wanted = language.partition("-")[0].casefold()
    return not spoken or wanted in {tag.partition("-")[0].casefold() for tag in spoken}


def _score(
    document: Counter[str],
    wanted: Iterable[str],
    in_how_many: Counter[str],
    documents: int,
    average: float,
) -> float:
    length = _K1 * (1 - _B + _B * document.total() / max(average, 1))
    score = 0.0
    for word in wanted:
        if count := document[word]:
            rarity = math.log(1 + (documents - in_how_many[word] + 0.5) / (in_how_many[word] + 0.5))
            score += rarity * count * (_K1 + 1) / (count + length)
    return score


def _words_of(manifest: Manifest) -> Counter[str]:
    who = manifest.identification
    words: Counter[str] = Counter()
    for text in (who.conversational_name, who.synopsis, who.role or "", who.department or ""):
        words.update(_words(text))
    for capability in manifest.capabilities:
        for text in capability.descriptions:
            words.update(_words(text))
        for text in capability.keyphrases:
            words.update(_words(text) * _KEYPHRASE)
    return words


def _words(text: str) -> list[str]:
    """The words in lower case, without a plural's `s`; of scripts without spaces, pairs of
    characters."""
    folded = text.casefold()
    pairs = [run[at : at + 2] for run in _IDEOGRAPHS.findall(folded) for at in range(len(run) - 1)]
    words = [one for one in _WORD.findall(_IDEOGRAPHS.sub(" ", folded)) if one not in _COMMON]
    singular = (one[:-1] if len(one) > 3 and one.endswith("s") else one for one in words)
    return [*singular, *pairs]
