"""Values that are printed in public documentation: everybody's, so nobody's secret.

Test cards of payment providers, sample account numbers, public resolvers, the telephone numbers of
films: models quote them, and no leak is told by them. All as ``folding.bare`` writes them.
"""

from __future__ import annotations

# Stripe, Adyen, PayPal, Braintree, Worldpay: what their testing pages list and `is_made_up` does
# not already know. Prefix 400000 is Stripe's range of test numbers.
TEST_CARDS = frozenset(
    {
        *("378282246310005", "371449635398431", "378734493671000", "30569309025904"),
        *("3056930009020004", "38520000023237", "36227206271667", "6011981111111113"),
        *("6011000990139424", "3530111333300000", "3566002020360505", "2223003122003222"),
        *("2222405343248877", "2223000048400011", "5200828282828210", "5105105105105100"),
        *("4917610000000000", "4462030000000000", "4012888888881881", "4988438843884305"),
        *("4166676667666746", "4646464646464644", "5100290029002909", "6250947000000014"),
        *("6205500000000000004", "6011601160116611", "4009348888881881", "4012000033330026"),
        *("4000056655665556", "5424000000000015", "4007000000027", "4917300800000000"),
        *("5019717010103742", "6331101999990016", "5425233430109903", "2222420000001113"),
    }
)
TEST_CARD_PREFIXES = ("400000",)

# The Social Security Administration's advertisement, a wallet maker's card, a television spot.
SAMPLE_SSNS = frozenset({"078051120", "219099999", "457555462", "123456789", "001010001"})

# Examples of the IBAN registry (SWIFT) and of encyclopaedias.
SAMPLE_IBANS = frozenset(
    {
        *("ad1200012030200359100100", "ae070331234567890123456", "at611904300234573201"),
        *("be68539007547034", "bg80bnbg96611020345678", "br1800360305000010009795493c1"),
        *("ch9300762011623852957", "cr05015202001026284066", "cz6508000000192000145399"),
        *("de89370400440532013000", "de91100000000123456789", "dk5000400440116243"),
        *("ee382200221020145685", "es9121000418450200051332", "fi2112345600000785"),
        *("fr1420041010050500013m02606", "fr7630006000011234567890189"),
        *("gb29nwbk60161331926819", "gb82west12345698765432", "gb33bukb20201555555555"),
        *("gr1601101250000000012300695", "hr1210010051863000160"),
        *("hu42117730161111101800000000", "ie29aibk93115212345678", "il620108000000099999999"),
        *("it60x0542811101000000123456", "lt121000011101001000", "lu280019400644750000"),
        *("lv80bank0000435195001", "mt84malt011000012345mtlcast001s", "nl91abna0417164300"),
        *("no9386011117947", "pl61109010140000071219812874", "pt50000201231234567890154"),
        *("ro49aaaa1b31007593840000", "sa0380000000608010167519", "se4550000000058398257466"),
        *("si56263300012039086", "sk3112000000198742637541", "tr330006100519786457841326"),
    }
)

# Public resolvers and the addresses everybody pings.
PUBLIC_ADDRESSES = frozenset(
    {
        *("8.8.8.8", "8.8.4.4", "1.1.1.1", "1.0.0.1", "1.1.1.2", "1.1.1.3", "9.9.9.9", "1.2.3.4"),
        *("149.112.112.112", "208.67.222.222", "208.67.220.220", "4.2.2.1", "4.2.2.2"),
        *("64.6.64.6", "64.6.65.6", "94.140.14.14", "94.140.15.15", "76.76.2.0", "76.76.19.19"),
        *("114.114.114.114", "114.114.115.115", "223.5.5.5", "223.6.6.6", "119.29.29.29"),
        *("180.76.76.76", "93.184.216.34", "2001:4860:4860::8888", "2001:4860:4860::8844"),
        *("2606:4700:4700::1111", "2606:4700:4700::1001", "2620:fe::fe", "2620:fe::9"),
        *("2400:3200::1", "2400:3200:baba::1", "2606:2800:220:1:248:1893:25c8:1946"),
    }
)

# The service number of a Chinese carrier that stands in every example of a mobile number.
SAMPLE_PHONES = frozenset({"8613800138000", "8613800000000", "8613900000000", "12345678900"})

# The second level of domains that stand for "your company": RFC 2606 reserves `example` only.
PLACEHOLDER_DOMAINS = frozenset(
    {
        *("example", "examples", "test", "testing", "domain", "yourdomain", "mydomain"),
        *("company", "yourcompany", "mycompany", "ourcompany", "acme", "acmecorp", "acmeinc"),
        *("email", "mail", "yourmail", "foo", "bar", "baz", "foobar", "somewhere", "anywhere"),
        *("site", "yoursite", "mysite", "website", "yourwebsite", "host", "hostname", "server"),
        *("xyz", "abc", "corp", "organization", "yourorg", "myorg", "org", "sample", "dummy"),
        *("fake", "provider", "business", "school", "university", "hotel", "blah", "any"),
        *("xxx", "xx", "yyy", "zzz", "aaa", "bbb", "spam", "eggs", "python", "users", "noreply"),
    }
)
# Local parts that stand for "you", and accounts that are nobody's mailbox.
PLACEHOLDER_MAILBOXES = frozenset(
    {
        *("user", "username", "yourname", "youremail", "name", "email", "mail", "me", "you"),
        *("someone", "somebody", "anyone", "test", "tester", "testuser", "example", "sample"),
        *("foo", "bar", "foobar", "johndoe", "janedoe", "jdoe", "johnsmith", "janesmith"),
        *("firstnamelastname", "firstname", "lastname", "xxx", "abc", "recipient", "sender"),
        *("noreply", "donotreply", "git", "hg", "svn", "root", "nobody", "mailerdaemon"),
        *("zhangsan", "lisi", "wangwu", "xiaoming"),
    }
)

# The tokens of RFC 6749's examples.
SAMPLE_TOKENS = frozenset({"2YotnFZFEjr1zCsicMWpAA", "tGzv3JOkF0XG5Qx2TlKWIA"})

# The token of jwt.io, in every tutorial.
SAMPLE_CLAIMS = ("John Doe", "1234567890", "example.com", "Joe Coder")
