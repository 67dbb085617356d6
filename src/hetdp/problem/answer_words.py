"""The words for the two answers of a question, and the sentences about an answer: one place for all of them.

Records, promises, odds, pictures, the studio and the command line take these words from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hetdp.errors import UsageError
from hetdp.text import escape_unprintable, format_value

YES, NO = YES_AND_NO = ("yes", "no")  # answers 1 and 2 of a question about people
KEYS = ("answer_1", "answer_2")  # of a problem's `about`
ABOUT_KEYS = ("title", *KEYS, "change", "privacy_unit", "neighbour_relation", "privacy")  # all of them
NUMBERED_ANSWERS = ("answer 1", "answer 2")  # answers that have no words of their own
BARE_NUMBERS = ("1", "2")  # the same after the words "the answer is"
TITLE = "title"
WORDING_KEYS = (TITLE, *KEYS)  # the words that a question to a table may have
LONGEST_WORDS = 200  # characters of a title, or of the words for an answer


def answer_words(about: Mapping[str, Any], unnamed: tuple[str, str] = NUMBERED_ANSWERS) -> tuple[str, str]:
    """The words for answers 1 and 2 of a problem.

    Args:
        about: the words of the problem.
        unnamed: what to call answers that have no words.

    >>> answer_words({"answer_1": "adopted"}), answer_words({}, BARE_NUMBERS)
    (('adopted', 'answer 2'), ('1', '2'))
    """
    one, two = (escape_unprintable(str(about.get(key) or other)) for key, other in zip(KEYS, unnamed, strict=True))
    return one, two


def require_wording(title: Any = None, yes: Any = None, no: Any = None) -> dict[str, str]:
    """The words of a question to a table, by the keys of a problem's `about`; without those that are not given.

    Args:
        title: the question in the words of those who ask.
        yes: what the answer yes means.
        no: what the answer no means.

    Raises:
        UsageError: one is not a text on one line, is too long, or confuses yes with no.

    >>> require_wording("May dogs run free?", yes="They may")
    {'title': 'May dogs run free?', 'answer_1': 'They may'}
    """
    given = {"title": title, "yes": yes, "no": no}
    for argument, text in given.items():
        if text is not None and not (
            isinstance(text, str)
            and text.strip()
            and len(text) <= LONGEST_WORDS
            and escape_unprintable(text) == text.replace("\xa0", " ").replace("\u202f", " ")
        ):
            rule = f"it must be a text of at most {LONGEST_WORDS} characters on one line, without control characters"
            raise UsageError(f"{argument}={format_value(text)}", rule)
    found = {key: text.strip() for key, text in zip(WORDING_KEYS, given.values(), strict=True) if text is not None}
    one, two = (" ".join(found.get(key, word).split()).casefold() for key, word in zip(KEYS, YES_AND_NO, strict=True))
    if one in (two, NO) or two == YES:
        rule = "the words for the two answers must not be confused with each other"
        words = [f"{name}={format_value(text)}" for name, text in (("yes", yes), ("no", no)) if text is not None]
        raise UsageError(" together with ".join(words), rule)
    return found


def answer_name(words: str, answer: int) -> str:
    """An answer to a question about people, in the words that it was given and as yes or no.

    >>> answer_name("They may", 1), answer_name("no", 2)
    ('They may (yes)', 'no')
    """
    plain = YES_AND_NO[answer - 1]
    return plain if words.casefold() == plain else f"{words} ({plain})"


def quote_answer(words: str) -> str:
    """An answer inside a sentence, in quotation marks if it has words of its own.

    >>> quote_answer("no"), quote_answer("They may move")
    ('no', '“They may move”')
    """
    return words if words in (*YES_AND_NO, *NUMBERED_ANSWERS, *BARE_NUMBERS) else f"“{words}”"


def yes_or_no(answer: bool) -> str:
    """An answer about people in words."""
    return YES if answer else NO


def constant_words(answer: str, of: str = "table") -> str:
    """The sentence about an answer that does not depend on the data.

    >>> constant_words("no")
    'The answer is the same for every table: no. It uses no randomness and costs no privacy.'
    """
    return f"The answer is the same for every {of}: {answer}. It uses no randomness and costs no privacy."


def constant_odds(answer: str, condition: str = "the data is") -> str:
    """The odds of an answer that does not depend on the data.

    >>> constant_odds("yes", "you answer")
    'Whatever you answer, the published answer is yes.'
    """
    return f"Whatever {condition}, the published answer is {answer}."


def margin_words(margin: int) -> str:
    """The tables of a margin: how many people must change their answers before the answer changes.

    >>> margin_words(1), margin_words(2000)
    ('where 1 person decides', 'where it takes 2,000 people to change it')
    """
    return "where 1 person decides" if margin == 1 else f"where it takes {margin:,} people to change it"


def right_answer_words(where: str, answer: str) -> str:
    """A situation with the answer that is right there; `split_right_answer` takes it off again.

    >>> right_answer_words("if 45% count as yes (180 of 400)", "no"), right_answer_words("if all answer", "yes")
    ('if 45% count as yes (180 of 400; no is right)', 'if all answer (yes is right)')
    """
    return f"{where[:-1]}; {answer} is right)" if where.endswith(")") else f"{where} ({answer} is right)"


def split_right_answer(where: str) -> tuple[str, str]:
    """A situation, and the answer that is right there; empty if it says none.

    >>> split_right_answer("if 45% count as yes (180 of 400; no is right)")
    ('if 45% count as yes (180 of 400)', 'no')
    >>> split_right_answer("where 1 person decides")
    ('where 1 person decides', '')
    """
    for answer in YES_AND_NO:
        for ending, closing in ((f"; {answer} is right)", ")"), (f" ({answer} is right)", "")):
            if where.endswith(ending):
                return where.removesuffix(ending) + closing, answer
    return where, ""
