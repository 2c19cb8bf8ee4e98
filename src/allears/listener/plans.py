"""Plans whose day has passed: "My interview is on Friday.", said on Tuesday, can be asked about from Saturday on.

A small exact reader of the days that people name: weekdays, tomorrow, "in two weeks", "on the 14th", "June 3",
"next month". What it cannot place on one day or in one month is no plan.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Mapping
from datetime import date, timedelta

from allears.conversation import Persona, PersonaSentence

LATEST = 14  # days after its day that a plan can still be asked about

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_COUNTS = {
    word: number
    for number, word in enumerate(
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"], 1
    )
} | {"a": 1, "an": 1, "a couple of": 2}
_DAY = r"(?P<weekday>mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?"
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)"
)
_NTH = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_SPAN = rf"(?:{'|'.join(_DAYS)}|{'|'.join(_MONTHS)}|night|week|weekend|month|year|spring|summer|autumn|fall|winter)"
_DAYS_AGAIN = "|".join(f"{day}s" for day in _DAYS)
_COUNT = r"(?P<count>\d{1,2}|a couple of|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(r"\b(?:" + text + r")\b", re.IGNORECASE)


_ISO = _pattern(r"(?P<year>\d{4})-(?P<number>\d{2})-(?P<day>\d{2})")
_DAY_OF_MONTH = _pattern(rf"{_NTH}(?: of)? {_MONTH}(?:,? (?P<year>\d{{4}}))?")
_MONTH_DAY = _pattern(rf"{_MONTH}(?: the)? {_NTH}(?:,? (?P<year>\d{{4}}))?")
_THE_NTH = _pattern(
    r"(?:on |until |for |by )?the (?P<day>\d{1,2})(?:st|nd|rd|th)(?! (?:time|birthday|floor|grade|year|century))"
)
_AFTER_TOMORROW = _pattern(r"(?:the )?day after tomorrow")
_TOMORROW = _pattern(r"tomorrow|tmrw|tmr|2moro|2morrow")
_TODAY = _pattern(r"today|tonight|this (?:morning|afternoon|evening)|later on today")
_IN_DAYS = _pattern(rf"in {_COUNT} (?P<unit>day|week|month)s?(?:'? time)?")
_FROM_NOW = _pattern(rf"{_COUNT} (?P<unit>day|week|month)s? from (?:now|today)")
_NEXT_MONTH = _pattern(r"next month")
_NEXT_WEEK = _pattern(r"next week(?:end)?")
_THIS = _pattern(r"(?:this|at the|on the) weekend|the weekend")
_WEEK_OF = _pattern(rf"{_DAY} (?P<next>next week)|(?:a )?week on {_DAY.replace('?P<weekday>', '?P<later>')}")
_WEEKDAY = _pattern(
    rf"(?:(?P<which>this|next|coming|on|by|until|for)\s+(?:coming )?)?"
    rf"(?P<weekday>{'|'.join(_DAYS)}|mon|tues?|wed|thurs?|fri)"
    r"(?!'s)"
)
_IN_MONTH = _pattern(rf"(?:in|this|next|by|until|early|late|mid) {_MONTH}(?: (?P<year>\d{{4}}))?")
_EVENT = (
    "interview|exam|test|appointment|date|meeting|audition|trial|shift|wedding|funeral"
    "|operation|surgery|scan|flight"
)
# A day that comes again and again, or has been, is no plan.
_AGAIN = _pattern(rf"every|each|always|usually|{_DAYS_AGAIN}|(?:last|past) {_SPAN}|yesterday|ago|since")
_PAST = _pattern(
    r"(?:i|we|he|she|they|it) (?:was|were|had|went|did|saw|met|lost|left|failed|passed|started|came|moved|died)"
    rf"|(?:i|we|he|she|they) got (?!(?:an?|my|our) (?:\w+ )?(?:{_EVENT}))"
    r"|died|was born|got married|broke up|happened|turned|was|were"
)
# "3 may" is a day only where something says so: "all 3 may come"
_PERHAPS = re.compile(
    r"(?:on|by|until|for|due) \d{1,2} (?:may|mar|march)$|\d(?:st|nd|rd|th)|\bof\b", re.IGNORECASE
)


def due(persona: Persona, today: date, said_on: Mapping[str, date]) -> PersonaSentence | None:
    """The plan whose day passed last, at most `LATEST` days ago; None where there is none.

    Args:
        said_on: By a note's source ("turn 3") or by its text, the day it was said. A note without one is no plan.
    """
    passed: list[tuple[date, int, PersonaSentence]] = []
    for number, note in enumerate(persona.sentences):
        said = said_on.get(note.source) or said_on.get(note.text)
        planned = None if said is None else day_of(note.text, said)
        if planned is not None and timedelta(0) < today - planned <= timedelta(LATEST):
            passed.append((planned, number, note))
    return max(passed, key=lambda plan: plan[:2])[2] if passed else None


def day_of(note: str, said: date) -> date | None:
    """The last day of what a note speaks of as to come, by the day it was said; None where it names none."""
    text = " ".join(note.replace("’", "'").split())
    if _AGAIN.search(text) or _PAST.search(text):
        return None
    for reader in (_dates, _near_days, _weeks, _weekdays, _months):
        if (found := reader(text, said)) is not None:
            return found if found >= said else None
    return None


def _dates(text: str, said: date) -> date | None:
    if match := _ISO.search(text):
        return _on(int(match["year"]), int(match["number"]), int(match["day"]))
    if match := _day_of_month(text) or _MONTH_DAY.search(text):
        month, day = _month(match["month"]), int(match["day"])
        if match["year"]:
            return _on(int(match["year"]), month, day)
        both = (_on(said.year, month, day), _on(said.year + 1, month, day))
        return next((each for each in both if each is not None and each >= said), None)
    if match := _THE_NTH.search(text):
        day = int(match["day"])
        for ahead in range(12):  # the next month that has that day
            year, month = _ahead(said, ahead)
            found = _on(year, month, day)
            if found is not None and found >= said:
                return found
    return None


def _day_of_month(text: str) -> re.Match[str] | None:
    match = _DAY_OF_MONTH.search(text)
    if match is None or not match["month"].lower().startswith("ma"):
        return match
    return match if _PERHAPS.search(text[max(0, match.start() - 6) : match.end()]) else None


def _near_days(text: str, said: date) -> date | None:
    for pattern, days in ((_AFTER_TOMORROW, 2), (_TOMORROW, 1), (_TODAY, 0)):
        if pattern.search(text):
            return said + timedelta(days)
    return None


def _weeks(text: str, said: date) -> date | None:
    monday = said - timedelta(said.weekday())
    if match := _WEEK_OF.search(text):
        weekday = _weekday(match["weekday"] or match["later"])
        return monday + timedelta(7 + weekday) if match["next"] else _coming(said, weekday) + timedelta(7)
    if match := _IN_DAYS.search(text) or _FROM_NOW.search(text):
        count = _COUNTS.get(match["count"].lower()) or int(match["count"])
        if match["unit"].lower() == "month":
            year, month = _ahead(said, count)
            return date(year, month, min(said.day, monthrange(year, month)[1]))
        return said + timedelta(count * (7 if match["unit"].lower() == "week" else 1))
    if _NEXT_MONTH.search(text):
        return _month_end(*_ahead(said, 1))
    if _NEXT_WEEK.search(text):
        return monday + timedelta(13)  # its Sunday
    return monday + timedelta(6) if _THIS.search(text) else None


def _weekdays(text: str, said: date) -> date | None:
    match = _WEEKDAY.search(text)
    if match is None:
        return None
    coming = _coming(said, _weekday(match["weekday"]))
    in_this_week = coming - timedelta(coming.weekday()) == said - timedelta(said.weekday())
    # "next friday", said on a Tuesday, is for most the one of next week
    return coming + timedelta(7) if (match["which"] or "").lower() == "next" and in_this_week else coming


def _months(text: str, said: date) -> date | None:
    match = _IN_MONTH.search(text)
    if match is None:
        return None
    month = _month(match["month"])
    return _month_end(int(match["year"] or said.year + (month < said.month)), month)


def _coming(said: date, weekday: int) -> date:
    """The next such day after the day it was said."""
    return said + timedelta((weekday - said.weekday() - 1) % 7 + 1)


def _weekday(name: str) -> int:
    return next(number for number, day in enumerate(_DAYS) if day.startswith(name.lower()[:3]))


def _month(name: str) -> int:
    return next(number for number, month in enumerate(_MONTHS, 1) if month.startswith(name.lower()[:3]))


def _ahead(said: date, months: int) -> tuple[int, int]:
    years, month = divmod(said.month - 1 + months, 12)
    return said.year + years, month + 1


def _month_end(year: int, month: int) -> date | None:
    return _on(year, month, monthrange(year, month)[1]) if 1 <= year <= 9998 else None


def _on(year: int, month: int, day: int) -> date | None:
    if not (1 <= year <= 9998 and 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]):
        return None
    return date(year, month, day)
