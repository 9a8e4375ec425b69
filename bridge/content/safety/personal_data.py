"""E-mail addresses, phone numbers, payment cards, bank accounts and keys in texts. Pure.

Numbers count only with a correct check digit or in an international form, since texts are full of
other numbers: ids, times, versions, prices. Each expression is linear in the text (RE2).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Literal, get_args

from bridge.content.text.patterns import Pattern, matches_of, pattern_of

Kind = Literal["email", "card", "key", "phone", "iban"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_SOURCES: Mapping[Kind, str] = {
    "key": (
        r"(?s:-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----.*?-----END [A-Z ]{0,30}PRIVATE KEY-----)"
        r"|\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"
        r"|\b(?:sk|pk|rk|gh[opsu]|github_pat|glpat|npm|xox[a-z]|xapp|whsec|hf)[-_][-_A-Za-z0-9]{12,}"
        r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[-_A-Za-z0-9]{30,}"
        r"|\b[a-z][a-z0-9+.-]{1,15}://[^\s/:@]{1,100}:[^\s/@]{1,200}@"
    ),
    "email": r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+",
    "iban": r"\b[A-Z]{2}[0-9]{2}(?:[ -]?[A-Z0-9]){11,30}\b",
    "card": r"\b(?:\d[ -]?){12,18}\d\b",
    "phone": r"\+\d(?:[ ().-]{0,2}\d){7,14}\b",
}
_PATTERNS: Mapping[Kind, Pattern] = {kind: pattern_of(text) for kind, text in _SOURCES.items()}
_LONGEST_WHOLE = 16  # digits of a card without spaces; longer ones are ids far more often
_SEPARATORS = re.compile(r"[ -]")


def replace_personal_data(
    text: str, kinds: Collection[Kind], replacement: Callable[[Kind, str], str]
) -> str:
    """Return the text with each value of these kinds replaced by what `replacement` gives for its
    kind and itself. Keys come first, since they may contain what looks like another kind."""
    for kind, pattern in _PATTERNS.items():
        if kind not in kinds:
            continue
        for value in sorted(set(matches_of(pattern, text)), key=len, reverse=True):
            if _is_real(kind, value):
                text = text.replace(value, replacement(kind, value))
    return text


def _is_real(kind: Kind, value: str) -> bool:
    if kind == "card":
        return _is_card(value)
    return kind != "iban" or _is_iban(value)


def _is_card(text: str) -> bool:
    """Whether a network issues such numbers, and the check digit is right (ISO/IEC 7812, Luhn)."""
    digits = _SEPARATORS.sub("", text)
    if digits[0] not in "23456" or len(set(digits)) == 1:
        return False
    if digits == text and len(digits) > _LONGEST_WHOLE:
        return False
    numbers = [int(digit) for digit in reversed(digits)]
    doubled = [2 * number - 9 * (number > 4) for number in numbers[1::2]]
    return (sum(numbers[::2]) + sum(doubled)) % 10 == 0


def _is_iban(text: str) -> bool:
    """Whether the check digits are right (ISO 13616, modulo 97)."""
    plain = _SEPARATORS.sub("", text)
    if not 15 <= len(plain) <= 34:
        return False
    return int("".join(str(int(sign, 36)) for sign in plain[4:] + plain[:4])) % 97 == 1
