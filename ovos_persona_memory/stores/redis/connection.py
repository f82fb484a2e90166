"""Commits to a Redis or Valkey server: all or nothing, one writer at a time, in a cluster, too. Plain commands only.

A transaction takes the lock of its collection, gathers its changes here, and at its end writes them down in one record,
the journal, if it still holds the lock: that is the commit. Then each hash gets its changes, by a script that does
nothing where a later commit has been there, and the journal and the lock are deleted. The next holder of the lock that
finds a journal finishes it first.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

import msgspec
import redis
from redis.backoff import ExponentialBackoff
from redis.exceptions import (
    AuthenticationError,
    BusyLoadingError,
    NoPermissionError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
)
from redis.retry import Retry

from ovos_persona_memory.errors import StoreBusy, StoreError, StoreFull, StoreUnavailable

LOCK_MS = 6_000
"""A transaction that does nothing for longer than this, milliseconds, loses its lock, and its commit is refused."""
WAIT_S, PAUSE_S = 10.0, 0.001
"""Maximum wait of a transaction for the lock, and the first pause between two attempts, seconds."""
TRIES = 3

BEGIN = """
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) or redis.call('GET', KEYS[1]) == ARGV[1] then
  return {1, redis.call('GET', KEYS[2]), redis.call('HGETALL', KEYS[3])}
end
return {0}
"""
KEEP = """
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 1
"""
# an emptied hash is kept for a minute, so that a late apply finds its commit number
COMMIT = """
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[2], ARGV[2])
for i = 3, #ARGV, 2 do redis.call('HSET', KEYS[3], ARGV[i], ARGV[i + 1]) end
return 1
"""
APPLY = """
local commit, lives, gone = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
if (tonumber(redis.call('HGET', KEYS[1], '') or '0')) >= commit then return 0 end
for i = 4, 3 + gone do redis.call('HDEL', KEYS[1], ARGV[i]) end
for i = 4 + gone, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
redis.call('HSET', KEYS[1], '', commit)
if redis.call('HLEN', KEYS[1]) == 1 then redis.call('PEXPIRE', KEYS[1], 60000)
elseif lives > 0 then redis.call('PEXPIRE', KEYS[1], lives)
else redis.call('PERSIST', KEYS[1]) end
return 1
"""
END = """
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == 'done' then redis.call('DEL', KEYS[2]) end
redis.call('DEL', KEYS[1])
return 1
"""


@dataclass(frozen=True)
class RedisSettings:
    """Address and options of a Redis store."""

    url: str
    """``redis://``, ``rediss://`` or ``unix://``; for a cluster the URL of any of its nodes."""
    collection: str = "persona_memory"
    """The prefix of its keys: several collections can share a server without seeing each other."""
    ttl_s: float | None = None
    """A session expires on the server after this time without a turn, seconds."""
    timeout_s: float = 5.0
    """Maximum time of a command, and of a connection, seconds."""


@dataclass
class HashChange:
    """The changes of one commit to one hash."""

    lives_ms: int = 0
    """Time to live after the last change, milliseconds; 0: it does not expire."""
    sets: dict[bytes, bytes] = field(default_factory=dict)
    gone: list[bytes] = field(default_factory=list)


@dataclass
class CommitRecord:
    """All changes of one commit: the contents of the journal."""

    commit: int = 0
    hashes: dict[str, HashChange] = field(default_factory=dict)
    places: dict[str, str | None] = field(default_factory=dict)
    """Strings to set, None: to delete."""
    parts: dict[str, list[str]] = field(default_factory=dict)
    """Members to add to sets."""
    lives_ms: int = 0
    """Time to live of the strings, milliseconds; 0: they do not expire."""

    @property
    def is_empty(self) -> bool:
        return not (self.hashes or self.places)


_RECORD = msgspec.msgpack.Decoder(CommitRecord)


