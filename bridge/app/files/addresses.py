"""Which hosts the bridge may connect to for a URL in a message: those of the open internet."""

from __future__ import annotations

import socket
from ipaddress import ip_address

from aiohttp import AddrInfoType
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from bridge.content.safety.open_addresses import is_open
from bridge.errors import FileRefused

_WEB = (80, 443)  # other ports below 1024 belong to other services


class Addresses:
    """Decides which IP addresses are open: none in a private, local, multicast or reserved network,
    in any notation. With `loopback` also those of this machine, for the sandbox."""

    def __init__(self, *, loopback: bool = False) -> None:
        self._loopback = loopback

    def is_open(self, address: str) -> bool:
        """Whether the IP address, as `socket` writes it, is open."""
        return is_open(address, loopback=self._loopback)

    def is_this_machine(self, host: str) -> bool:
        """Whether the host is this machine and `loopback` permits it. Every resolver resolves
        `localhost` to it (RFC 6761)."""
        if not self._loopback:
            return False
        try:
            return host == "localhost" or ip_address(host).is_loopback
        except ValueError:
            return False

    def check_url(self, text: str | URL) -> URL:
        """The parsed URL. Host names are checked later, when they are resolved.

        Raises:
            FileRefused: The bridge may not request this URL; the text does not repeat it.
        """
        url = _parsed(text)
        if url.scheme not in ("http", "https") or not url.raw_host:
            raise FileRefused("An address is no http or https address; nothing was asked")
        if url.raw_user is not None or url.raw_password is not None:
            raise FileRefused("An address holds a password; nothing was asked")
        host = url.raw_host
        if url.port not in _WEB and (url.port or 0) < 1024:
            raise FileRefused(f"Port {url.port} of {host} is not the web's; nothing was asked")
        if _is_written_as_number(host) and not self.is_open(host):
            raise refused(host)
        return url


class OpenResolver(AbstractResolver):
    """Resolves host names; all of a name's addresses must be open. aiohttp connects to one of them
    without resolving the name again, so a later DNS answer (DNS rebinding) has no effect."""

    def __init__(self, inner: AbstractResolver, addresses: Addresses) -> None:
        self._inner = inner
        self._addresses = addresses

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        addresses = await self._inner.resolve(host, port, family)
        if not all(self._addresses.is_open(address["host"]) for address in addresses):
            raise refused(host)
        return addresses

    async def close(self) -> None:
        await self._inner.close()


def socket_to_open(addresses: Addresses, info: AddrInfoType) -> socket.socket:
    """A socket for an open address only, as the last check before a connection.

    Raises:
        FileRefused: The address is not open.
    """
    family, kind, protocol, _, where = info
    if not addresses.is_open(str(where[0])):
        raise refused(str(where[0]))
    return socket.socket(family, kind, protocol)


def refused(host: str) -> FileRefused:
    return FileRefused(f"{host[:100]} is no host of the open internet; nothing was asked")


def _parsed(text: str | URL) -> URL:
    try:
        return URL(text)
    except (ValueError, TypeError):
        raise FileRefused("An address cannot be read; nothing was asked") from None


def _is_written_as_number(host: str) -> bool:
    """Whether aiohttp takes the host for an IP address, which it does not resolve. `socket` accepts
    127.1 and 2130706433, which `ip_address` rejects."""
    return ":" in host or host.replace(".", "").isdigit()
