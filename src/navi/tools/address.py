"""Which addresses of the network are public, and which ones a name stands for."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address

# Networks that speak only IPv6 reach the rest of the world through these (RFC 6052).
TRANSLATED = IPv6Network("64:ff9b::/96")


def is_public(address: Address) -> bool:
    """Whether the address is in the open internet: not this machine, not a network around it, not
    a group of machines, and no other way of writing one of these."""
    if isinstance(address, IPv6Address):
        inner = _ipv4_inside(address)
        if inner is not None:
            return is_public(inner)
        if address.is_site_local:
            return False
    return address.is_global and not (address.is_multicast or address.is_reserved)


async def resolve(host: str) -> Sequence[Address]:
    """The addresses of `host`, the system's favourite first. Raises OSError or UnicodeError."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(ip_address(sockaddr[0]) for *_, sockaddr in found))


def _ipv4_inside(address: IPv6Address) -> IPv4Address | None:
    if address in TRANSLATED:
        return IPv4Address(address.packed[-4:])
    return address.ipv4_mapped or address.sixtofour
