"""Progress output of a benchmark."""

from __future__ import annotations

import sys
import time


def say(text: str) -> None:
    """Print progress on standard error."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)
