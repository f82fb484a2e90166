"""A voice: espeak-ng from its package, in the place of ovos-audio. Makes sound of what is to be said."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import espeakng_loader

VOICES = {
    "ca-ES": "ca",
    "da-DK": "da",
    "de-DE": "de",
    "en-US": "en-us",
    "es-ES": "es",
    "fr-FR": "fr",
    "gl-ES": "pt",  # espeak-ng has no Galician
    "it-IT": "it",
    "nl-NL": "nl",
    "pt-PT": "pt",
}
SYNCHRONOUS, UTF8, IPA = 2, 1, 0x02
_HEARD = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)


@dataclass
class Voice:
    """One voice at a time: the library has a single state."""

    library: ctypes.CDLL
    rate: int
    samples: list[int] = field(default_factory=list)

    def use(self, tag: str) -> None:
        """Speak this language from now on."""
        assert self.library.espeak_SetVoiceByName(VOICES[tag].encode()) == 0, tag

    def sound_of(self, text: str) -> tuple[float, int]:
        """How long the text sounds, seconds, and its loudest sample, of 32767."""
        self.samples.clear()
        said = text.encode()
        assert self.library.espeak_Synth(said, len(said) + 1, 0, 0, 0, UTF8, None, None) == 0
        assert self.library.espeak_Synchronize() == 0
        return len(self.samples) / self.rate, max(map(abs, self.samples), default=0)

    def phonemes_of(self, text: str) -> str:
        """How it is pronounced; a word that is left to another language stands behind its name in brackets."""
        left = ctypes.c_char_p(text.encode())
        said = []
        while left.value is not None:
            clause = self.library.espeak_TextToPhonemes(ctypes.byref(left), UTF8, IPA)
            said.append((clause or b"").decode())
        return " ".join(said)


@contextmanager
def voice() -> Iterator[Voice]:
    """The library, started and ended."""
    library = ctypes.CDLL(espeakng_loader.get_library_path())
    library.espeak_TextToPhonemes.restype = ctypes.c_char_p
    library.espeak_TextToPhonemes.argtypes = [ctypes.POINTER(ctypes.c_char_p), ctypes.c_int, ctypes.c_int]
    rate = library.espeak_Initialize(SYNCHRONOUS, 0, espeakng_loader.get_data_path().encode(), 0)
    assert rate > 0, "espeak-ng does not start"
    one = Voice(library, rate)

    def hear(samples: ctypes._Pointer[ctypes.c_short], count: int, _: object) -> int:
        if samples and count:
            one.samples += samples[:count]
        return 0

    callback = _HEARD(hear)
    library.espeak_SetSynthCallback(callback)
    try:
        yield one
    finally:
        library.espeak_Terminate()
