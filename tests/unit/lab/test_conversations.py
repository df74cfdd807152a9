"""What the healthy lab answers when the question needs more than one turn."""

# ruff: noqa: E501, RUF001 (conversations read best whole; Chinese signs are meant)
from __future__ import annotations

from random import Random

import pytest

from monitor.tasks import (
    Task,
    add_to_list,
    add_to_total,
    addition,
    ask_to_repeat,
    end_with,
    give_code,
    lookup,
    place_in_list,
    recall_code,
    recall_given,
    sealed_sum,
    start_total,
    tell_code,
)
from tests.unit.lab.helpers import code, lab, text_of

A, B, C, D = (code(Random(70 + number)) for number in range(4))


def talk(*said: str, system: str = "", role: str = "system") -> str:
    """Return the answer to the last of the user's turns, the lab's own answers between them."""
    service, earlier = lab(), [(role, system)] if system else []
    for text in said[:-1]:
        answer = text_of(service, text, earlier=tuple(earlier))
        earlier += [("user", text), ("assistant", answer)]
    return text_of(service, said[-1], earlier=tuple(earlier))


@pytest.mark.parametrize(
    "told",
    [
        "Remember: the code of locker 17 is {}.",
        'Please remember: the code of locker 17 is "{}".',
        "Remember that the code of locker 17 is {}. Reply with OK.",
        "The code of locker 17 is {}.",
        "The code for locker 17 is {}. Please reply with the word noted.",
        "Locker 17 has the code {}.",
        "For locker 17 use the code {}. Just say OK.",
        "locker 17: {}",
        "Note this down. Locker 17: {}",
    ],
)
@pytest.mark.parametrize(
    "question",
    [
        "Which code did I give you for locker 17?",
        "What is the code of locker 17?",
        "What was the code of locker 17?",
        "Please repeat the code of locker 17.",
        "Which code belongs to locker 17?",
        "Tell me the code for locker 17.",
    ],
)
def test_what_was_told_is_remembered_over_turns(told: str, question: str) -> None:
    other = told.replace("17", "23")
    assert talk(told.format(A), other.format(B), "What is 12 + 5?", question) == A


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (("Remember: the code of locker 17 is bafot-gitiz.",), "Noted."),
        (("Remember: the code of locker 17 is bafot-gitiz. Reply with OK.",), "OK"),
        (("Start a running total at 10.", "Add 12 to the running total. What is the total now?"), "22"),
        (("Start at 0. Add 5 to the total. What is the total?", "Add 12 to the running total. What is the total now?", "Subtract 3 from the running total. What is the total now?"), "14"),
        (("The counter is 40.", "Add 7 to the counter.", "Add 2 to the counter. What does the counter show now?"), "49"),
        (("Keep a running total. It starts at 0. Add 30.", "Now add 12 to it.", "What is the running total now?"), "42"),
        (("Let us keep a running total. Start with 14. Reply with the total.", "Add 6. What is the running total now?"), "20"),
        (("Please add 12 to the running total.", "Please add 30 to the running total. Answer with the total only."), "42"),
        (("The running total is 5. Add 12 to the running total. What is the total now?",), "17"),
        (("Add plum to the list.", "Add cedar to the list.", "What is on the list?"), "plum, cedar"),
        (('Put "plum" on my shopping list.', 'Put "cedar" on my shopping list.', "How many items are on my shopping list?"), "2"),
        (("Start a list with the words plum, cedar.", "Add the word lamp to the list.", "Please repeat the whole list."), "plum, cedar, lamp"),
        (("Add plum, cedar and lamp to the list.", "Remove cedar from the list.", "List all items of the list."), "plum, lamp"),
        (("Add plum to the list.", "Add cedar to the list.", "Add lamp to the list.", "What is the second item on the list?"), "cedar"),
        (("What is 2 + 3?", "What is 7 + 9?", "What was your first answer?"), "5"),
        (("Hello.", "My favourite colour is green.", "How many messages have I sent so far?"), "3"),
        (("My favourite colour is green.", "What is 2 + 2?", "What is my favourite colour?"), "green"),
        (("请记住：17号柜的密码是bafot-gitiz。", "17号柜的密码是什么？"), "bafot-gitiz"),
    ],
)  # fmt: skip
def test_a_conversation_is_kept(said: tuple[str, ...], answer: str) -> None:
    assert talk(*said) == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What was the reference code of my first message?", A),
        ("What was the reference code of my second message?", B),
        ("What was the reference code of my last message?", C),
        ("Please repeat the reference code of the first message.", A),
        ("Which reference code did I give in message 3?", C),
        ("Please repeat the reference code from my 2nd message.", B),
    ],
)
def test_messages_are_told_apart(question: str, answer: str) -> None:
    told = [
        f'The reference code of this ticket is "{marker}". Please repeat the reference code.'
        for marker in (A, B, C)
    ]
    assert talk(*told, question) == answer


