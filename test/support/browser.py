"""A real Chromium, Debian's own, driven through Playwright, which brings none with it."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
MISSING = "OPM_TEST_NO_CHROMIUM"
"""Set by scripts/test where no browser can be had, to the reason."""


class NoBrowser(RuntimeError):
    """No Chromium can be run here, and why."""


def executable() -> str:
    """The path of a Chromium; NoBrowser where there is none, or nothing to drive it with."""
    if why := os.environ.get(MISSING):
        raise NoBrowser(why)
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        raise NoBrowser("there is no Chromium: apt install chromium")
    for package in ("playwright", "axe_playwright_python"):
        if importlib.util.find_spec(package) is None:
            raise NoBrowser(f"{package} is not installed: it is of the extra test")
    return found


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """One browser without a window; NoBrowser where it does not start."""
    path = executable()
    from playwright.sync_api import Error, sync_playwright

    # root may not use Chromium's own sandbox; /dev/shm is small in containers
    arguments = ["--disable-dev-shm-usage", "--disable-gpu", "--font-render-hinting=none"]
    with sync_playwright() as driver:
        try:
            started = driver.chromium.launch(
                executable_path=path, args=arguments, chromium_sandbox=hasattr(os, "getuid") and os.getuid() != 0
            )
        except Error as error:
            raise NoBrowser(f"{path} does not start: {str(error).splitlines()[0]}") from error
        try:
            yield started
        finally:
            started.close()


if __name__ == "__main__":
    try:
        with chromium() as running:
            print(f"Chromium {running.version}")
    except NoBrowser as missing:
        print(missing)
        sys.exit(1)
