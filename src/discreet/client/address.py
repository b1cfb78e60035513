"""The address of a service, and whether a key may be sent there."""

from __future__ import annotations

import ipaddress
import re
import urllib.parse

from ..errors import InvalidArgument

_KEY = re.compile(r"[!-~]{1,500}")


def checked_url(url: str, *, allow_insecure: bool) -> str:
    """A URL without a trailing slash; plain HTTP only to this machine, unless it is allowed."""
    if not isinstance(url, str):
        raise InvalidArgument("The 'url' of a client must be a string.")
    parts = urllib.parse.urlsplit(url)
    if parts.username is not None or parts.password is not None:  # not quoted
        raise InvalidArgument("The 'url' of a client must not contain a user or a password: give the 'key'.")
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise InvalidArgument("The 'url' of a client must be like https://shop.example[:port][/path].")
    if parts.scheme == "http" and not allow_insecure and not is_loopback(parts.hostname):
        raise InvalidArgument(
            f"Over plain http to {parts.hostname!r} the key and the costs can be read on the way. Use https; "
            "or, if the network itself is encrypted, allow_insecure=True."
        )
    return url.rstrip("/")


def checked_key(key: str) -> str:
    """A key that fits into a header; it is never quoted."""
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise InvalidArgument("The 'key' of a client must be an API key: printable characters, no spaces.")
    return key


def is_loopback(host: str) -> bool:
    """Whether only this machine has this address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
