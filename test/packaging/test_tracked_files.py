"""No file of the project names the machine or the servers with which it was written, or holds half of a merge."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
REGISTRIES = re.compile(r"\b(pypi\.(org|python)|pythonhosted\.org|registry\.(npmjs|yarnpkg)|conda\.anaconda\.org)")
PLACES = re.compile(r"(?<![\w.~$%}-])/(root|work|home|Users)/\w")

HALF_MERGED = re.compile(r"^(<{7}|>{7}|\|{7}) ")


def test_no_tracked_file_names_a_registry_or_a_place_or_is_half_merged() -> None:
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    found = []
    for path in (ROOT / name for name in names.split("\0") if name):
        text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
        for number, line in enumerate(text.splitlines(), start=1):
            if any(one.search(line) for one in (REGISTRIES, PLACES, HALF_MERGED)) or str(ROOT) in line:
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    assert not found, "\n".join(found)