class RedisDatabase:
    """One server or cluster, as one collection sees it. Not thread-safe by itself: the store's lock is."""

    def __init__(self, settings: RedisSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self.settings = settings
        self._clock = clock
        self._prefix = quote(settings.collection, safe="")
        self._keys = [self.name(what) for what in ("lock", "journal", "counters")]
        self._token: str | None = None
        self._locked_at = 0.0
        self.counters: dict[str, int] = {}
        """The collection's counters, as this transaction will leave them."""
        with _ours():
            self._client: Any = _client(settings)
            self.is_cluster = bool(self._client.info("cluster").get("cluster_enabled"))
            if self.is_cluster:
                self._client.close()
                self._client = redis.RedisCluster.from_url(settings.url, **_options(settings))
            self._client.ping()

    def close(self) -> None:
        """Release the connections; a second call does nothing."""
        self._client.close()

    def name(self, what: str, tag: str | None = None) -> str:
        """A key of this collection; ``tag``: keys with the same tag, a session's for instance, share a node of a
        cluster."""
        return f"{self._prefix}:{what}" + (f":{{{tag}}}" if tag is not None else f":{{{self._prefix}}}")

    # reading

    def call(self, *command: Any) -> Any:
        """The reply to one command."""
        with _ours():
            return self._client.execute_command(*command)

    def each(self, commands: Sequence[Sequence[Any]]) -> list[Any]:
        """The replies to several commands, sent together."""
        if not commands:
            return []
        with _ours():
            pipeline = self._client.pipeline() if self.is_cluster else self._client.pipeline(transaction=False)
            for command in commands:
                pipeline.execute_command(*command)
            return list(pipeline.execute())

    def info(self, section: str) -> list[Mapping[str, Any]]:
        """The server's INFO; for a cluster that of each node that stores keys."""
        with _ours():
            if not self.is_cluster:
                return [self._client.info(section)]
            return [self._client.info(section, target_nodes=node) for node in self._client.get_primaries()]

    def everywhere(self, *command: str) -> None:
        """Run a command that has no key on the server, or on every node of a cluster."""
        with _ours():
            if self.is_cluster:
                for node in self._client.get_primaries():
                    self._client.execute_command(*command, target_nodes=node)
            else:
                self._client.execute_command(*command)

    # transactions

    def begin(self) -> None:
        """Take the lock, and finish a journal that was left behind; StoreBusy where the lock stays taken."""
        token, pause, until = uuid.uuid4().hex, PAUSE_S, self._clock() + WAIT_S
        while True:
            found = self._script(BEGIN, self._keys, token, LOCK_MS)
            if found[0]:
                break
            if self._clock() > until:
                raise StoreBusy(f"other writers have the memory on {self.where} for more than {WAIT_S:.0f} s")
            time.sleep(pause)
            pause = min(pause * 1.5, 0.004)
        self._token, self._locked_at = token, self._clock()
        try:
            if found[1]:
                self._apply(_RECORD.decode(found[1]))
        except BaseException:
            self.rollback()
            raise
        numbers = found[2]
        pairs = numbers.items() if isinstance(numbers, dict) else zip(numbers[::2], numbers[1::2], strict=True)
        self.counters = {key.decode(): int(value) for key, value in pairs}

    def next_number(self, name: str) -> int:
        """The next number of a counter; no other transaction gets it."""
        self.counters[name] = self.counters.get(name, 0) + 1
        return self.counters[name]

    def keep_lock(self) -> None:
        """Renew the lock of a long transaction."""
        if self._clock() - self._locked_at > LOCK_MS / 3000:
            self._locked_at = self._clock()
            self._script(KEEP, self._keys[:1], self._token, LOCK_MS)

    def commit(self, record: CommitRecord) -> None:
        """Make a record's changes, all of them or none, and release the lock."""
        try:
            if not record.is_empty:
                record.commit = self.next_number("commit")
                numbers = [one for pair in self.counters.items() for one in pair]
                written = msgspec.msgpack.encode(record)
                if not self._script(COMMIT, self._keys, self._token, written, *numbers):
                    raise StoreError(
                        f"a transaction stood still for more than {LOCK_MS / 1000:.0f} s, and others have written"
                    )
        except BaseException:
            self.rollback()
            raise
        try:
            self._apply(record)
        except StoreError:
            self.rollback()  # the commit holds: the next holder of the lock applies the rest
            return
        self._end("done")

    def rollback(self) -> None:
        """Release the lock; a journal stays to be carried out."""
        self._end("")

    def _end(self, outcome: str) -> None:
        token, self._token = self._token, None
        if token is not None:
            with suppress(StoreError):  # the lock expires by itself, and a journal that stays is carried out again
                self._script(END, self._keys[:2], token, outcome)

    def _apply(self, record: CommitRecord) -> None:
        lives: tuple[Any, ...] = ("PX", record.lives_ms) if record.lives_ms else ()
        self.each(
            [
                *(("SADD", key, *members) for key, members in record.parts.items()),
                *(("DEL", key) if one is None else ("SET", key, one, *lives) for key, one in record.places.items()),
            ]
        )
        for key, one in record.hashes.items():
            values = [part for pair in one.sets.items() for part in pair]
            self._script(APPLY, [key], record.commit, one.lives_ms, len(one.gone), *one.gone, *values)

    def _script(self, script: str, keys: Sequence[str], *arguments: Any) -> Any:
        return self.call("EVAL", script, len(keys), *keys, *arguments)

    @property
    def where(self) -> str:
        """Host and port, or the socket, for people; no password."""
        parts = urlsplit(self.settings.url)
        return parts.path if parts.scheme == "unix" else f"{parts.hostname or 'localhost'}:{parts.port or 6379}"


def _options(settings: RedisSettings) -> dict[str, Any]:
    return {"socket_timeout": settings.timeout_s, "socket_connect_timeout": settings.timeout_s}


def _client(settings: RedisSettings) -> Any:
    # no retry after a timeout: the caller would wait as many times as long
    lost = redis.exceptions.ConnectionError
    retry = Retry(ExponentialBackoff(cap=0.5, base=0.02), TRIES, supported_errors=(lost,))
    return redis.Redis.from_url(settings.url, retry=retry, retry_on_error=[lost], **_options(settings))


@contextmanager
def _ours() -> Iterator[None]:
    """Turn driver errors into a StoreError. A message that could hold a password is not repeated."""
    try:
        yield
    except ValueError as error:
        raise StoreUnavailable("the connection is no URL that begins with redis://, rediss:// or unix://") from error
    except (AuthenticationError, NoPermissionError) as error:
        raise StoreUnavailable("the Redis server does not let this user in, or do what is needed") from error
    except OutOfMemoryError as error:
        raise StoreFull("the Redis server has no memory left") from error
    except ReadOnlyError as error:
        raise StoreUnavailable("the Redis server can only be read: it is a replica") from error
    except BusyLoadingError as error:
        raise StoreUnavailable("the Redis server is still reading its data") from error
    except ResponseError as error:
        if str(error).startswith("MISCONF"):
            raise StoreFull("the Redis server cannot write to its disk") from error
        raise StoreError(f"the Redis server refused a command ({type(error).__name__})") from error
    except (RedisError, OSError) as error:
        raise StoreUnavailable(f"the Redis server cannot be reached ({type(error).__name__})") from error
