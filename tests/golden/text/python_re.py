"""Writes python_re.jsonl: patterns and texts with what `re` of CPython 3.11 (Unicode 14.0) makes of them.

    python3.11 python_re.py > python_re.jsonl

A row has `search`, the byte positions of the first match or null, and `sub`, the text with `<>` for each match; or
`error`, where Python refuses the pattern. Patterns that Python accepts and this project refuses by name (`\\N{...}`)
are not among them.
"""

import json
import random
import re
import sys
import unicodedata
import warnings

assert sys.version_info[:2] == (3, 11) and unicodedata.unidata_version == "14.0.0"
warnings.simplefilter("ignore")

BY_HAND = [
    # $ and its relatives.
    ("!$", ["stop!", "stop!\n", "stop!\n\n", "!\n!", "!\r\n"]), (r"\n$", ["go\n", "go\n\n", "go"]),
    ("$", ["", "\n", "a\n", "a\n\n", "a"]), ("(?m)$", ["", "\n", "a\nb\n", "a\r\n"]), ("(?m)^", ["", "\n", "a\nb\n"]),
    (r"\Z", ["", "a\n", "a"]), (r"a\Z", ["a\n", "a"]), (r"\A", ["", "a\nb"]), ("^a", ["a\na", "ba"]), ("(?m)^a", ["a\na", "b\ra"]),
    (".", ["a\nb\r\u2028\x85"]), ("(?s).", ["a\nb"]), (".$", ["ab\n"]), (r"\s+$", ["a  \n", "a \n "]), (r"(?m)\s+$", ["a  \nb \n"]),
    # Words, digits and spaces.
    (r"\bक", ["हाक", "कल"]), (r"\w+", ["हिन्दी ½²① Ⅷ a_b ªº e\u0301 가 ﬁ x\u200dy", "\U0001e030 \u0870"]), (r"\W", ["हा-½²\u0301_"]),
    (r"\d+", ["12 ١٢ ² ½ ৫ 𝟘 Ⅷ"]), (r"\D", ["1²٣"]), (r"\s", ["a\x1c\x1d\x1e\x1fb\x85c\xa0d\u200be\u3000f\ufeff\u180e"]), (r"\S+", ["a\x1cb c"]),
    (r"\b", ["", "a", "a b", "हा", "½", " "]), (r"\B", ["", "a", "a b", "ab", "  "]), (r"\bthe\b", ["the then other the", "thé the"]),
    (r"(?a)\w+", ["aé1_٣"]), (r"(?a)\bé", ["éa aé é"]), (r"(?a)\s", ["a\xa0b\x1cc d"]), (r"(?a)\d", ["1٣"]), (r"(?a:\w)+\w", ["abé éa"]),
    (r"[^\W\d_]+", ["abc1_é ²½x"]), (r"[\w-]+", ["a-b c"]), (r"[\s\S]", ["a\n"]), (r"[^\s]", ["\x1ca"]), (r"(?u)\w", ["é"]),
    # Sets.
    ("[[:punct:]]", ["a:]p] u]n", "[]:]"]), ("[a&&b]", ["a&b"]), ("[a--b]", ["abc"]), ("[a~~b]", ["a~b"]), ("[a||b]", ["a|b"]),
    ("[]a]", ["]a"]), ("[^]a]", ["]ab"]), ("[a-]", ["a-b"]), ("[-a]", ["a-b"]), (r"[\]]", ["]\\"]), (r"[\b]", ["a\bb b"]), (r"[a\-z]", ["a-z b"]),
    (r"[\d-x]", ["1-x"]), ("[z-a]", ["a"]), ("[", ["["]), ("[]", ["]"]), ("[^]", ["]"]), (r"[\w-z]", ["a"]), ("[{]}", ["{}"]), ("[(|)*.$^]", ["(|)*.$^x"]),
    (r"[\x41-\x43]", ["ABCD"]), (r"[\101\60]", ["A0"]), (r"[\8]", ["8"]), (r"[\400]", ["a"]), (r"[\ud800-\udfff]", ["a\ue000"]), (r"[^\ud800]", ["a"]),
    # Escapes.
    (r"\x41\u00e9\U0001f600", ["Aé😀"]), (r"\x4", ["a"]), (r"\u12", ["a"]), (r"\U00110000", ["a"]), (r"\0", ["a\0b"]), (r"\07", ["\x07"]), (r"\012", ["\n"]),
    (r"\101", ["A"]), (r"\1", ["a"]), (r"\400", ["a"]), (r"(a)\1", ["aa"]), (r"(a)\11", ["aa1"]), (r"(a)\111", ["aI"]), (r"(a)\0111", ["a\t1"]), (r"\a\f\v\t\r", ["\x07\x0c\x0b\t\r"]),
    (r"\y", ["a"]), (r"\e", ["a"]), (r"\é", ["é"]), ("\\", ["a"]), (r"\-\ \#\!", ["- #!"]), (r"\_", ["_"]), (r"\z", ["a"]), (r"\G", ["a"]), (r"\p{L}", ["a"]), (r"\h", ["a"]), (r"\Q", ["a"]),
    # Repetitions.
    ("a{,2}", ["aaaa", ""]), ("a{2}", ["aaaaa"]), ("a{2,}", ["a aaa"]), ("a{1,2}?", ["aaa"]), ("a{2,1}", ["a"]), ("a{", ["a{"]), ("a{1", ["a{1"]), ("a{}", ["a{}"]), ("a{,}", ["aa"]), ("{", ["{"]), ("a{x}", ["a{x}"]),
    ("a{1,x}", ["a{1,x}"]), ("x{0}y", ["xy"]), ("*", ["a"]), ("a**", ["a"]), ("a*?", ["aa"]), ("a*+", ["aab"]), ("a*+a", ["aa"]), ("a++b", ["aab"]), ("a?+a", ["a", "aa"]), ("a{1,2}+a", ["aa", "aaa"]), ("a+?b", ["aab"]),
    ("^*", ["a"]), (r"\b*", ["a"]), ("(?=a)*", ["a"]), ("(?:^)*", ["a"]), ("(|a)*", ["aa"]), ("(|a)+", ["aa"]), ("(a|)*b", ["aab"]), ("(?:a*)*", ["aab"]), ("(?:a*)+", ["baa"]), ("(?:a?)*?b", ["aab"]), ("(?:a?){3}", ["aa"]), ("(a*)*", ["b"]), ("(a*?)*b", ["aab"]),
    ("(?:ab?)*+b", ["abab", "abb"]), ("(?:a|ab)*+c", ["abc", "aac"]), ("(?:a|ab)(?:c|bcd)(?:d*)", ["abcd"]), ("x*", ["abxd", ""]), ("|a", ["aa"]), ("a|", ["aba"]), ("a*?", ["baa"]), ("(?:)*", ["a"]), ("(?>a*)", ["aba"]), ("(?>a|ab)c", ["abc", "ac"]),
    ("a{99999999999}", ["a"]), ("(?:a{2}){2}", ["aaaaa"]), ("(?:ab){1,2}?c", ["ababc"]),
    # Look-around, references, conditions.
    (r"(?<=a)b", ["ab bb"]), (r"(?<!a)b", ["ab bb"]), (r"a(?=b)", ["ab ac"]), (r"a(?!b)", ["ab ac"]), (r"(?<=a|bc)d", ["ad"]), (r"(?<=a+)d", ["ad"]), (r"(?<=ab|cd)e", ["abe cde ce"]), (r"(?<=^)a", ["aa"]), (r"(?<=\b)a", ["aa a"]), (r"(?<=(a))b\1", ["aba"]), (r"(?<=\1)a", ["a"]), (r"(a)(?<=\1)b", ["ab"]), (r"(?<=(a)\1)b", ["aab"]), ("(?=(a+))a*b\\1", ["baaabac"]), ("(?!(a)b)a", ["ab ac"]),
    (r"(.)\1", ["aabbc"]), (r"(?i)(a)\1", ["aA Aa"]), (r"(?i)(ς)\1", ["ςσ ςΣ"]), (r"(?P<x>a)(?P=x)", ["aa"]), (r"(?P<x>a)(?P=y)", ["aa"]), (r"(?P<1>a)", ["a"]), (r"(?P<x>a)(?P<x>b)", ["ab"]), (r"(?P=x)", ["a"]), (r"(a\1)", ["a"]), (r"(?P<x>a(?P=x))", ["a"]), (r"(?<x>a)", ["a"]), (r"(?P>x)", ["a"]), (r"(?P<é>a)", ["a"]), (r"(?P<x", ["a"]), (r"(?P<>a)", ["a"]),
    (r"(a)?(?(1)b|c)", ["ab c b ac"]), (r"(?P<q>')?x(?(q)')", ["'x' x 'x"]), (r"(?(1)a|b)", ["a"]), (r"(?(0)a)", ["a"]), (r"(a)(?(1)b|c|d)", ["ab"]), (r"(?(x)a)", ["a"]), (r"(a)|b(?(1)c|d)", ["bd bc"]), (r"(?:(a)|b)*\1", ["aba ab"]), (r"(a)|b\1", ["b ba"]), (r"(?(1)b|c)(a)", ["ca"]),
    # Flags and comments.
    ("(?i)straße", ["STRAßE STRASSE STRAẞE"]), ("(?i)s", ["sSſ"]), ("(?i)ſ", ["sSſ"]), ("(?i)k", ["kK\u212a"]), ("(?i)\u212a", ["kK\u212a"]), ("(?i)i", ["iIİı"]), ("(?i)İ", ["iIİı"]), ("(?i)ı", ["iIİı"]), ("(?i)µ", ["µμΜ"]), ("(?i)σ", ["σςΣ"]), ("(?i)[^σ]", ["σςΣa"]), ("(?i)ß", ["ßẞ"]), ("(?i)ﬅ", ["ﬅﬆ"]), ("(?i)[a-z]+", ["aZſ\u212aİıé"]), ("(?i)[^a-z]", ["aZſ\u212aİı1"]), ("(?i)[Ā-ſ]", ["sSāĀsk"]), ("(?ia)s", ["sſS"]), ("(?ai)[a-z]", ["\u212aKſ"]), ("(?i)ǆ", ["ǄǅǆDŽ"]), ("(?i)𐐀", ["𐐀𐐨"]), ("(?i)[𐐀-𐐂]", ["𐐨𐐩𐐫"]), ("(?i)д", ["Ддᲁ"]), ("(?i)ͅ", ["ͅιΙι"]), ("(?i)ꭰ", ["Ꭰꭰ"]), ("(?i)[\\W]", ["aA-"]), ("(?i)ᾳ", ["ᾳᾼ"]), ("(?i)θ", ["θϑΘϴ"]), ("(?i)\u01c5", ["ǄǅǆDŽ"]),
    ("(?i:a)b", ["AB Ab"]), ("(?-i:a)b", ["ab"]), ("(?i)(?-i:a)b", ["aB AB"]), ("a(?i)b", ["ab"]), ("(?i)a|B", ["Ab"]), ("a|(?i)b", ["aB"]), ("(?x) a b # comment\n c", ["abc a b"]), ("(?x)a\\ b [ ]", ["a b "]), ("(?x: a ) b", ["a b"]), ("(?x)a # \\\n b", ["ab a"]), ("(?x)(?-x: a)", [" a"]), ("(?x) a +", ["aa"]), ("(?x)a{ 2}", ["a{2}"]), ("(?x)( ?: a)", ["a"]), (" (?x)a", ["a"]), ("(?i)(?m)^a", ["b\nA"]), ("(?im)^a", ["b\nA"]),
    ("(?#x)a", ["a"]), ("a(?#x)*", ["aa"]), ("(?#x", ["a"]), ("(?#)(?i)a", ["A"]), ("(?L)a", ["a"]), ("(?au)a", ["a"]), ("(?i-i:a)", ["a"]), ("(?-a:a)", ["a"]), ("(?z)a", ["a"]), ("(?i", ["a"]), ("(?", ["a"]), ("(?s-i:.)", ["\n"]), ("(?-:a)", ["a"]), ("(?i-)a", ["a"]), ("(?m-s:^.)", ["a\n\nb"]), ("(?u:\\w)(?a:\\w)", ["éa éé"]),
    ("(", ["a"]), (")", ["a"]), ("(a", ["a"]), ("a)", ["a"]), ("()", ["a"]), ("(?:)", ["a"]), ("", ["", "ab"]), ("a|b|", ["abc"]), ("||", ["a"]), ("(?=)", ["a"]), ("(?!)", ["a"]), ("(?!a)", ["ab"]), ("a.c", ["abc a\nc aéc a😀c"]), ("😀+", ["😀😀a"]), ("\ufeff", ["\ufeffa"]), ("a\0b", ["a\0b"]),
    # What people ignore in answers.
    (r"\b(a|an|the)\b", ["the cat and a dog, an ant; athe", "A the\nthe"]), (r"[^\w\s]", ["Hello, world! it's ½ – €5"]), (r"(?i)\banswer\s*:\s*", ["Answer : 5", "the answer:\n7"]), (r"^\s*|\s*$", ["  a b \n", "\n"]), (r"#### (\-?[0-9\.\,]+)", ["so #### -1,234.5", "####7"]), (r"\.$", ["42.", "42.\n", "4.2"]), (r"(?s)<think>.*?</think>", ["<think>a\nb</think>42", "<think>a"]), (r"\\boxed\{(.*?)\}", [r"so \boxed{42} and \boxed{7}"]), (r"[$€£]", ["$5 €6"]), (r"(?<=\d),(?=\d)", ["1,234,567 a,b 1, 2"]), (r"\s+", ["a \t\n\x1f b"]), (r"(\w)\1{2,}", ["soooo goood aab"]),
]

