"""The benchmarks of scripts/bench, each figure beside its comparison in one run.

corpus    seeded text, and databases of many turns
services  a messagebus, the daemon, echoes and ovos-core as processes of their own
echo      the bare responder that we are compared with
asking    one client for our daemon and for an echo
figures   what was measured, its target, the table
requests  part a: requests, back to back
turns     part b: inside a persona's turns; plugins and without_quickack run inside the processes that it starts
throughput  part c: how many records a second; with load, a client that costs little
million   part d: a million turns, in this process
process   part e: memory and start of the daemon
quality   what is understood and answered; ``scripts/bench weeks`` plays weeks of households
"""

import sys
from pathlib import Path

if (
    __name__ == "scripts.benchmarks"
):  # "python -m scripts.benchmarks" in the checkout: the modules are found as elsewhere
    sys.path[:0] = [str(Path(__file__).parents[level]) for level in (1, 2)] + [str(Path(__file__).parents[2] / "test")]
