"""Plugins of personas, on a memory in this process."""

from __future__ import annotations

from support.plugins import plugin as plugin
