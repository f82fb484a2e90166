"""Our side without TCP_QUICKACK: ``python -m benchmarks.without_quickack run --data DIR`` is such a daemon."""

from __future__ import annotations

from ovos_persona_memory.protocol.buffered_socket import BufferedSocket


def acknowledge_when_it_suits() -> None:
    """From now on the bus connections of this process leave their acknowledgements to the kernel."""
    if not hasattr(BufferedSocket, "acknowledge_quickly"):
        raise RuntimeError("ReadAhead has no acknowledge_quickly any more: this comparison needs a new way")
    BufferedSocket.acknowledge_quickly = lambda _: None  # type: ignore[method-assign, assignment]


if __name__ == "__main__":
    from ovos_persona_memory.cli import main

    acknowledge_when_it_suits()
    main()
