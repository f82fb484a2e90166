"""What can go wrong, each with the code that travels on the wire."""

from __future__ import annotations


class PersonaMemoryError(Exception):
    """Something went wrong in the memory."""

    code = "internal"

    def __init__(self, reason: str | None = None) -> None:
        super().__init__(reason or (type(self).__doc__ or "").strip())

    @property
    def reason(self) -> str:
        """One sentence for people."""
        return str(self)


class InvalidRequest(PersonaMemoryError):
    """A field of the request is missing, of the wrong type or too large."""

    code = "invalid"

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field


class UnknownVerb(PersonaMemoryError):
    """There is no such verb."""

    code = "unknown_verb"


class UnknownEntry(PersonaMemoryError):
    """There is no such memory."""

    code = "unknown_entry"


class NotAllowed(PersonaMemoryError):
    """This door does not reach that far."""

    code = "not_allowed"


class WasForgotten(NotAllowed):
    """What is asked for was forgotten since."""


class CapturePaused(PersonaMemoryError):
    """Remembering is switched off at the moment."""

    code = "capture_paused"


class SecretRefused(PersonaMemoryError):
    """That is a secret, and is not kept: a card number, a password, a PIN or a key."""

    code = "secret"


class NeedsApproval(PersonaMemoryError):
    """A child keeps nothing that lasts until an adult approves."""

    code = "needs_approval"


class ConfigError(PersonaMemoryError):
    """A setting cannot be used."""

    code = "config"


class NoAnswer(PersonaMemoryError):
    """The memory did not answer in time."""

    code = "no_answer"


class Unanswered(NoAnswer):
    """The memory has not answered yet: nobody can tell whether it did what it was asked."""


class StoreError(PersonaMemoryError):
    """The store failed."""

    code = "store"


class StoreFull(StoreError):
    """The disk is full: nothing more can be remembered until there is room."""

    code = "store_full"


class StoreUnavailable(StoreError):
    """The store cannot be opened."""

    code = "store_unavailable"


class WrongKey(StoreUnavailable):
    """The store is encrypted with another key, or not at all."""


class StoreBusy(StoreError):
    """Another process has the store open."""

    code = "store_busy"


class StoreDamaged(StoreError):
    """The database is damaged."""

    code = "store_damaged"


BY_CODE: dict[str, type[PersonaMemoryError]] = {
    cls.code: cls
    for cls in (
        PersonaMemoryError,
        UnknownVerb,
        UnknownEntry,
        NotAllowed,
        CapturePaused,
        SecretRefused,
        NeedsApproval,
        ConfigError,
        NoAnswer,
        StoreError,
        StoreFull,
        StoreUnavailable,
        StoreBusy,
        StoreDamaged,
    )
}


def from_wire(code: str, reason: str) -> PersonaMemoryError:
    """The error that an answer with this code stands for; PersonaMemoryError for an unknown code."""
    if code == InvalidRequest.code:
        field, _, problem = reason.partition(": ")
        return InvalidRequest(field, problem)
    return BY_CODE.get(code, PersonaMemoryError)(reason)