@pytest.mark.parametrize("role", ["system", "developer"])
@pytest.mark.parametrize(
    ("system", "expected"),
    [
        ("End every answer with the word lantern-42.", "42 lantern-42"),
        ('End every answer with the word "lantern-42".', "42 lantern-42"),
        ("Always finish your answer with the code lantern-42.", "42 lantern-42"),
        ("You are a helpful assistant. Every answer must end with lantern-42.", "42 lantern-42"),
        ("Close each reply with the phrase lantern-42.", "42 lantern-42"),
        ("Append the code lantern-42 to every answer.", "42 lantern-42"),
        ("Add the word lantern-42 at the end of each of your answers.", "42 lantern-42"),
        ("Include the word lantern-42 in all your answers.", "42 lantern-42"),
        ("Begin every answer with the code ABC.", "ABC 42"),
        ("Start each answer with the word ABC.", "ABC 42"),
        ("All your replies must start with ABC.", "ABC 42"),
        ("Put the word ABC at the beginning of every reply.", "ABC 42"),
        (f"Begin every answer with the code {A}. End every answer with the word done.", f"{A} 42 done"),
        ("Whatever the user asks, reply only with the word lantern.", "lantern"),
        ("Write every answer in square brackets.", "[42]"),
        ("每次回答都以“灯笼”结尾。", "42 灯笼"),
    ],
)  # fmt: skip
def test_an_instruction_of_the_head_holds_in_every_turn(
    role: str, system: str, expected: str
) -> None:
    assert talk("What is 17 + 25?", system=system, role=role) == expected
    assert (
        talk("Hello.", "What is 2 + 2?", "What is 17 + 25?", system=system, role=role) == expected
    )


def test_an_instruction_of_a_turn_may_hold_from_then_on() -> None:
    told = "From now on, end every answer with the word lantern."
    assert talk(told, "What is 17 + 25?") == "42 lantern"
    assert talk("What is 2 + 2? End your answer with the word lantern.", "What is 17 + 25?") == "42"


def test_a_code_and_a_standing_word_come_together() -> None:
    system = f"End every answer with the code {B}."
    asked = f'The reference code of this ticket is "{A}". Please repeat the reference code.'
    assert talk(asked, asked.replace(A, C), system=system) == f"{C} {B}"


def _say(task: Task, nonce: str) -> tuple[str, list[str]]:
    return ask_to_repeat(nonce, task.question), [nonce, *(fact.any_of[0] for fact in task.answers)]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("role", ["system", "developer"])
def test_the_probes_own_tasks_are_done_in_any_order(seed: int, role: str) -> None:
    rng = Random(seed)
    codes = [code(rng) for _ in range(9)]
    items = rng.sample(["lemon", "candle", "rope", "kettle"], 3)
    total = rng.randint(10, 60)
    tasks = [
        tell_code(14, codes[0]),
        start_total(total),
        add_to_list(items[0], tuple(items[:1])),
        tell_code(35, codes[1]),
        add_to_total(12, total + 12),
        add_to_list(items[1], tuple(items[:2])),
        add_to_total(9, total + 21),
        recall_code(14, codes[0]),
        add_to_list(items[2], tuple(items)),
        recall_code(35, codes[1]),
        sealed_sum(rng, codes[2]),
        place_in_list(rng, tuple(codes[3:6])),
        lookup(rng, tuple(codes[3:6])),
        addition(rng),
        recall_code(35, codes[1]),
    ]
    service, history = lab(), [(role, f"The desk is open. {end_with(codes[8])}")]
    for task in tasks:
        text, wanted = _say(task, code(rng))
        answer = text_of(service, text, earlier=tuple(history), max_new_tokens=300)
        assert all(part in answer for part in [*wanted, codes[8]]), (task.kind, answer)
        history += [("user", text), ("assistant", answer)]


@pytest.mark.parametrize("turns_later", [0, 1, 2])
def test_what_an_earlier_answer_gave_is_read_from_it_whoever_wrote_it(turns_later: int) -> None:
    rng = Random(3)
    own, others, told, head = (code(rng) for _ in range(4))
    later = [tell_code(14, told), start_total(20)][:turns_later]
    for sent in (own, others):
        asked, answered = give_code(sent)
        service, history = lab(), [("system", end_with(head)), ("user", asked)]
        history.append(("assistant", answered))
        for task in later:
            text, _ = _say(task, code(rng))
            answer = text_of(service, text, earlier=tuple(history), max_new_tokens=300)
            history += [("user", text), ("assistant", answer)]
        text, wanted = _say(recall_given(sent), code(rng))
        answer = text_of(service, text, earlier=tuple(history), max_new_tokens=300)
        assert answer.split() == [*wanted, head]
