"""Resolves names, and tells which network addresses are public."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address

# IANA's special-purpose and multicast registries, and cloud services at addresses that look public.
# Listed here in full because each version of Python knows different ones.
NOT_PUBLIC_IPV4 = tuple(
    map(
        IPv4Network,
        [
            "0.0.0.0/8",  # this network
            "10.0.0.0/8",  # private
            "100.64.0.0/10",  # carrier-grade NAT; Alibaba Cloud's metadata is in it
            "127.0.0.0/8",  # loopback
            "168.63.129.16/32",  # Azure's agent and DNS service
            "169.254.0.0/16",  # link-local: the metadata of most clouds
            "172.16.0.0/12",  # private
            "192.0.0.0/24",  # protocol assignments; Oracle Cloud's metadata is in it
            "192.0.2.0/24",  # documentation
            "192.31.196.0/24",  # AS112: answers for private addresses
            "192.52.193.0/24",  # multicast tunnels
            "192.88.99.0/24",  # 6to4 relays, deprecated
            "192.168.0.0/16",  # private
            "192.175.48.0/24",  # AS112
            "198.18.0.0/15",  # benchmarks
            "198.51.100.0/24",  # documentation
            "203.0.113.0/24",  # documentation
            "224.0.0.0/4",  # multicast
            "240.0.0.0/4",  # reserved, and broadcast
        ],
    )
)
# Contains every public IPv6 address, and no loopback, private, link-local or multicast ones.
GLOBAL_UNICAST = IPv6Network("2000::/3")
NOT_PUBLIC_IPV6 = tuple(
    map(
        IPv6Network,
        [
            "2001::/23",  # protocol assignments, such as Teredo tunnels
            "2001:db8::/32",  # documentation
            "2002::/16",  # 6to4 tunnels, which hold an IPv4 address
            "2620:4f:8000::/48",  # AS112
            "3fff::/20",  # documentation
        ],
    )
)
# How IPv6-only networks reach IPv4 (NAT64, RFC 6052). We can't tell whether a network uses
# another prefix.
NAT64 = IPv6Network("64:ff9b::/96")


def is_public(address: Address) -> bool:
    """Whether the address is on the public internet: not this machine, a local network, a
    multicast group or a cloud's metadata service, even when written as an IPv6 address."""
    if isinstance(address, IPv4Address):
        is_listed = any(address in network for network in NOT_PUBLIC_IPV4)
        return not is_listed and address.is_global
    if address.ipv4_mapped is not None:
        return is_public(address.ipv4_mapped)
    if address in NAT64:
        return is_public(_last_four_bytes(address))
    if address not in GLOBAL_UNICAST or any(address in network for network in NOT_PUBLIC_IPV6):
        return False
    if _is_isatap(address) and not is_public(_last_four_bytes(address)):
        return False
    return address.is_global  # a newer Python may know ranges reserved since this list was written


async def resolve(host: str) -> Sequence[Address]:
    """The addresses of `host` in the system's order. Raises OSError or UnicodeError."""
    loop = asyncio.get_running_loop()
    addresses = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(ip_address(sockaddr[0]) for *_, sockaddr in addresses))


def _is_isatap(address: IPv6Address) -> bool:
    """Whether its second half is a tunnel endpoint that contains an IPv4 address (RFC 5214)."""
    return address.packed[8:12] in (b"\x00\x00\x5e\xfe", b"\x02\x00\x5e\xfe")


def _last_four_bytes(address: IPv6Address) -> IPv4Address:
    return IPv4Address(address.packed[-4:])
