"""Languages by ISO 639-1 code: how they are named in English and Chinese, and how they are written.

Who asks for a language by name gets it: what a request names is expected in the answer.
"""

from __future__ import annotations

import re

# Code: script (as in ``monitor.writing.scripts``), English names, Chinese names without 语 or 文.
# Peoples and countries count as names too: "the old name of Tokyo in Japan" invites kanji.
_TABLE = """
af LATIN Afrikaans 南非
ar ARABIC Arabic,Arab,Egyptian 阿拉伯
az LATIN Azerbaijani,Azeri 阿塞拜疆
be CYRILLIC Belarusian 白俄罗斯
bg CYRILLIC Bulgarian,Bulgaria 保加利亚
bn BENGALI Bengali,Bangla,Bangladesh 孟加拉
bs LATIN Bosnian 波斯尼亚
ca LATIN Catalan 加泰罗尼亚
cs LATIN Czech 捷克
cy LATIN Welsh 威尔士
da LATIN Danish 丹麦
de LATIN German 德
el GREEK Greek,Greece 希腊
en LATIN English 英
eo LATIN Esperanto 世界
es LATIN Spanish 西班牙
et LATIN Estonian 爱沙尼亚
eu LATIN Basque 巴斯克
fa ARABIC Persian,Farsi,Iran,Iranian 波斯
fi LATIN Finnish 芬兰
fr LATIN French 法
ga LATIN Irish 爱尔兰
gu GUJARATI Gujarati 古吉拉特
he HEBREW Hebrew,Israel,Israeli 希伯来
hi DEVANAGARI Hindi,Sanskrit,India,Indian 印地
hr LATIN Croatian 克罗地亚
hu LATIN Hungarian 匈牙利
hy ARMENIAN Armenian,Armenia 亚美尼亚
id LATIN Indonesian 印尼
is LATIN Icelandic 冰岛
it LATIN Italian 意大利
ja CJK Japanese,Japan,Kanji,Hiragana,Katakana 日
ka GEORGIAN Georgian,Georgia 格鲁吉亚
kk CYRILLIC Kazakh,Kazakhstan 哈萨克
ko HANGUL Korean,Korea,Hangul 韩
la LATIN Latin 拉丁
lg LATIN Ganda,Luganda 卢干达
lt LATIN Lithuanian 立陶宛
lv LATIN Latvian 拉脱维亚
mi LATIN Maori 毛利
mk CYRILLIC Macedonian 马其顿
mn CYRILLIC Mongolian,Mongolia 蒙古
mr DEVANAGARI Marathi 马拉地
ms LATIN Malay 马来
nb LATIN Norwegian,Bokmål 挪威
nl LATIN Dutch 荷兰
nn LATIN Nynorsk 新挪威
pa GURMUKHI Punjabi 旁遮普
pl LATIN Polish 波兰
pt LATIN Portuguese 葡萄牙
ro LATIN Romanian 罗马尼亚
ru CYRILLIC Russian,Russia,Cyrillic,Soviet 俄
sk LATIN Slovak 斯洛伐克
sl LATIN Slovene,Slovenian 斯洛文尼亚
sn LATIN Shona 绍纳
so LATIN Somali 索马里
sq LATIN Albanian 阿尔巴尼亚
sr CYRILLIC Serbian,Serbia 塞尔维亚
st LATIN Sotho 索托
sv LATIN Swedish 瑞典
sw LATIN Swahili 斯瓦希里
ta TAMIL Tamil 泰米尔
te TELUGU Telugu 泰卢固
th THAI Thai,Thailand 泰
tl LATIN Tagalog,Filipino 他加禄
tn LATIN Tswana 茨瓦纳
tr LATIN Turkish 土耳其
ts LATIN Tsonga 聪加
uk CYRILLIC Ukrainian,Ukraine 乌克兰
ur ARABIC Urdu,Pakistan 乌尔都
vi LATIN Vietnamese 越南
xh LATIN Xhosa 科萨
yo LATIN Yoruba 约鲁巴
zh CJK Chinese,China,Mandarin,Cantonese,Taiwan 中
zu LATIN Zulu 祖鲁
"""
_ROWS = tuple(line.split(" ") for line in _TABLE.strip().splitlines())
SCRIPTS: dict[str, str] = {code: script for code, script, _, _ in _ROWS}
CODES = frozenset(SCRIPTS)
# Told apart only with difficulty, and wrongly told apart without harm.
_ALIKE = {"nn": "nb", "bs": "hr", "sr": "hr"}


def same(one: str, other: str) -> bool:
    """True if two codes are one language, or two that readers take for one."""
    return _ALIKE.get(one, one) == _ALIKE.get(other, other)


_ENGLISH = {name: code for code, _, names, _ in _ROWS for name in names.split(",")}
_CHINESE = {f"{name}{kind}": code for code, _, _, name in _ROWS for kind in "语文語"}
_CHINESE |= dict.fromkeys(("汉语", "漢語", "普通话"), "zh")
_CHINESE |= {"日本": "ja", "韩国": "ko", "俄罗斯": "ru"}
_IN_ENGLISH = re.compile(rf"\b(?:{'|'.join(map(re.escape, _ENGLISH))})\b")
_IN_CHINESE = re.compile("|".join(_CHINESE))


def named(text: str) -> frozenset[str]:
    """Return the codes of the languages that ``text`` names, in English (capital first) or Chinese.

    A country or people whose language has a script of its own names the language too.
    """
    chinese = frozenset(_CHINESE[name] for name in set(_IN_CHINESE.findall(text)))
    return chinese | named_in_english(text)


def named_in_english(text: str) -> frozenset[str]:
    """Return the codes of the languages that ``text`` names in English."""
    return frozenset(_ENGLISH[name] for name in set(_IN_ENGLISH.findall(text)))
