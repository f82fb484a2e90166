"""Write buffer of postings: terms of the newest turns, in memory until a quiet moment enters them into the index.

Entering ten words touches some twenty pages of the file, which a turn that has to be durable at once would wait for:
half of the time of a recording, measured 2026-11-22. After a restart the terms are read from the turns themselves. The
postings of the buffer are built when somebody first asks for them: for most turns nobody does before they are entered.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import islice

from ovos_persona_memory.stores.base.bm25 import set_of, words_of
from ovos_persona_memory.stores.base.score_accumulator import Posting

TOGETHER = 20_000
"""Characters of terms at most that are entered together, unless one document has more: some 20 ms (2026-11-28)."""


class PostingsBuffer:
    """Buffered documents by term, each with its user. Not thread-safe: the store's lock guards it."""

    def __init__(self) -> None:
        self._held: dict[int, tuple[int, str]] = {}
        self._unread: dict[int, None] = {}
        self._newest = 0
        self._in_order = True
        self._documents: dict[tuple[int, str], dict[int, int]] = {}
        """Documents that hold a term, with its frequency, by user and term."""
        self._lengths: dict[int, int] = {}
        self._sizes: dict[int, list[int]] = defaultdict(lambda: [0, 0])

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, doc: int) -> bool:
        return doc in self._held

    def add(self, owner: int, doc: int, words: str) -> None:
        """Buffer a document of a user."""
        self._in_order = self._in_order and doc > self._newest
        self._newest = max(self._newest, doc)
        self._held[doc] = (owner, words)
        self._unread[doc] = None

    def _read(self) -> None:
        """Build the postings of documents added since the last time."""
        unread, self._unread = self._unread, {}
        for doc in unread:
            owner, words = self._held[doc]
            times = Counter(words_of(words))
            for word, number in times.items():
                self._documents.setdefault((owner, word), {})[doc] = number
            self._lengths[doc] = times.total()
            self._count(owner, 1, self._lengths[doc])

    def remove(self, doc: int) -> None:
        """Drop a buffered document."""
        owner, words = self._held.pop(doc)
        if doc in self._unread:
            del self._unread[doc]
            return
        for word in set_of(words):
            documents = self._documents[owner, word]
            del documents[doc]
            if not documents:
                del self._documents[owner, word]
        self._count(owner, -1, self._lengths.pop(doc))

    def _count(self, owner: int, number: int, length: int) -> None:
        size = self._sizes[owner]
        size[0] += number
        size[1] += number * length

    def oldest(self, number: int) -> list[tuple[int, int, str]]:
        """User, number and terms of the oldest documents, oldest first: at most ``number``, fewer where they are
        long."""
        if not self._in_order:
            self._held = dict(sorted(self._held.items()))
            self._in_order = True
        found: list[tuple[int, int, str]] = []
        left = TOGETHER
        for doc, (owner, words) in islice(self._held.items(), number):
            left -= len(words)
            if found and left < 0:
                break
            found.append((owner, doc, words))
        return found

    def size(self, owner: int | None = None) -> tuple[int, int]:
        """Number of buffered documents of a user, None: of all users, and of their terms."""
        self._read()
        sizes = self._sizes.values() if owner is None else [self._sizes.get(owner, (0, 0))]
        return sum(size[0] for size in sizes), sum(size[1] for size in sizes)

    def frequencies(self, owner: int, words: Iterable[str]) -> dict[str, int]:
        """Document frequency of each of the terms that a user's buffered documents hold."""
        self._read()
        return {word: len(held) for word in words if (held := self._documents.get((owner, word)))}

    def owners_of(self, words: Sequence[str]) -> set[int]:
        """The users who have any of the terms here."""
        self._read()
        return {owner for owner in self._sizes for word in words if (owner, word) in self._documents}

    def holding(self, words: Iterable[str], owner: int | None) -> set[int]:
        """The documents of a user, None: of everybody, that hold any of the terms."""
        self._read()
        owners = self._sizes if owner is None else (owner,)
        return {doc for one in owners for word in words for doc in self._documents.get((one, word), ())}

    def postings(self, owner: int, word: str, docs: Iterable[int] | None = None) -> list[Posting]:
        """Documents of a user that hold the term, newest first; ``docs``: only among these."""
        self._read()
        holding = self._documents.get((owner, word), {})
        chosen = holding if docs is None else [doc for doc in docs if doc in holding]
        return [(doc, holding[doc], self._lengths[doc]) for doc in sorted(chosen, reverse=True)]
