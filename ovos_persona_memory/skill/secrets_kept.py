"""Secrets: kept after a question and a clear yes, and told only where nobody else may hear."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import partial

from ovos_persona_memory.errors import PersonaMemoryError, StoreError
from ovos_persona_memory.protocol import Addressed, MemoryClient
from ovos_persona_memory.records import Hit
from ovos_persona_memory.skill.intent_matching import MatchedIntent
from ovos_persona_memory.skill.phrasing import agrees, own_words
from ovos_persona_memory.skill.turn_context import AGAIN_S, QuestionEndings, TurnContext
from ovos_persona_memory.text import (
    Language,
    fold,
    languages,
    lexicon,
    speaks_of_secret,
    statement_asked_about,
    time_expressions,
)

# every dialog of this module begins with "secret": what is said under these names is logged without its words
LOOKED_AT = 3
"""Memories at most that are considered for an answer."""


# requests to remember a secret


def offer(talk: TurnContext, keep: Callable[[TurnContext], object]) -> None:
    """Ask whether a secret is to be kept; it exists in the question alone until then. ``keep`` is called after a
    yes."""
    talk.moment.items = []  # it is not read out or corrected, and has no provenance to ask for
    if talk.client.status().get("secrets", {}).get("offer"):
        talk.ask("secret_ask", lambda reply: _answered(reply, keep), _OFFERED)
    else:
        talk.say("not_kept_secret")


def _answered(reply: TurnContext, keep: Callable[[TurnContext], object]) -> None:
    agreed = agrees(reply.said.text, reply.spoken)
    if not agreed:
        reply.say("secret_unclear" if agreed is None else "secret_not_kept")
        return
    try:
        keep(reply)
    except StoreError:
        reply.say("not_stored")
        return
    reply.moment.items = []
    reply.say("secret_kept")


def _is_reply(reply: TurnContext) -> bool:
    """Whether it is a yes or a no, or at least no new question or command."""
    if agrees(reply.said.text, reply.spoken) is not None:
        return True
    return not (reply.spoken.is_question(reply.said.text) or reply.spoken.is_command(reply.said.text))


_OFFERED = QuestionEndings("secret_silence", "secret_not_kept", "secret_unclear", _is_reply)


# questions for a secret


class SecretLookup:
    """Decides quickly whether an utterance is about a kept secret: other skills wait for the decision.

    After an answer that did not come in time nothing is asked for a while.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._again_at = 0.0

    def answers(self, said: Addressed, client: MemoryClient) -> bool:
        """Whether a kept secret of the asker answers the question."""
        spoken = languages.for_language(said.lang)
        return self._is_there(client, spoken, _forms(_asked(said.text, spoken), spoken))

    def meant(self, said: Addressed, understood: MatchedIntent | None, client: MemoryClient) -> MatchedIntent | None:
        """The intent; "forget the wifi password", which other skills may own, is ours where it names a kept secret."""
        spoken = languages.for_language(said.lang)
        if understood is not None and (understood.intent != "forget_time" or _names_time(said, spoken, self._clock())):
            return understood
        topic = _to_forget(said.text, spoken)
        named = [topic] if topic and speaks_of_secret(topic, spoken.tag) else []  # no "delete the alarm"
        is_kept = self._is_there(client, spoken, named)
        return MatchedIntent("forget_about", {"topic": topic}) if is_kept else understood

    def _is_there(self, client: MemoryClient, spoken: Language, forms: Iterable[str]) -> bool:
        if self._clock() < self._again_at:
            return False
        try:
            return _best(forms, spoken, client, withheld=True) is not None
        except PersonaMemoryError:
            self._again_at = self._clock() + AGAIN_S
            return False


def tell(talk: TurnContext) -> bool:
    """Answer with the secret that was asked for, or say that it is not told here; whether there was one."""
    forms = _forms(_asked(talk.said.text, talk.spoken), talk.spoken)
    try:
        found = _best(forms, talk.spoken, talk.client, talk.is_overheard)
    except PersonaMemoryError:
        return False
    if found is None:
        return False
    talk.moment.items = []
    if found.text:
        talk.say("secret_told", text=own_words(found.text, talk.spoken))
    else:
        talk.say("not_aloud")
    return True


def _asked(text: str, spoken: Language) -> str:
    """The question without the verb between the question word and the secret: "(wie) lautet (das passwort)"; empty
    where it is no question."""
    asked = statement_asked_about(text, spoken.tag) or (text if spoken.is_question(text) else "")
    copulas = lexicon.for_language(spoken.tag).opening("secret_is")
    small = (word for word in asked.split() if not (spoken.content_words(word) and copulas.issuperset(fold(word))))
    return " ".join(small)


def _best(forms: Iterable[str], spoken: Language, client: MemoryClient, withheld: bool) -> Hit | None:
    """The best memory for the first form of a question of which a memory holds all words, where it is a secret; with
    its text unless others may hear."""
    recall = partial(client.recall, k=LOOKED_AT, kinds={"memory"}, lang=spoken.tag)
    for form in forms:
        hits = recall(form, secrets=not withheld, withheld=withheld)
        if hits and hits[0].answers:
            return hits[0] if hits[0].secret else None
    return None


def _forms(question: str, spoken: Language) -> Iterator[str]:
    """The question, and the same without the word for a code: "the bike lock (code)", of which "opens with" was
    told."""
    if not question:
        return
    yield question
    known = lexicon.for_language(spoken.tag)
    kinds = {phrase for name in ("code", "secret") for phrase in known.lists.get(name, ()) if " " not in phrase}
    left = " ".join(word for word in question.split() if not kinds.issuperset(fold(word)))
    if left != question and spoken.content_words(left):
        yield left


# requests to forget a secret


def _names_time(said: Addressed, spoken: Language, at: float) -> bool:
    return (
        time_expressions.parse_time_span(
            said.text, spoken, datetime.fromtimestamp(at, time_expressions.zone(said.zone))
        )
        is not None
    )


def _to_forget(text: str, spoken: Language) -> str:
    """The object of "forget" and its like, without a "please" behind it; empty where the text begins otherwise."""
    for name in ("polite_start.voc", "forget_start.voc"):
        words = text.split()
        sizes = [len(phrase.split()) for phrase in spoken.phrases(name) if _begins(words, phrase)]
        if not sizes and name == "forget_start.voc":
            return ""
        text = " ".join(words[max(sizes, default=0) :])
    for phrase in spoken.phrases("polite_end.voc"):
        text = text.strip(" .!,").removesuffix(f" {phrase}")
    return text.strip(" .!,")


def _begins(words: list[str], phrase: str) -> bool:
    return fold(" ".join(words[: len(phrase.split())])) == fold(phrase)
