"""Questions that no golden prompt asks, over the same rules and rows: the rules are general."""

# ruff: noqa: E501, RUF001 (prompts read best whole; Chinese signs are meant)
from __future__ import annotations

import json

import pytest

from monitor.lab.responder.knowledge import rows
from monitor.prompts import load_suites, shipped_folder
from monitor.tasks import ask_to_repeat
from tests.unit.lab.helpers import lab, text_of

CODE = "bafot-gitiz-lusab-dunor"
PEOPLE = "Nadia works in Turin. Pavel works in Ghent. Suzu works in Osaka."
CLASSES = "Physics is in room 7. Latin is in room 31. Music is in room 12."

ANSWERS = [
    # units
    ("How many seconds are there in 3 minutes?", "180"),
    ("How many centimetres are in two metres?", "200"),
    ("Convert 5 kg to grams.", "5000"),
    ("How many bytes are in a kilobyte?", "1000"),
    ("How many days are in 3 weeks?", "21"),
    ("How many months are there in 2 years?", "24"),
    ("How many eggs are there in 3 dozen?", "36"),
    ("What is 90 minutes in hours?", "1.5"),
    ("How many bits are there in 4 bytes?", "32"),
    ("How many inches make a foot?", "12"),
    ("2公里等于多少米？", "2000"),
    ("把5千克换算成克是多少？", "5000"),
    ("一小时有多少秒？", "3600"),
    ("两周有几天？", "14"),
    # prices and stories
    ("A notebook costs 4 euros. How much do 6 notebooks cost?", "24"),
    ("One ticket costs 12 dollars. You buy 3 tickets. How much do you pay for the 3 tickets?", "36"),
    ("Lena has 14 coins and loses 5. How many coins are left?", "9"),
    ("一本书20元，买3本一共多少元？", "60"),
    ("苹果每斤6元，妈妈买了4斤，一共花了多少元？", "24"),
    # statements
    (f"{PEOPLE} Where does Pavel work?", "Ghent"),
    (f"{PEOPLE} Who works in Osaka?", "Suzu"),
    (f"{PEOPLE} In which town does Nadia work? Answer with the town only.", "Turin"),
    (f"{CLASSES} Which room is Latin in? Answer with the number only.", "31"),
    (f"{CLASSES} Which class is in room 12?", "Music"),
    ("The tall jar holds flour. The short jar holds beans. What does the short jar hold?", "beans"),
    ("The white van carries bricks. The black van carries sand. Which colour is the van with the sand?", "black"),
    ("Parcel 88 was sent in April. Parcel 91 was sent in May. Which parcel was sent in April?", "88"),
    ("The bus leaves at 6:05. The tram leaves at 6:40. When does the tram leave?", "6:40"),
    ("For bookings write to book@inn.example. For lost keys write to keys@inn.example. Which address is for lost keys?", "keys@inn.example"),
    ("Ada was born in 1990. Karl was born in 1985. In which year was Karl born?", "1985"),
    ("小陈住在广州。小赵住在武汉。小赵住在哪里？", "武汉"),
    ("小陈住在广州，小赵住在武汉，谁住在广州？", "小陈"),
    ("数学课在301教室。音乐课在205教室。音乐课在哪个教室？只回答数字。", "205"),
    ("红笔用于批改，蓝笔用于书写。蓝笔用于什么？", "书写"),
    ("火车在9:10出发，轮船在15:45出发。轮船几点出发？", "15:45"),
    ("黑色的箱子装书，白色的箱子装衣服。装衣服的箱子是什么颜色？", "白色"),
    ("包裹301在周一寄出。包裹588在周二寄出。哪个包裹在周二寄出？", "588"),
    # settings and lists
    ("Config: mode=fast; retries=4; region=north. What is the number of retries?", "4"),
    ("Settings: colour=teal, size=12. What is the colour?", "teal"),
    ("Here is a list: oak, pine, birch, maple. Which tree is second in the list?", "pine"),
    ("What is the last word in this list: north, east, south, west?", "west"),
    ("列表：铁、铜、银、金。列表中的第三个是什么？", "银"),
    # facts
    ("Which planet is the smallest in the Solar System?", "Mercury"),
    ("Of all oceans, which one is the largest?", "Pacific Ocean"),
    ("What is the reason phrase for HTTP status 503?", "Service Unavailable"),
    ("Which HTTP status code has the reason phrase Forbidden?", "403"),
    ("What is the name of the process by which a liquid becomes a gas?", "evaporation"),
    ("By which process does a caterpillar become a butterfly?", "metamorphosis"),
    ("What is the process called in which yeast turns sugar into alcohol?", "fermentation"),
    ("唐诗《春晓》的作者是谁？", "孟浩然"),
    ("《登鹳雀楼》是谁写的？", "王之涣"),
    ("小说《骆驼祥子》的作者是谁？", "老舍"),
    ("太阳系中最小的行星是哪一颗？", "水星"),
    ("种子发芽的过程叫什么？", "发芽"),
    # yes and no
    ("Is steam water vapour? Answer with one word, yes or no.", "Yes"),
    ("Is lava frozen water? Answer yes or no.", "No"),
    ("Is a spanner a tool?", "Yes"),
    ("Is a spider an insect?", "No"),
    ("Is a whale a fish? Answer with yes or no only.", "No"),
    ("Is snow white?", "Yes"),
    ("麻雀是鸟吗？", "是"),
    ("锤子是动物吗？只回答一个字：是，或者否。", "否"),
    # forms
    ("Write the word pebble four times, separated by commas.", "pebble, pebble, pebble, pebble"),
    ("Write the number 9 twice, separated by a space, and nothing else.", "9 9"),
    ("请把词语“大海”写两遍，用逗号隔开。", "大海, 大海"),
    ("Write the word anchor in capital letters and nothing else.", "ANCHOR"),
    ("Count from 3 to 8, separated by commas.", "3, 4, 5, 6, 7, 8"),
    ("Count down from 4 to 1 in digits, separated by spaces.", "4 3 2 1"),
    ("Write the even numbers from 2 to 10, separated by single spaces.", "2 4 6 8 10"),
    ("请从3数到7，用逗号隔开。", "3, 4, 5, 6, 7"),
    ("Write the last three letters of the alphabet, separated by spaces.", "X Y Z"),
    ("Write the first five letters of the alphabet in lower case, separated by commas.", "a, b, c, d, e"),
    ("Write the word fern inside round brackets and nothing else.", "(fern)"),
    ("请把数字8放在方括号里，不要写别的内容。", "[8]"),
    ("What is 4 + 5? Put your answer in square brackets.", "[9]"),
    ("Write the date 17 August 1998 in the form YYYY-MM-DD.", "1998-08-17"),
    ("Write December 1, 2015 as an ISO date and nothing else.", "2015-12-01"),
    ("Write the date 2011-07-09 in the form DD/MM/YYYY.", "09/07/2011"),
    ("请把2019年10月2日写成YYYY-MM-DD的形式。", "2019-10-02"),
    ("Sort these numbers from largest to smallest: 4, 11, 8. Write them separated by spaces.", "11 8 4"),
    ("What is the capital of Norway? Answer in capital letters.", "OSLO"),
    # choices
    ("Which of these is a tool? A) banana B) pliers C) sheep. Answer with the letter only.", "B"),
    ("Which of these is a fruit? A) trumpet B) hammer C) plum. Answer with the letter only.", "C"),
    ("Which of these is not an animal?\nA. goat\nB. owl\nC. bus\nAnswer with the letter only.", "C"),
    ("What is the capital of Italy? A) Milan B) Rome C) Turin. Answer with the letter only.", "B"),
    ("Which of these is a vehicle: tulip, tram, spoon?", "tram"),
    ("下面哪一个是水果？A 桌子，B 火车，C 樱桃。只回答字母。", "C"),
    ("以下哪个是乐器？A. 苹果 B. 钢琴 C. 老虎。只回答字母。", "B"),
    # all rules once more, in other words
    ("How many hours are there in 4 days? Answer in digits.", "96"),
    ("How many millimetres are in 3 centimetres?", "30"),
    ("A film lasts 2 hours. How many minutes is that?", "120"),
    ("Express 2.5 km in metres.", "2500"),
    ("1吨等于多少千克？", "1000"),
    ("一天有多少分钟？", "1440"),
    ("Eggs cost 2 euros a box. How much do 7 boxes cost?", "14"),
    ("If one pen costs 5 dollars, how much do 4 pens cost?", "20"),
    ("一个面包5元，买6个一共要多少钱？", "30"),
    ("Sam has 12 marbles and finds 7. How many marbles does Sam have?", "19"),
    ("The cat sleeps in the kitchen. The dog sleeps in the hall. Where does the dog sleep?", "hall"),
    ("Maria plays the cello. Tom plays the drums. Which instrument does Maria play?", "cello"),
    ("The museum opens at 9:30. The zoo opens at 10:00. When does the zoo open?", "10:00"),
    ("Dr. Weiss is on floor 3. Dr. Lund is on floor 5. On which floor is Dr. Lund?", "5"),
    ("Flight KL204 goes to Madrid. Flight BA771 goes to Cairo. Which flight goes to Cairo?", "BA771"),
    ("Mr Roy ordered soup. Ms Lee ordered salad. Who ordered the salad?", "Ms Lee"),
    ("Box A holds pens, box B holds rulers, and box C holds glue. What does box B hold?", "rulers"),
    ("For refunds call 555-0101. For orders call 555-0199. Which number is for orders?", "555-0199"),
    ("Tea costs 3 euros. Coffee costs 4 euros. How much does coffee cost?", "4 euros"),
    ("老王喜欢喝茶。老李喜欢喝咖啡。谁喜欢喝咖啡？", "老李"),
    ("三号会议室在二楼。五号会议室在四楼。五号会议室在几楼？", "四楼"),
    ("苹果放在冰箱里。面包放在桌子上。面包放在哪里？", "桌子上"),
    ("Options: debug=off; level=7; name=alpha. What is the level?", "7"),
    ("The list is: lion, bear, wolf, fox. Which animal comes fourth in the list?", "fox"),
    ("Which is the largest desert on Earth?", "Sahara"),
    ("What is the biggest planet?", "Jupiter"),
    ("What is the reason phrase of HTTP status code 201?", "Created"),
    ("What do we call the process by which water vapour turns into liquid water?", "condensation"),
    ("By which process do birds fly south in winter?", "migration"),
    ("《望岳》的作者是哪位诗人？", "杜甫"),
    ("Is a rose a flower? Answer with exactly one word, yes or no.", "Yes"),
    ("Is a potato a fruit? Answer yes or no.", "No"),
    ("Is glass made from sand?", "Yes"),
    ("玫瑰是花吗？请回答是或否。", "是"),
    ("Repeat the word gull five times, separated by hyphens.", "gull-gull-gull-gull-gull"),
    ("Say the word echo two times, each on its own line.", "echo\necho"),
    ("Write your answer inside curly braces: what is 6 + 1?", "{7}"),
    ("Write the numbers from 5 to 9 separated by commas and nothing else.", "5, 6, 7, 8, 9"),
    ("Count backwards from 5 to 1, separated by spaces.", "5 4 3 2 1"),
    ("Write 4 July 1976 as YYYY/MM/DD.", "1976/07/04"),
    ("把日期1999年12月31日改写成YYYY-MM-DD格式，不要写别的内容。", "1999-12-31"),
    ("Which of the following is a metal? A) oxygen B) copper C) rice. Reply with the letter only.", "B"),
    ("Which of these is a bird? (A) shark (B) cow (C) owl. Answer with the letter only.", "C"),
    ("What is 6 + 8? A) 12 B) 14 C) 16. Answer with the letter only.", "B"),
    # code, dates and whole lists
    ("Write a Python function subtract(x, y) that returns the difference of x and y.", "```python\ndef subtract(x, y):\n    return x - y\n```"),
    ("Write a Python function is_odd(k) that returns True if k is odd, else False. Answer with code only.", "```python\ndef is_odd(k):\n    return k % 2 == 1\n```"),
    ("Please write a function named size(words) in Python which returns the number of items in the list words.", "```python\ndef size(words):\n    return len(words)\n```"),
    ("On which date was the attack on Pearl Harbor? Answer with day, month and year.", "7 December 1941"),
    ("On what day did Gagarin fly into space?", "12 April 1961"),
    ("In which year was the Battle of Waterloo?", "1815"),
    ("香港回归是在哪一天？请写出年月日。", "1997年7月1日"),
    ("五四运动发生在哪一天？请写出具体日期。", "1919年5月4日"),
    ("Write the cubes of the numbers from 1 to 4, separated by commas.", "1, 8, 27, 64"),
    ("请写出从2到5的整数的平方，用逗号隔开。", "4, 9, 16, 25"),
    ("请用编号列表写出彩虹的七种颜色。", "1. 红\n2. 橙\n3. 黄\n4. 绿\n5. 蓝\n6. 靛\n7. 紫"),
    ("Write the three primary colours as a numbered list.", "1. red\n2. blue\n3. yellow"),
    ("请列出八大行星，用逗号隔开。", "水星, 金星, 地球, 火星, 木星, 土星, 天王星, 海王星"),
    ("下列哪个是蔬菜？A、椅子 B、胡萝卜 C、足球。只回答字母。", "B"),
]  # fmt: skip