TEXTS = "ab b\nA1_é -½ǆ\u0301]"


def random_part(rng, depth, groups):
    kind = rng.randrange(22 if depth < 3 else 9)
    if kind < 4:
        return rng.choice("aabbA1_é½ -")
    if kind == 4:
        return rng.choice([".", r"\w", r"\W", r"\s", r"\S", r"\d", r"\D", r"\n"])
    if kind in (5, 6):
        items = rng.choices(["a", "b", "A-Z", "a-b", r"\w", r"\W", r"\s", r"\d", "é", "½", "&&", "]", "^", "-", "_"], k=rng.randint(1, 3))
        return "[" + rng.choice(["", "", "^"]) + "".join(items) + "]"
    if kind == 7:
        return rng.choice(["^", "$", r"\b", r"\B", r"\A", r"\Z"])
    if kind == 8:
        return rng.choice(["", r"\1", "a", "b"]) if groups else "a"
    inner = random_pattern(rng, depth + 1, groups)
    if kind < 13:
        groups.append(1)
        return f"({inner})"
    if kind < 16:
        return f"(?:{inner})"
    return rng.choice(["(?=%s)", "(?!%s)", "(?<=%s)", "(?<!%s)", "(?>%s)", "(?i:%s)", "(?a:%s)", "(?s:%s)", "(?(1)%s|b)", "(?m:%s)"]) % inner


