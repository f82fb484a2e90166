"""Plugins for personas, each in a module of its own: memory, chat, persona."""
