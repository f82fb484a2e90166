"""Languages, tokens, stemming, word lists, dates and times, and the detection of secrets."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ovos_persona_memory.text import index_terms, languages, lexicon, time_expressions
    from ovos_persona_memory.text.content import (
        is_pointing,
        is_sentence,
        is_small_talk,
        names_nothing_to_keep,
        names_role,
        prepositions,
        request_words_without_content,
        telling_words,
    )
    from ovos_persona_memory.text.continuation import continues
    from ovos_persona_memory.text.counting import counted, counted_kinds
    from ovos_persona_memory.text.forget_requests import (
        ForgetClause,
        forbids_forgetting,
        forget_clause,
        states_forgetting,
    )
    from ovos_persona_memory.text.index_terms import fold
    from ovos_persona_memory.text.inflection import says_another_word
    from ovos_persona_memory.text.languages import Language, beginning
    from ovos_persona_memory.text.lexicon import Lexicon
    from ovos_persona_memory.text.planned_days import ComingDays, coming_days, words_naming
    from ovos_persona_memory.text.quotation import is_long, is_worth_checking, until_its_end
    from ovos_persona_memory.text.revision import (
        Correction,
        asks_to_delete,
        correction_in,
        denial_in,
        denied_in,
        denies,
        moved_at,
        retraction_in,
        revised,
        subject_of,
        value_kinds,
    )
    from ovos_persona_memory.text.secret_detection import (
        SAID,
        SHORTEST_CODE,
        Spot,
        contains_secret,
        refuse_secret,
        speaks_of_secret,
        spots,
        tells_secret,
    )
    from ovos_persona_memory.text.tag_questions import (
        begins_with_subject,
        holds_question_word,
        opens_question,
        statement_asked_about,
    )
    from ovos_persona_memory.text.time_expressions import Dates, DaySpan, named_days
    from ovos_persona_memory.text.tokens import Tokens

__all__ = [
    "SAID",
    "SHORTEST_CODE",
    "ComingDays",
    "Correction",
    "Dates",
    "DaySpan",
    "ForgetClause",
    "Language",
    "Lexicon",
    "Spot",
    "Tokens",
    "asks_to_delete",
    "beginning",
    "begins_with_subject",
    "coming_days",
    "contains_secret",
    "continues",
    "correction_in",
    "counted",
    "counted_kinds",
    "denial_in",
    "denied_in",
    "denies",
    "fold",
    "forbids_forgetting",
    "forget_clause",
    "holds_question_word",
    "index_terms",
    "is_long",
    "is_pointing",
    "is_sentence",
    "is_small_talk",
    "is_worth_checking",
    "languages",
    "lexicon",
    "moved_at",
    "named_days",
    "names_nothing_to_keep",
    "names_role",
    "opens_question",
    "prepositions",
    "refuse_secret",
    "request_words_without_content",
    "retraction_in",
    "revised",
    "says_another_word",
    "speaks_of_secret",
    "spots",
    "statement_asked_about",
    "states_forgetting",
    "subject_of",
    "telling_words",
    "tells_secret",
    "time_expressions",
    "until_its_end",
    "value_kinds",
    "words_naming",
]

_PLACES = {
    "ComingDays": "ovos_persona_memory.text.planned_days",
    "coming_days": "ovos_persona_memory.text.planned_days",
    "words_naming": "ovos_persona_memory.text.planned_days",
    "Correction": "ovos_persona_memory.text.revision",
    "Dates": "ovos_persona_memory.text.time_expressions",
    "DaySpan": "ovos_persona_memory.text.time_expressions",
    "ForgetClause": "ovos_persona_memory.text.forget_requests",
    "Language": "ovos_persona_memory.text.languages",
    "SAID": "ovos_persona_memory.text.secret_detection",
    "SHORTEST_CODE": "ovos_persona_memory.text.secret_detection",
    "Spot": "ovos_persona_memory.text.secret_detection",
    "Lexicon": "ovos_persona_memory.text.lexicon",
    "Tokens": "ovos_persona_memory.text.tokens",
    "begins_with_subject": "ovos_persona_memory.text.tag_questions",
    "opens_question": "ovos_persona_memory.text.tag_questions",
    "holds_question_word": "ovos_persona_memory.text.tag_questions",
    "statement_asked_about": "ovos_persona_memory.text.tag_questions",
    "asks_to_delete": "ovos_persona_memory.text.revision",
    "beginning": "ovos_persona_memory.text.languages",
    "correction_in": "ovos_persona_memory.text.revision",
    "continues": "ovos_persona_memory.text.continuation",
    "counted": "ovos_persona_memory.text.counting",
    "counted_kinds": "ovos_persona_memory.text.counting",
    "denied_in": "ovos_persona_memory.text.revision",
    "moved_at": "ovos_persona_memory.text.revision",
    "denial_in": "ovos_persona_memory.text.revision",
    "denies": "ovos_persona_memory.text.revision",
    "states_forgetting": "ovos_persona_memory.text.forget_requests",
    "forbids_forgetting": "ovos_persona_memory.text.forget_requests",
    "forget_clause": "ovos_persona_memory.text.forget_requests",
    "fold": "ovos_persona_memory.text.index_terms",
    "index_terms": "ovos_persona_memory.text.index_terms",
    "names_role": "ovos_persona_memory.text.content",
    "names_nothing_to_keep": "ovos_persona_memory.text.content",
    "prepositions": "ovos_persona_memory.text.content",
    "is_pointing": "ovos_persona_memory.text.content",
    "is_sentence": "ovos_persona_memory.text.content",
    "is_small_talk": "ovos_persona_memory.text.content",
    "request_words_without_content": "ovos_persona_memory.text.content",
    "telling_words": "ovos_persona_memory.text.content",
    "is_long": "ovos_persona_memory.text.quotation",
    "is_worth_checking": "ovos_persona_memory.text.quotation",
    "until_its_end": "ovos_persona_memory.text.quotation",
    "contains_secret": "ovos_persona_memory.text.secret_detection",
    "languages": "ovos_persona_memory.text.languages",
    "lexicon": "ovos_persona_memory.text.lexicon",
    "named_days": "ovos_persona_memory.text.time_expressions",
    "refuse_secret": "ovos_persona_memory.text.secret_detection",
    "retraction_in": "ovos_persona_memory.text.revision",
    "says_another_word": "ovos_persona_memory.text.inflection",
    "revised": "ovos_persona_memory.text.revision",
    "speaks_of_secret": "ovos_persona_memory.text.secret_detection",
    "spots": "ovos_persona_memory.text.secret_detection",
    "subject_of": "ovos_persona_memory.text.revision",
    "tells_secret": "ovos_persona_memory.text.secret_detection",
    "time_expressions": "ovos_persona_memory.text.time_expressions",
    "value_kinds": "ovos_persona_memory.text.revision",
}
"""From a name to the module that holds it, or that it is: imported when somebody asks for it."""


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(_PLACES[name])
    return getattr(module, name, module)
