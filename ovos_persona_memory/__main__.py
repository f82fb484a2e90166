"""``python -m ovos_persona_memory``: the command line."""

from ovos_persona_memory.cli import main

if __name__ == "__main__":
    main()
