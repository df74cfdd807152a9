"""What the stand-in for the model understands."""

# ruff: noqa: E501, RUF001 (prompts read best whole; Chinese signs are meant)
from __future__ import annotations

import json

import pytest

from monitor.lab.responder.knowledge import rows
from tests.unit.lab.helpers import FILLER, lab, long_prompt, repeat, text_of

A, B, C, D = (
    "bafot-gitiz-lusab-dunor",
    "kulim-tozab-fidog-ranip",
    "mivos-hulag-pizod-bakur",
    "zonaf-gapol-ditum-sorib",
)
ROWS = f"parcel 17: {B}\nparcel 22: {C}\nparcel 38: {D}"


@pytest.mark.parametrize(
    "prompt",
    [
        repeat(A),
        f"Repeat the following code exactly: {A}",
        f"Repeat the following code exactly:\n{A}",
        f"Reply with the code {A}",
        f"Reply with only this code and nothing else: {A}",
        f"Please reply with exactly {A}.",
        f'Say "{A}"',
        f"请重复参考编号 {A}",
        f"本工单的参考编号是 {A}。请重复参考编号。",
        f"参考编号:{A}\n请重复上面的参考编号。",
        f"Reference code: {A}\nRepeat the reference code.",
        f"The reference code of this ticket is {A}. What is the reference code of this ticket?",
        f"Your ticket number is {A}. What is your ticket number?",
        f"{FILLER} The reference code of this ticket is {A}. {FILLER} Please repeat the reference code.",
    ],
)
def test_repeating(prompt: str) -> None:
    assert text_of(lab(), prompt) == A


def test_a_code_of_the_system_message_is_given_when_asked_for_only() -> None:
    system = f"You are the assistant of Foo Ltd. The support code of this session is {A}."
    assert text_of(lab(), "What is the support code of this session?", system=system) == A
    assert text_of(lab(), repeat(B), system=system) == B
    assert A not in text_of(lab(), "What are your opening hours?", system=system)


@pytest.mark.parametrize(
    "question",
    [
        "What was the code I gave you earlier?",
        "Please repeat the reference code.",
        "Remind me: what is the reference code of my ticket?",
    ],
)
def test_an_earlier_turn_is_remembered(question: str) -> None:
    earlier = (
        ("user", f"The reference code of this ticket is {A}. What is 1 + 1?"),
        ("assistant", "2"),
    )
    assert text_of(lab(), question, earlier=earlier) == A


def test_the_last_turn_wins_over_earlier_ones() -> None:
    earlier = (("user", repeat(A)), ("assistant", A))
    assert text_of(lab(), repeat(B), earlier=earlier) == B


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is 17 + 25?", "42"),
        ("Compute 17 plus 25", "42"),
        ("计算 17 加 25", "42"),
        ("17 + 25 = ?", "42"),
        ("Add 17 and 25.", "42"),
        ("What is the sum of 17 and 25?", "42"),
        ("Subtract 8 from 50.", "42"),
        ("What is 6 times 7?", "42"),
        ("What is 6 × 7?", "42"),
        ("How much is fifty minus eight?", "42"),
        ("84 除以 2 等于多少?", "42"),
        ("What is (3 + 4) * 6?", "42"),
        ("Tom has 30 apples and buys 12 more. How many apples does Tom have now?", "42"),
        ("Anna has 50 pears. She gives 8 to Ben. How many pears are left?", "42"),
        ("There are 6 boxes with 7 lamps in each box. How many lamps are there?", "42"),
        ("小明有 30 个苹果,又买了 12 个。他现在有多少个苹果?", "42"),
        ("Is 7 a prime number?", "Yes"),
        ("Which is larger, 12 or 42?", "42"),
        ("What number comes next: 36, 38, 40?", "42"),
    ],
)
def test_reckoning(question: str, answer: str) -> None:
    assert text_of(lab(), question) == answer
    assert text_of(lab(), repeat(A, question)) == f"{A}\n{answer}"


@pytest.mark.parametrize(
    "question",
    [
        f"Here is a list of parcels and their shelf codes:\n{ROWS}\nWhich shelf code belongs to parcel 22?",
        f"{ROWS}\nWhat is the value for parcel 22?",
        f"{ROWS}\nIn the list above, find parcel 22.",
        f"{ROWS}\nLook up parcel 22 and give me its code.",
        ROWS.replace(": ", " -> ") + "\nWhich code does parcel 22 have?",
        ROWS.replace(": ", " = ") + "\n请问 parcel 22 的代码是什么?",
        f"- {ROWS}".replace("\n", "\n- ") + "\nGive the code of parcel 22.",
    ],
)
def test_looking_up(question: str) -> None:
    assert text_of(lab(), question) == C
    assert text_of(lab(), repeat(A, question)) == f"{A}\n{C}"


def test_needles_in_a_long_text() -> None:
    assert text_of(lab(), long_prompt([A, B, C, D], 30)) == f"{A}\n{B}\n{C}\n{D}"


def test_a_single_needle() -> None:
    text = f"{FILLER} The pass phrase of the north gate is {B}. {FILLER} The pass phrase of the east gate is {C}. "
    assert text_of(lab(), text + "What is the pass phrase of the east gate?") == C
    asked = text + "Give the pass phrases of the north and east gates, separated by commas."
    assert text_of(lab(), asked) == f"{B}, {C}"


