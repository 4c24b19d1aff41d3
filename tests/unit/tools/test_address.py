"""Whether an address is public. Only the function is tested; nothing is sent anywhere."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest

from navi.live.tools.web.public_address import is_public, resolve

METADATA = [  # metadata services, which hold a machine's secrets
    "169.254.169.254",  # AWS, Google, Azure, Oracle, OpenStack and more
    "169.254.170.2",  # AWS, containers
    "169.254.170.23",  # AWS, pods
    "169.254.42.42",  # Scaleway
    "169.254.0.23",  # Tencent
    "100.100.100.200",  # Alibaba
    "168.63.129.16",  # Azure
    "192.0.0.192",  # Oracle
]
NOT_PUBLIC = [
    *METADATA,
    "0.0.0.0",
    "0.255.255.255",
    "10.1.2.3",
    "100.64.0.1",
    "127.0.0.1",
    "127.255.255.254",
    "172.16.0.1",
    "192.0.0.1",
    "192.0.0.9",  # Python 3.13 counts this one, an anycast address, as public
    "192.0.0.170",
    "192.0.0.255",
    "192.0.2.1",
    "192.31.196.1",
    "192.52.193.1",
    "192.88.99.1",
    "192.168.1.1",
    "192.175.48.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
]
NOT_PUBLIC_IPV6 = [
    "::",
    "::1",
    "::ffff:0:127.0.0.1",
    "64:ff9b:1::1",
    "100::1",
    "100:0:0:1::1",
    "2001::1",  # Teredo
    "2001:1::1",
    "2001:2::1",
    "2001:3::1",
    "2001:4:112::1",
    "2001:10::1",
    "2001:20::1",
    "2001:30::1",
    "2001:1ff:ffff::1",
    "2001:db8::1",
    "2002:808:808::1",  # 6to4 is obsolete, so such an address is suspicious
    "2620:4f:8000::1",
    "3fff::1",
    "3fff:fff:ffff::1",
    "4000::1",
    "5f00::1",
    "fc00::1",
    "fd00:42::42",  # metadata of Scaleway
    "fd00:ec2::23",  # metadata of AWS, pods
    "fd00:ec2::254",  # metadata of AWS
    "fd12:3456::1",
    "fd20:ce::254",  # metadata of Google
    "fe80::1",
    "fe80::1%eth0",
    "fe80::a9fe:a9fe",  # metadata of OpenStack
    "fec0::1",
    "ff02::1",
    "ff0e::1",
]
PUBLIC = [
    *("1.0.0.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.1"),
    *("126.255.255.255", "128.0.0.1", "168.63.129.15", "168.63.129.17", "169.253.255.255"),
    *("169.255.0.1", "172.15.255.255", "172.32.0.1", "192.0.1.0", "192.0.3.1", "192.88.98.255"),
    *("192.88.100.1", "192.167.255.255", "192.169.0.1", "198.17.255.255", "198.20.0.1"),
    *("203.0.112.1", "203.0.114.1", "223.255.255.255"),
]
PUBLIC_IPV6 = [
    *("2001:200::1", "2001:db7::1", "2001:db9::1", "2003::1", "2606:4700::1111"),
    *("2620:4f:8001::1", "3ffe::1", "3fff:1000::1"),
]

HIDDEN_IN_IPV6 = {
    "compatible": lambda inner: IPv6Address(int(inner)),
    "mapped": lambda inner: IPv6Address((0xFFFF << 32) | int(inner)),
    "translated": lambda inner: IPv6Address((0xFFFF << 48) | int(inner)),
    "NAT64": lambda inner: IPv6Address((0x64FF9B << 96) | int(inner)),
    "local NAT64": lambda inner: IPv6Address((0x64FF9B0001 << 80) | int(inner)),
    "6to4": lambda inner: IPv6Address((0x2002 << 112) | (int(inner) << 80) | 1),
    "Teredo server": lambda inner: IPv6Address((0x20010000 << 96) | (int(inner) << 64)),
    "Teredo client": lambda inner: IPv6Address((0x20010000 << 96) | (int(inner) ^ 0xFFFFFFFF)),
    "ISATAP": lambda inner: IPv6Address((0x26064700 << 96) | (0x5EFE << 32) | int(inner)),
    "global ISATAP": lambda inner: IPv6Address(
        (0x26064700 << 96) | (0x02005EFE << 32) | int(inner)
    ),
}


@pytest.mark.parametrize("address", [*NOT_PUBLIC, *NOT_PUBLIC_IPV6])
def test_an_address_that_is_not_on_the_open_internet_is_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("form", HIDDEN_IN_IPV6)
def test_no_way_to_write_it_as_ipv6_makes_an_address_public(form: str) -> None:
    written = {each: HIDDEN_IN_IPV6[form](IPv4Address(each)) for each in NOT_PUBLIC}
    assert [each for each, address in written.items() if is_public(address)] == []


@pytest.mark.parametrize("address", [*PUBLIC, *PUBLIC_IPV6])
def test_an_address_on_the_open_internet_is_public(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize("form", ["mapped", "NAT64", "ISATAP", "global ISATAP"])
def test_a_public_address_stays_public_where_ipv6_networks_write_it_so(form: str) -> None:
    written = {each: HIDDEN_IN_IPV6[form](IPv4Address(each)) for each in PUBLIC}
    assert [each for each, address in written.items() if not is_public(address)] == []


def test_the_answer_does_not_depend_on_what_python_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(IPv4Address, "is_global", True)
    monkeypatch.setattr(IPv6Address, "is_global", True)
    addresses = [*NOT_PUBLIC, *NOT_PUBLIC_IPV6]
    assert [each for each in addresses if is_public(ip_address(each))] == []


@pytest.mark.parametrize("name", ["127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1"])
async def test_every_way_to_write_an_address_means_that_address(name: str) -> None:
    assert await resolve(name) == [ip_address("127.0.0.1")]


async def test_each_address_of_a_name_comes_once() -> None:
    addresses = await resolve("localhost")
    assert addresses
    assert len(addresses) == len(set(addresses))
    assert all(address.is_loopback for address in addresses)
