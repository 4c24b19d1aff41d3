from __future__ import annotations

from ipaddress import ip_address

import pytest

from navi.tools.address import is_public, resolve


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.255.255.254",
        "0.0.0.0",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "100.64.0.1",  # behind a provider's own translation
        "169.254.169.254",  # where clouds keep the secrets of a machine
        "192.0.2.1",
        "198.18.0.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "fe80::1",
        "fe80::1%eth0",
        "fc00::1",
        "fd12:3456::1",
        "fec0::1",
        "ff02::1",
        "ff0e::1",
        "2001:db8::1",
        "::ffff:127.0.0.1",  # the same addresses, written as IPv6
        "::ffff:10.0.0.1",
        "::127.0.0.1",
        "64:ff9b::127.0.0.1",
        "64:ff9b::192.168.0.1",
        "64:ff9b:1::1",
        "2002:7f00:1::1",
        "2001:0:1::1",
    ],
)
def test_an_address_that_is_not_in_the_open_internet_is_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize(
    "address",
    [
        "8.8.8.8",
        "172.32.0.1",
        "100.128.0.1",
        "2606:4700::1111",
        "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8",
    ],
)
def test_an_address_in_the_open_internet_is_public(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize("name", ["127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1"])
async def test_every_way_to_write_an_address_means_that_address(name: str) -> None:
    assert await resolve(name) == [ip_address("127.0.0.1")]


async def test_each_address_of_a_name_comes_once() -> None:
    found = await resolve("localhost")
    assert found
    assert len(found) == len(set(found))
    assert all(address.is_loopback for address in found)