OBJECTS = [
    ('Greta is 51 years old. Write this as a JSON object with the keys "name" (a string) and "age" (a number).',
     {"name": "Greta", "age": 51}),
    ('Write a JSON object with the key "tools", which holds the list of these two strings in this order: saw, drill.',
     {"tools": ["saw", "drill"]}),
    ('Write a JSON object with the key "sizes", which holds the list of these numbers: 3, 5, 8.',
     {"sizes": [3, 5, 8]}),
    ('The gate is not locked and opens at 7. Write a JSON object with the keys "locked" (true or false) and "opens" (a number).',
     {"locked": False, "opens": 7}),
    ('The library is closed. Write a JSON object with the key "open" (a boolean).', {"open": False}),
    ('Write a JSON object with the key "box", which holds an object with "width" equal to 9 and "depth" equal to 4.',
     {"box": {"width": 9, "depth": 4}}),
    ('Write a JSON object with the keys "city" equal to "Lyon" and "rank" equal to 3.', {"city": "Lyon", "rank": 3}),
    ('Ivo has no car. Write a JSON object with the keys "name" (a string) and "car" (null, since he has none).',
     {"name": "Ivo", "car": None}),
    ("Fix this so that it is valid JSON: {name: 'Lu', tags: ['a', 'b'], ok: True,}",
     {"name": "Lu", "tags": ["a", "b"], "ok": True}),
    ('Compute 6 * 7 and write a JSON object with the key "product", which holds the number.', {"product": 42}),
    ('小红今年9岁。请写成一个JSON对象，键为"name"（字符串）和"age"（数字）。', {"name": "小红", "age": 9}),
    ('请写一个JSON对象，键"colors"的值是一个列表，依次为这两个字符串：红、黄。', {"colors": ["红", "黄"]}),
    ('商店没有开着。请写一个JSON对象，键"open"的值为true或false。', {"open": False}),
    ('请写一个JSON对象，键"book"的值是一个对象，其中"title"为字符串"家"，"pages"为数字400。',
     {"book": {"title": "家", "pages": 400}}),
    ("请把它改成合法的JSON：{city: '巴黎', rank: 2}", {"city": "巴黎", "rank": 2}),
    ('Tobias is 8 years old and lives in Graz. Write a JSON object with the keys "name" (a string), "age" (a number) and "city" (a string).', {"name": "Tobias", "age": 8, "city": "Graz"}),
    ('Write a JSON object with the keys "a" and "b", where "a" is 1 and "b" is 2.', {"a": 1, "b": 2}),
    ('The lamp is on. Write a JSON object with the key "on" (true or false).', {"on": True}),
    ('What is the capital of Peru? Write a JSON object with the key "capital", which holds the answer.', {"capital": "Lima"}),
    ("Repair this JSON: {'a': 1, 'b': [2, 3,], c: null}", {"a": 1, "b": [2, 3], "c": None}),
    ('请写一个JSON对象，键"count"的值为数字12。', {"count": 12}),
    ('窗户是关着的。请写一个JSON对象，键"closed"的值为true或false。', {"closed": True}),
]  # fmt: skip


