"""The Redis and Valkey backend, built on the one in memory."""

from __future__ import annotations

from ovos_persona_memory.stores.redis.connection import RedisSettings
from ovos_persona_memory.stores.redis.store import open_redis

__all__ = ["RedisSettings", "open_redis"]
