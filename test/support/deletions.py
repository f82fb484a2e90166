"""The ways to have a memory forgotten by voice, and the answers that are no yes; what is said to each."""

from __future__ import annotations

import re
from dataclasses import dataclass

TOLD = "remember that my cormorant is called Grimáldur"
KEPT = "my cormorant is called Grimáldur"
SAID_BACK = f"I'll remember: {KEPT}."
SAY = "Say yes to delete"


@dataclass(frozen=True)
class Deletion:
    """One way to say it, and what is said to it."""

    said: str
    asked: str
    done: str


DELETIONS = [
    Deletion("forget that", f"I'll forget this: {KEPT}. {SAY}", f"I have forgotten this: {KEPT}."),
    Deletion("forget what I just said", f"I'll forget this: {KEPT}. {SAY}", f"I have forgotten this: {KEPT}."),
    Deletion(
        "forget the last five minutes",
        "I'll forget many things from this time: the last five minutes. ",
        "I have forgotten what was said in this time: the last five minutes.",
    ),
    Deletion(
        "forget the last hour",
        "I'll forget many things from this time: the last hour. ",
        "I have forgotten what was said in this time: the last hour.",
    ),
    Deletion(
        "forget today",
        "I'll forget many things from this time: today. ",
        "I have forgotten what was said in this time: today.",
    ),
    Deletion(
        "forget everything about my cormorant",
        f"I'll forget this: {KEPT}. {SAY}",
        "I have forgotten everything about your cormorant.",
    ),
    Deletion(
        "forget the cormorant because he is listening",
        f"I'll forget this: {KEPT}. {SAY}",
        "I have forgotten everything about cormorant.",
    ),
    Deletion(
        "forget me",
        "I'll forget everything that I know about you. In all: ",
        "I have forgotten everything that I knew about you.",
    ),
    Deletion(
        "forget everything",
        "I'll forget everything that I may forget for you. In all: ",
        "I have forgotten everything: what you told me, and what we said.",
    ),
]
ANSWERS = {
    "no": "All right, I have kept everything.",
    "stop": "All right, I have kept everything.",
    "forget it": "All right, I have kept everything.",
    "purple elephants": "That was neither yes nor no, so I have kept everything.",
}


def without_number(asked: str) -> str:
    """How many things were said in a time depends on what was heard: both the words and their answers count."""
    return re.sub(r"forget [a-z ]+ things from", "forget many things from", asked)
