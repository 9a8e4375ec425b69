"""The laws of translation over real messages, and over our own where there is no corpus.

`python -m tests.corpus` prints every failure, grouped by its cause.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from multiprocessing import get_context

import pytest

from tests.corpus import known
from tests.corpus.bars import below
from tests.corpus.examples import EXAMPLES
from tests.corpus.fidelity import PAGE, page
from tests.corpus.laws import PLATFORMS, TARGETS, Fault, Verdict, home_faults, judge, stable_faults
from tests.corpus.payloads import Case, cases, corpus
from tests.corpus.tally import sums

WITH_CORPUS = pytest.mark.skipif(corpus() is None, reason="UACS_CORPUS names no folder of payloads")
pytestmark = pytest.mark.timeout(600)  # the whole corpus is judged, on two cores
SOURCES = [pytest.param("examples"), pytest.param("corpus", marks=WITH_CORPUS)]


@cache
def verdicts_of(source: str) -> tuple[Sequence[Verdict], Sequence[Fault]]:
    """All ways of all messages, judged once for all tests; on two cores."""
    jobs = list(cases()) if source == "corpus" else _examples()
    if source == "examples":
        results = [_verdicts_of(job) for job in jobs]
    else:
        with get_context("spawn").Pool(2) as pool:
            results = pool.map(_verdicts_of, jobs, chunksize=16)
    verdicts = [verdict for some, _ in results for verdict in some]
    faults = [fault for _, some in results for fault in some]
    return verdicts, [*faults, *(fault for verdict in verdicts for fault in verdict.faults)]


def _examples() -> list[Case]:
    return [Case(p, name, payload) for p in PLATFORMS for name, payload in EXAMPLES[p].items()]


def _verdicts_of(case: Case) -> tuple[list[Verdict], list[Fault]]:
    faults = [
        *home_faults(case),
        *(stable_fault for to in TARGETS for stable_fault in stable_faults(case, to)),
    ]
    return [judge(case, target) for target in TARGETS], faults


def _new(faults: Sequence[Fault], law: str) -> list[str]:
    """Faults of causes that are not known, or of known ones that have become more."""
    lawful = [fault for fault in faults if fault.law.startswith(law)]
    counts = Counter((fault.law, fault.cause) for fault in lawful)
    return [
        f"{fault.cause}: {fault.case}: {fault.what}"
        for fault in lawful
        if counts[fault.law, fault.cause] > known.FAULTS.get((fault.law, fault.cause), 0)
    ]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(
    "law",
    [
        pytest.param("1 home is exact", id="a_message_sent_home_is_the_same_json"),
        pytest.param("2 total", id="every_message_gives_a_result_or_one_codec_error"),
        pytest.param("3 words vanish", id="every_visible_word_is_in_the_output_or_a_loss"),
        pytest.param("3 hidden words vanish", id="every_hidden_word_is_in_the_output_or_a_loss"),
        pytest.param("3 actions vanish", id="every_action_is_in_the_output_or_a_loss"),
        pytest.param("3 said twice", id="no_text_appears_more_often_than_in_the_source"),
        pytest.param("4 deliverable", id="the_platform_accepts_every_output"),
        pytest.param("5 safe", id="no_output_has_new_mentions_or_unsafe_addresses"),
        pytest.param("6 stable", id="two_translations_give_the_same_bytes"),
        pytest.param("6 there and back", id="a_translation_back_keeps_everything_that_was_shown"),
    ],
)
def test_law(law: str, source: str) -> None:
    _, faults = verdicts_of(source)

    assert _new(faults, law) == []


@WITH_CORPUS
def test_every_quality_bar_is_met() -> None:
    verdicts, _ = verdicts_of("corpus")

    failures = [
        what for way, total in sums(verdicts).items() for what in below(way, total, known.BARS)
    ]
    assert failures == []


@WITH_CORPUS
def test_the_fidelity_page_is_up_to_date() -> None:
    """`python -m tests.corpus fidelity` writes it anew."""
    verdicts, _ = verdicts_of("corpus")

    written = page([verdict for verdict in verdicts if verdict.target != "card"])
    assert PAGE.read_text("utf-8").splitlines() == written.splitlines()


@WITH_CORPUS
def test_no_real_message_is_refused() -> None:
    verdicts, _ = verdicts_of("corpus")

    assert [
        f"{verdict.case.name}: {verdict.refused}" for verdict in verdicts if verdict.refused
    ] == []
