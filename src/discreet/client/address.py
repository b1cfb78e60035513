"""Where a service is, and whether a key may be sent there."""

from __future__ import annotations

import ipaddress
import re
import urllib.parse

from discreet.errors import InvalidArgument

_KEY = re.compile(r"[!-~]{1,500}")


def checked_url(url: str, *, allow_insecure: bool) -> str:
    """An address without a slash at its end; plain HTTP only to this very machine.

    Args:
        url: ``https://host[:port][/path]``.
        allow_insecure: Whether keys and costs may travel unencrypted.
    """
    if not isinstance(url, str):
        raise InvalidArgument("The 'url' of a client must be a string.")
    parts = urllib.parse.urlsplit(url)
    if parts.username is not None or parts.password is not None:  # not quoted
        raise InvalidArgument("The 'url' of a client must hold no user and no password: give the 'key'.")
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise InvalidArgument("The 'url' of a client must be like https://shop.example[:port][/path].")
    if parts.scheme == "http" and not allow_insecure and not is_loopback(parts.hostname):
        raise InvalidArgument(
            f"Over plain http to {parts.hostname!r} anybody on the way could read the key and the costs. Use "
            "https; or, where the network itself is encrypted, allow_insecure=True."
        )
    return url.rstrip("/")


def checked_key(key: str) -> str:
    """A key that fits into a header; never quoted."""
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise InvalidArgument("The 'key' of a client must be a bearer key: printable letters, no spaces.")
    return key


def is_loopback(host: str) -> bool:
    """Whether an address cannot be reached from elsewhere."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
