"""Episodes as hits: skills that were asked and tools that were used, found by their words or by recency."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ovos_persona_memory.records import Episode, EpisodesWanted, Hit, Scope
from ovos_persona_memory.stores import EpisodeStore
from ovos_persona_memory.text import languages

TOLD = frozenset({"intent", "tool_call"})
"""The kinds of episode with content of their own; an exchange is in its turns, and a recall in what was recalled."""
LOOKED_AT = 500
"""Newest episodes at most that a search scans."""
_PARTS = re.compile(r"[^\W_]+")
_SKILL = re.compile(r"^[^:]*:")


def search_episodes(log: EpisodeStore, question: str, lang: str | None, scope: Scope, k: int) -> list[Hit]:
    """At most ``k`` episodes in scope that share words with a question, most shared words first, then the newest.

    A hit's score is the share of the question's words that it holds; it is never sure: a request to a skill is not the
    answer.
    """
    spoken = languages.for_text(lang, question)
    asked = spoken.content_words(question)
    made: list[Hit] = []
    for episode in log.episodes(EpisodesWanted(scope, TOLD, limit=LOOKED_AT)):
        held = set(spoken.words(" ".join(_PARTS.findall(episode_line(episode)))))
        shared = [word for word in asked if word in held]
        if shared:
            hit = hit_of_episode(episode, len(shared) / len(asked), f"words: {', '.join(shared)}")
            made.append(hit)
    return sorted(made, key=lambda hit: (-hit.score, -hit.at))[:k]


def recent_episodes(log: EpisodeStore, scope: Scope, number: int) -> list[Hit]:
    """The newest episodes in scope, oldest first; none where ``number`` is 0."""
    newest = log.episodes(EpisodesWanted(scope, TOLD, limit=number)) if number > 0 else []
    return [replace(hit_of_episode(one, 0.0, "what happened lately"), sure=True) for one in reversed(newest)]


def hit_of_episode(episode: Episode, score: float, reason: str) -> Hit:
    """An episode as a hit."""
    return Hit(
        id=episode.id,
        kind="episode",
        text=episode_line(episode),
        score=score,
        sure=False,
        reason=reason,
        at=episode.at,
        role="assistant",
        session_id=episode.session_id,
        user_id=episode.user_id,
        persona_id=episode.persona_id,
    )


def episode_line(episode: Episode) -> str:
    """The episode on one line: "weather, city Berlin: handled"; without the skill's id, which people do not know."""
    name = _SKILL.sub("", episode.name or "").removesuffix(".intent").replace("_", " ").replace(".", " ")
    parts = ", ".join([name, *_details(episode.detail)])
    return f"{parts}: {episode.outcome}" if episode.outcome else parts


def _details(detail: Mapping[str, Any]) -> Iterator[str]:
    for name, value in detail.items():
        if isinstance(value, Mapping):
            yield from _details(value)
        elif isinstance(value, str | int | float):
            yield f"{name.replace('_', ' ')} {value}"
