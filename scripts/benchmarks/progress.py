"""What a benchmark tells whoever waits for it."""

from __future__ import annotations

import sys
import time


def say(text: str) -> None:
    """Progress, on standard error."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)
