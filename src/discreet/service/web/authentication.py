"""Who sends a request: the API key in its header Authorization, from memory wherever possible."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from discreet.service.api_keys import ApiKey, ApiKeys, Role
from discreet.service.sealing import PREFIX, TellToken
from discreet.service.web.errors import HttpError
from discreet.service.web.limits import RateLimiter
from discreet.service.web.logs import place_of

#: Seconds after which keys that other processes may have changed are read again: in the background, and
#: before the request is answered.
_REFRESH_AFTER, _REFRESH_FIRST = 1.0, 3.0
#: Seconds between look-ups of unknown keys, and how many share one.
LOOK_UP_PAUSE, _LOOKED_UP_AT_ONCE = 0.05, 1_000
#: Requests per second of one token; and how many are counted, until all counts start again.
TOKEN_RATE, _MOST_TOKENS = 10.0, 10_000
#: All requests without a valid key share one rate limit.
_NO_KEY = ""

log = logging.getLogger("discreet.service")


class Authentication:
    """Finds keys, and counts their requests.

    A key that another process has just created is found in the database. However many wrong keys are sent,
    there is one such look-up at a time, for all that came meanwhile, and then a pause.

    Args:
        api_keys: The API keys.
        rate: Requests per second of one key.
        read_token: What a token allows.
    """

    def __init__(self, api_keys: ApiKeys, rate: float, read_token: Callable[[str], TellToken | None]) -> None:
        self._api_keys, self._rates, self._read_token = api_keys, RateLimiter(rate), read_token
        self._token_rates, self._tokens_seen = RateLimiter(min(rate, TOKEN_RATE)), 0
        self._refreshing: asyncio.Task[None] | None = None
        self._looking: asyncio.Task[None] | None = None
        self._wanted: dict[bytes, asyncio.Future[None]] = {}

    async def authenticate(self, authorization: bytes | None) -> ApiKey | None:
        """The API key of a request; None without one, or with one that is not valid."""
        key = bearer(authorization)
        api_key = None if key is None else await self._find(key)
        if api_key is None:
            self._rates.take(_NO_KEY)
            digest = None if key is None else self._api_keys.unknown(key)
            if key is None or digest is None:
                return None
            await self._look_up(digest)
            api_key = self._api_keys.find(key)
        if api_key is not None:
            self._rates.take(api_key.id)
        return api_key

    def token(self, authorization: bytes | None) -> TellToken | None:
        """What a request with a token may tell; None if it has none that is valid."""
        given = bearer(authorization)
        if given is None or not given.startswith(PREFIX):
            return None
        token = self._read_token(given)
        if token is not None:
            self._tokens_seen += 1
            if self._tokens_seen % _MOST_TOKENS == 0:
                self._token_rates.keep_only(set())
            self._token_rates.take(token.decision)
        return token

    async def _find(self, key: str) -> ApiKey | None:
        age = self._api_keys.age
        if age > _REFRESH_AFTER:
            if self._refreshing is None or self._refreshing.done():
                self._refreshing = asyncio.create_task(self._refresh())
            if age > _REFRESH_FIRST:
                await asyncio.shield(self._refreshing)
        return self._api_keys.find(key)

    async def _refresh(self) -> None:
        try:
            await asyncio.to_thread(self._api_keys.refresh)
            self._rates.keep_only({_NO_KEY, *(api_key.id for api_key in self._api_keys.cached)})
        except Exception as error:  # the database is not reachable, and the request itself will fail
            log.warning("API keys could not be read: %s", place_of(error))

    async def _look_up(self, digest: bytes) -> None:
        """Wait for the next look-up, which this key takes part in."""
        if len(self._wanted) >= _LOOKED_UP_AT_ONCE:
            raise HttpError("busy")
        future = self._wanted.setdefault(digest, asyncio.get_running_loop().create_future())
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look_up_all())
        await asyncio.shield(future)

    async def _look_up_all(self) -> None:
        while self._wanted:
            wanted, self._wanted = self._wanted, {}
            try:
                await asyncio.to_thread(self._api_keys.look_up, list(wanted))
            except Exception as error:
                log.warning("API keys could not be read: %s", place_of(error))
                for future in wanted.values():
                    future.set_exception(HttpError("store_unavailable"))
                    future.exception()  # whoever waited may be gone
            for future in wanted.values():
                if not future.done():
                    future.set_result(None)
            await asyncio.sleep(LOOK_UP_PAUSE)


def bearer(authorization: bytes | None) -> str | None:
    """The key in a header."""
    if authorization is None or authorization[:7].lower() != b"bearer ":
        return None
    return authorization[7:].strip().decode("latin-1")


def require_role(api_key: ApiKey | None, role: Role) -> ApiKey:
    """Raise unless a key allows a role."""
    if api_key is None:
        raise HttpError("unauthorized", headers=[(b"www-authenticate", b"Bearer")])
    if not api_key.role.covers(role):
        raise HttpError("forbidden", f"This needs a key with the role '{role}'.")
    return api_key


def require_learner(api_key: ApiKey, learner: str | None) -> None:
    """Raise unless a key may be used for a learner; None stands for what shows all of them."""
    if api_key.learners is not None and learner not in api_key.learners:
        raise HttpError("forbidden", "This key is limited to certain learners, and this is not one of them.")
