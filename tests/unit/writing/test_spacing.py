"""Lost spaces show in running text; long words, names in code, addresses and keys are healthy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.longtext import SENTENCES
from monitor.writing.spacing import run_together

PROSE = " ".join(SENTENCES)


@pytest.mark.parametrize(
    "text",
    [
        PROSE,
        "Der Zug verließ den alten Bahnhof pünktlich, und das Boot wartete noch am Ufer.",
        "Le train a quitté la vieille gare à l'heure et le bateau attendait près du quai.",
        "De trein vertrok op tijd van het oude station en de boot lag nog aan de kade.",
        "Pociąg odjechał ze starej stacji na czas, a łódź czekała jeszcze przy nabrzeżu.",
    ],
    ids=lambda text: text[:8],
)
def test_lost_spaces_show(text: str) -> None:
    assert run_together(text) == 0
    assert run_together(text.replace(" ", "")) >= 40


@pytest.mark.parametrize(
    "text",
    [
        "Donaudampfschifffahrtsgesellschaft is a long word, and so is it all the same.",
        "See https://example.com/averyveryverylongpathofwordswithoutanyspace/andanotherone",
        "aGVsbG8gd29ybGQgdGhpcyBpcyBhIHRlc3Qgb2YgYmFzZTY0IGVuY29kaW5nLCBhbmQgc28gb24=",
        "MKVLAAGIVGLPNVGKSTLFNALTKAGVAAENYPFCTIEPNVGVVPVPDERLDKLAEIVKP",
        "acgtacgtacgtacgtacgtacgtacgtacgtacgtacgtacgtacgtacgt",
        "AbstractSingletonProxyFactoryBean, RequestMappingHandlerAdapter, ThreadPoolExecutor",
        "```\nthisisallinoneverylongwordwithinafenceofcodeandmeansnothing\n```",
        "Use `thisisallinoneverylongwordwithinquotesofcodeandmeansnothing` here.",
        "com.example.service.impl.customers_of_the_year_and_all_their_orders",
        "red\ngreen\nblue\nyellow\norange\npurple\nbrown\nblack\nwhite\ngrey",
        "数据在这里没有空格因为中文不写空格数据在这里没有空格因为中文不写空格",
        "bafot-gitiz-lusab-dunor, zusol-kapib-tomij-rahud",
        "",
    ],
    ids=lambda text: text[:12],
)
def test_long_words_and_names_are_healthy(text: str) -> None:
    assert run_together(text) == 0


def test_what_was_given_may_be_said_again() -> None:
    word = "thecapitaloffrancehasbeenparisforaverylongtime"
    assert run_together(word) == len(word)
    assert run_together(word, f"Part {word} into words.") == 0


@given(st.lists(st.sampled_from(PROSE.split()), min_size=3, max_size=60))
def test_with_its_spaces_no_text_is_run_together(words: list[str]) -> None:
    assert run_together(" ".join(words)) == 0


@given(st.text(max_size=300))
def test_no_more_letters_are_counted_than_there_are(text: str) -> None:
    assert 0 <= run_together(text) <= sum(map(str.isalpha, text))