def language(question: str) -> str:
    return "zh" if any("\u4e00" <= letter <= "\u9fff" for letter in question) else "en"


@pytest.mark.parametrize(("question", "answer"), ANSWERS)
def test_an_unshipped_question(question: str, answer: str) -> None:
    assert text_of(lab(), question) == answer
    asked = ask_to_repeat(CODE, question, language=language(question))
    assert text_of(lab(), asked) == f"{CODE}\n{answer}"


@pytest.mark.parametrize(("question", "wanted"), OBJECTS)
def test_an_unshipped_object(question: str, wanted: dict[str, object]) -> None:
    assert json.loads(text_of(lab(), question)) == wanted
    asked = ask_to_repeat(CODE, question, language=language(question))
    first, _, rest = text_of(lab(), asked).partition("\n")
    assert first == CODE
    assert json.loads(rest) == wanted


def test_none_of_them_is_shipped() -> None:
    shipped = {golden.prompt for golden in load_suites(shipped_folder())}
    assert not shipped & {question for question, _ in [*ANSWERS, *OBJECTS]}


@pytest.mark.parametrize(
    ("relation", "least"),
    [("unit", 60), ("kind", 200), ("reason phrase", 40), ("process", 20), ("nature", 15)],
)
def test_families_are_whole(relation: str, least: int) -> None:
    assert sum(row.relation == relation for row in rows()) >= least