def random_pattern(rng, depth, groups):
    branches = []
    for _ in range(rng.choice([1, 1, 1, 2])):
        parts = []
        for _ in range(rng.randint(1, 3)):
            part = random_part(rng, depth, groups)
            parts.append(part + rng.choice(["", "", "", "", "*", "+", "?", "*?", "+?", "??", "*+", "?+", "{2}", "{,2}", "{1,2}?", "{1,}"]))
        branches.append("".join(parts))
    return "|".join(branches)


def positions(text, match):
    return match and [len(text[:index].encode()) for index in match.span()]


def row(name, pattern, text):
    try:
        compiled = re.compile(pattern)
    except (re.error, OverflowError):
        return {"id": name, "pattern": pattern, "text": "", "error": True}
    return {"id": name, "pattern": pattern, "text": text, "search": positions(text, compiled.search(text)), "sub": compiled.sub("<>", text)}


def rows():
    for number, (pattern, texts) in enumerate(BY_HAND):
        for index, text in enumerate(texts):
            yield row(f"hand-{number}-{index}", pattern, text)
    rng = random.Random(14)
    # Characters of all planes, of which newer versions of Unicode know more.
    for index in range(12):
        text = "".join(chr(rng.choice([rng.randrange(0xd800), rng.randrange(0xe000, 0x32000), rng.randrange(0x3000)])) for _ in range(300))
        text = "".join(char for char in text if not 0xd800 <= ord(char) < 0xe000)
        for name, pattern in [("w", r"\w"), ("s", r"\s"), ("d", r"\d"), ("b", r"\b"), ("i", f"(?i)[{re.escape(text[:40].lower())}]")]:
            yield row(f"chars-{name}-{index}", pattern, text)
    made, refused = 0, 0
    while made < 1000:
        pattern = rng.choice(["", "", "", "(?i)", "(?m)", "(?s)", "(?x)", "(?a)"]) + random_pattern(rng, 0, [])
        text = "".join(rng.choices(TEXTS, k=rng.randint(0, 9)))
        found = row(f"random-{made}", pattern, text)
        refused += "error" in found
        if "error" not in found or refused < 100:
            made += 1
            yield found


print(json.dumps({"_about": {"source": "re of CPython 3.11.7, Unicode 14.0, by python_re.py", "licence": "made for this project"}}))
for made in rows():
    print(json.dumps(made, ensure_ascii=True))
