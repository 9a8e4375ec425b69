"""Personal data are found, and the many other numbers of chats are not taken for them."""

from __future__ import annotations

import random
import string

import pytest

from bridge.content.safety.personal_data import KINDS, Kind, replace_personal_data

CARDS = (
    "4242424242424242", "4000056655665556", "5555555555554444", "2223003122003222",
    "5105105105105100", "378282246310005", "371449635398431", "6011111111111117",
    "3056930009020004",
    "36227206271667", "6555900000604105", "3566002020360505",
)  # fmt: skip
IBANS = (
    "DE89370400440532013000", "GB29NWBK60161331926819", "FR1420041010050500013M02606",
    "CH9300762011623852957", "NL91ABNA0417164300", "ES9121000418450200051332",
    "AT611904300234573201", "BE68539007547034", "PL61109010140000071219812874",
    "SE4550000000058398257466", "NO9386011117947", "IT60X0542811101000000123456",
)  # fmt: skip
EMAILS = (
    "ann@example.org", "a.b+c@mail.example.co.uk", "ann_lee@x-y.io", "A1@EXAMPLE.COM",
    "first.last@sub.domain.example", "u%v@example.net", "x@1.example", "0@a.bc",
)  # fmt: skip
PHONES = (
    "+4915112345678", "+49 151 1234 5678", "+1 (555) 010-9999", "+44 20 7946 0958",
    "+33.1.99.00.12.34", "+81-3-5555-0123", "+5511955501234", "+91 99999 12345",
)  # fmt: skip


def _letters(count: int, seed: int) -> str:
    return "".join(random.Random(seed).choices(string.ascii_letters + string.digits, k=count))


KEYS = (
    f"sk-{_letters(40, 1)}", f"xoxb-{_letters(30, 2)}", f"ghp_{_letters(36, 3)}",
    f"glpat-{_letters(20, 4)}", f"sk_live_{_letters(24, 5)}", f"github_pat_{_letters(40, 6)}",
    f"AKIA{_letters(16, 7).upper()}", f"AIza{_letters(35, 8)}", f"xapp-{_letters(30, 9)}",
    f"eyJ{_letters(20, 10)}.eyJ{_letters(40, 11)}.{_letters(43, 12)}",
    "postgres://user:secret@db.example/x",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIB\nxyz\n-----END RSA PRIVATE KEY-----",
)  # fmt: skip
FRAMES = ("{}", "write to {}, please", "({})", "mine is {}.")


def _grouped(digits: str, separator: str) -> str:
    return separator.join(digits[at : at + 4] for at in range(0, len(digits), 4))


VALUES: list[tuple[Kind, str]] = [
    *(
        ("card", form)
        for card in CARDS
        for form in (card, _grouped(card, " "), _grouped(card, "-"))
    ),
    *(("iban", form) for iban in IBANS for form in (iban, _grouped(iban, " "))),
    *(("email", value) for value in EMAILS),
    *(("phone", value) for value in PHONES),
    *(("key", value) for value in KEYS),
]
POSITIVE = [(kind, frame, value) for kind, value in VALUES for frame in FRAMES]


def test_there_are_enough_cases() -> None:
    assert len(POSITIVE) >= 150
    assert len(NEGATIVE) >= 150


@pytest.mark.parametrize("kind", KINDS)
def test_every_value_is_replaced_and_nothing_beside_it(kind: Kind) -> None:
    missed = [
        frame.format(value)
        for own_kind, frame, value in POSITIVE
        if own_kind == kind
        and replace_personal_data(frame.format(value), [kind], lambda _, __: "[x]")
        not in (frame.format("[x]"), frame.format("[x]db.example/x"))
    ]

    assert missed == []


NEGATIVE = [
    *(f"1{number:09}.{number:06}" for number in range(700_000_000, 700_000_020)),  # times of Slack
    *(str(1_012_224_565_567_721_552 + 7919 * number) for number in range(20)),  # ids of Discord
    *(f"{number:012}" for number in range(100_000_000_000, 100_000_000_020)),  # order numbers
    *(f"v{number}.{number % 7}.{number % 11}-rc.{number}" for number in range(1, 15)),
    *(f"2026-{number:02}-{number:02} 17:{number:02}:00" for number in range(1, 13)),
    *(f"10.0.{number}.{number}:8080" for number in range(10)),
    *(f"1,{number:03},000.00 EUR" for number in range(10)),
    *(random.Random(seed).randbytes(20).hex() for seed in range(15)),  # commits
    *(f"#{number} fixes #{number + 1}" for number in range(1000, 1010)),
    *(f"{number} + {number} = {2 * number}" for number in range(10_000_000, 10_000_010)),
    "4242424242424243", "5555 5555 5555 4445", "0000000000000000", "4444444444444444",
    "DE00370400440532013000", "GB29 NWBK 6016 1331 9268 10", "AB12 CDEF", "ISO 9001",
    "@ann", "ann@localhost", "a @ b.c", "user@", "@example.org", "git@github", "5 @ 3.50",
    "+1", "+ 5 minutes", "2+2=4", "C++17", "+12345", "1+1", "+1 for this", "0151 12345678",
    "sk-short", "skill_development_plan", "pk", "hf_x", "eyJ.eyJ.x", "https://example.org:8080/a",
    "AKIA123", "ghp_", "BEGIN PRIVATE KEY", "xox-", "time 12:30-14:00",
    "ISBN 978-3-16-148410-0", "0x7fffffffffffffff", "1e100", "3.14159265358979",
]  # fmt: skip


def test_other_numbers_and_words_stay() -> None:
    changed = [
        text for text in NEGATIVE if replace_personal_data(text, KINDS, lambda k, _: k) != text
    ]

    assert changed == []


def test_only_the_kinds_that_are_asked_for_are_replaced() -> None:
    text = "ann@example.org +4915112345678"

    assert replace_personal_data(text, ["phone"], lambda kind, _: kind) == "ann@example.org phone"


def test_a_huge_text_takes_linear_time() -> None:
    text = "4 " * 100_000 + "a@" * 100_000 + "+1 " * 50_000 + "-----BEGIN PRIVATE KEY-----" * 2000

    assert replace_personal_data(text, KINDS, lambda kind, _: kind) is not None