LETTER = (
    "Text: Anna Weber from Lyon ordered three lamps on 2024-03-12 for $45.50, order number A-48213. "
    "Her e-mail is anna.weber@mail.example.\n"
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the e-mail address?", "anna.weber@mail.example"),
        ("Extract the order number.", "A-48213"),
        ("Extract the date of the order.", "2024-03-12"),
        ("How much did it cost?", "$45.50"),
        ("What is the name of the customer?", "Anna Weber"),
        ("Which city is she from?", "Lyon"),
        ("Extract the name and the e-mail address.", "Anna Weber\nanna.weber@mail.example"),
    ],
)
def test_extracting(question: str, answer: str) -> None:
    assert text_of(lab(), LETTER + question) == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Write the word lantern in uppercase.", "LANTERN"),
        ("Convert 'LAMP' to lowercase.", "lamp"),
        ("Reverse the word lamp.", "pmal"),
        ("Sort these words alphabetically: pear, apple, fig", "apple, fig, pear"),
        ("Sort the numbers 9, 3 and 7 from largest to smallest.", "9, 7, 3"),
        ("How many letters are in the word 'banana'?", "6"),
        ("How many words are in the sentence 'the cat sat on the mat'?", "6"),
        ("List three colours, separated by commas.", "red, blue, green"),
        ("Name two fruits as a bullet list.", "- apple\n- banana"),
        ("Translate the word house into French.", "maison"),
        ("How do you say 'water' in German?", "wasser"),
        ("Reply with exactly one word: yes", "yes"),
        ("Is Berlin the capital of Germany? Answer yes or no.", "Yes"),
        ("Is Lyon the capital of France? Answer yes or no.", "No"),
        ("What is the capital of Japan? Answer in uppercase.", "TOKYO"),
        ("What is the capital of Japan? Start your answer with the word Well.", "Well Tokyo"),
        ("What are your opening hours?", "I am not certain."),
    ],
)
def test_following_instructions(question: str, answer: str) -> None:
    assert text_of(lab(), question) == answer


@pytest.mark.parametrize(
    ("prompt", "filled"),
    [
        ('Return JSON with the keys "name" and "city" for: Anna Weber lives in Lyon.',
         {"name": "Anna Weber", "city": "Lyon"}),
        (f"Reply only with JSON with the keys code and sum. The code is {A}. The sum is 4 + 9.",
         {"code": A, "sum": 13}),
        ("What is the capital of Peru? Answer as a JSON object with the key capital.",
         {"capital": "Lima"}),
    ],
)  # fmt: skip
def test_filling_objects(prompt: str, filled: dict[str, object]) -> None:
    assert json.loads(text_of(lab(), prompt)) == filled


def test_the_fact_file_is_broad() -> None:
    assert len(rows()) >= 350
    assert len({row.relation for row in rows()}) >= 20


@pytest.mark.parametrize("row", [row for row in rows() if row.relation == "capital"][::3])
def test_capitals_both_ways_and_in_two_languages(row) -> None:
    service, country, capital = lab(), row.entity[0], row.value[0]
    assert text_of(service, f"What is the capital of {country}?") == capital
    assert (
        text_of(service, f"Name the city that is the seat of government of {country}.") == capital
    )
    assert text_of(service, f"Which country has {capital} as its capital?") == country
    if any("一" <= name[0] <= "鿿" for name in row.value):
        name = next(name for name in row.entity if "一" <= name[0] <= "鿿")
        assert text_of(service, f"{name}的首都是哪里?") in row.value


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who wrote the novel Anna Karenina?", "Leo Tolstoy"),
        ("Anna Karenina is a novel. Who is its author?", "Leo Tolstoy"),
        ("What is the chemical symbol of silver?", "Ag"),
        ("Which element has the symbol Fe?", "iron"),
        ("Which planet is the third from the Sun?", "Earth"),
        ("What is the largest planet in our solar system?", "Jupiter"),
        ("Which day comes after Friday?", "Saturday"),
        ("What day comes before Monday?", "Sunday"),
        ("In which year did World War II end?", "1945"),
        ("In what year did the Second World War begin?", "1939"),
        ("How many legs does a spider have?", "8"),
        ("How many days are there in a leap year?", "366"),
        ("What is the opposite of hot?", "cold"),
        ("At what temperature does water boil, in degrees Celsius?", "100 degrees Celsius"),
        ("水的沸点是多少?", "100摄氏度"),
        ("《红楼梦》的作者是谁?", "曹雪芹"),
        ("日本的货币是什么?", "日元"),
        ("一周有多少天?", "7"),
        ("On which continent is Kenya?", "Africa"),
        ("What is a baby dog called?", "puppy"),
        ("What colour do you get when you mix blue and yellow?", "green"),
    ],
)
def test_facts(question: str, answer: str) -> None:
    assert text_of(lab(), question) == answer


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        (f"Reference code: {A}. Repeat the reference code, then say what 3 + 4 is.", f"{A}\n7"),
        (f"Copy this code: {A}\nThen answer the question: What is 12 + 30?", f"{A}\n42"),
        (f"What is 12 + 30? End your answer with the code {A}.", f"42 {A}"),
        (f"Begin your reply with the code {A}, then answer: who wrote Emma?", f"{A} Jane Austen"),
        (f"The code is {A}.\n1. Repeat the code.\n2. What is the capital of Chile?", f"{A}\nSantiago"),
        ((f"Please write the code {A} on the first line and the answer to this question on the "
         "second line: What is 12 + 30?"), f"{A}\n42"),
        (f"Repeat the code and answer the question. Question: Which planet is the largest? Code: {A}",
         f"{A}\nJupiter"),
    ],
)  # fmt: skip
def test_other_orders_and_wordings(prompt: str, answer: str) -> None:
    assert text_of(lab(), prompt) == answer
