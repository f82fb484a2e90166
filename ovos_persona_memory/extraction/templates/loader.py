"""The sentences by which people tell facts: each language's ``facts.templates``, read once, as patterns.

What a pattern captures is given back in the speaker's own spelling.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache, cached_property
from itertools import chain, pairwise

from ovos_persona_memory.extraction.templates.compiler import Compiler
from ovos_persona_memory.extraction.templates.template import PatternMatch, Template
from ovos_persona_memory.text import Lexicon, Tokens, languages, lexicon

SHORT = 8
"""Words at most of an answer to a question."""


@dataclass(frozen=True)
class Templates(Lexicon):
    """All that one language says about facts; empty where it has no file."""

    all: tuple[Template, ...] = ()
    """In the order of the file."""
    by_word: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """The places of the templates that a clause with this word may fit; under the empty word those that fit any."""

    def may_tell(self, text: str, names: Container[str] = (), question: bool = False) -> bool:
        """Whether a clause of the text may fit a template: quickly, and never wrong where it says no.

        ``names``: of people who are known. ``question``: it may answer one.
        """
        words = self.words_of(text)
        if question and len(words.folded) <= SHORT:
            return True
        held = {*words.folded, *self.lists.get("elided_subject", ())}
        if "s" in held:
            held.update(self.lists.get("is", ()))
        if self._may_fit(held):
            return True
        if not held.isdisjoint(self.opening("mine")) and self.has(words, "mine"):
            return True
        if words.folded and len(words.folded) <= SHORT and words.folded[0] in self._again:
            return True
        if not self.introduced.isdisjoint(held) and not held.isdisjoint(self._introducers):
            return True
        if not self._of_others(words.folded, names):
            return False
        return not held.isdisjoint(self.opening("given_name")) or self._may_fit(self._as_own(held))

    def _may_fit(self, held: set[str]) -> bool:
        places = (place for word in (*held, "") for place in self.by_word.get(word, ()))
        return any(not any(held.isdisjoint(words) for words in self.all[place].pattern.needed) for place in places)

    def _of_others(self, held: tuple[str, ...], names: Container[str]) -> bool:
        """Whether somebody is named, or meant by a pronoun beside a verb."""
        if self.third.keys().isdisjoint(held):
            return False
        if not self.people.isdisjoint(held) or any(word in names or word[:-1] in names for word in held):
            return True
        pairs = pairwise(held)
        return any((one in self._pronouns and two in self.third) or one in self._owning for one, two in pairs)

    def _as_own(self, held: set[str]) -> set[str]:
        """The words, and those that somebody would say of themselves in their place."""
        said = {verb for word in held for verb in self.third.get(word, ())}
        return {*held, *said, *self.lists.get("first_my", ())}

    @cached_property
    def _again(self) -> frozenset[str]:
        """What an utterance begins with that may leave out what was said before."""
        own = self.opening("own_one") | (self.opening("elided_subject") if self.again else frozenset())
        return own | (self.opening("listing") if own else frozenset())

    @cached_property
    def _introducers(self) -> frozenset[str]:
        return self.opening("own") | self.opening("whose") | self.opening("kin")

    @cached_property
    def _pronouns(self) -> frozenset[str]:
        return self.opening("he_she")

    @cached_property
    def _owning(self) -> frozenset[str]:
        return self.opening("whose")

    def told(self, clause: Tokens) -> Iterator[PatternMatch]:
        """What the templates take from a clause, those of the file's beginning first; then those that take a part."""
        if not clause.folded:
            return
        first, loose = clause.folded[0], []
        fit = (one for one in self._that_may_fit(frozenset(clause.folded)) if one.pattern.may_begin(first))
        for told in filter(None, (template.told(clause) for template in fit)):
            if told.more:
                loose.append(told)
            else:
                yield told
        yield from loose

    @cached_property
    def _that_may_fit(self) -> Callable[[frozenset[str]], tuple[Template, ...]]:
        """Those that a clause of these words may fit, in any order: most clauses are tried in several."""
        return languages.lru_cached(self._of_words, lexicon.LAST_READ)

    def _of_words(self, held: frozenset[str]) -> tuple[Template, ...]:
        places = sorted({place for word in (*held, "") for place in self.by_word.get(word, ())})
        return tuple(self.all[place] for place in places if self.all[place].may_fit(held))


@languages.computed_once
def for_language(tag: str | None) -> Templates:
    """The templates of a language, BCP-47 tag; empty where it has none."""
    return made_of(lexicon.source(tag), lexicon.for_language(tag))


def made_of(source: lexicon.Source, known: Lexicon) -> Templates:
    """The templates of a file, and its lists; ValueError, with the line, for one that cannot be read."""
    compiler = Compiler(source.lists, known.folded)
    made = tuple(_template(compiler, known.loose, row) for row in source.rows)
    always = frozenset(source.lists.get("elided_subject", ()))
    lists = {one.name: getattr(known, one.name) for one in fields(Lexicon)}
    templates = Templates(**lists, all=made, by_word=_by_rarest_word(made, always))
    vars(templates).update({name: getattr(known, name) for name in lexicon.CACHED})  # made once for both
    return templates


def _template(compiler: Compiler, loose: frozenset[str], row: lexicon.Row) -> Template:
    slot = row.slot
    text, arrow, named = row.line.partition("->")
    more = {"family": frozenset[str](), "name": frozenset[str](), "location": loose - compiler.words("preposition")}
    pattern = compiler.pattern(slot, text)
    return Template(slot, row.ends, pattern, named.strip() if arrow else None, more.get(slot, loose))


def _by_rarest_word(templates: Sequence[Template], always: frozenset[str]) -> dict[str, tuple[int, ...]]:
    """Each template under the words of the one of its needs that the fewest others share.

    ``always``: words that a text is taken to hold, so that they tell nothing.
    """
    shared = Counter(chain.from_iterable(words for one in templates for words in one.pattern.needed))
    found: dict[str, list[int]] = {}

    @cache  # most templates need one of the same few lists
    def often(words: frozenset[str]) -> tuple[bool, int]:
        return not always.isdisjoint(words), sum(map(shared.__getitem__, words))

    for place, one in enumerate(templates):
        for word in min(one.pattern.needed, key=often, default=frozenset({""})):
            found.setdefault(word, []).append(place)
    return {word: tuple(places) for word, places in found.items()}
