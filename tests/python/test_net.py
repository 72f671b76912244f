# SPDX-License-Identifier: Apache-2.0
"""hcpnet.Endpoint, and addresses as arguments."""

from ipaddress import IPv4Address, IPv6Address

import pytest
from hcpnet import Endpoint


def test_holds_addresses_of_the_standard_library() -> None:
    assert Endpoint("192.0.2.1", 53).address == IPv4Address("192.0.2.1")
    assert Endpoint(IPv6Address("2001:db8::1"), 53).address == IPv6Address("2001:db8::1")
    assert str(Endpoint("2001:db8::1", 53)) == "[2001:db8::1]:53"


def test_compares_and_hashes_by_value() -> None:
    assert Endpoint("192.0.2.1", 53) == Endpoint(IPv4Address("192.0.2.1"), 53)
    assert Endpoint("192.0.2.1", 53) != Endpoint("192.0.2.1", 54)
    assert Endpoint("192.0.2.1", 53) != "192.0.2.1:53"
    assert len({Endpoint("192.0.2.1", 53), Endpoint("192.0.2.1", 53)}) == 1


@pytest.mark.parametrize("text", ["", "192.0.2", "192.0.2.01", "192.0.2.256", "fe80::1%eth0", "example.com"])
def test_refuses_what_is_no_address(text: str) -> None:
    with pytest.raises(ValueError, match="is not an IP address"):
        Endpoint(text, 53)


def test_half_a_character_is_no_address() -> None:
    with pytest.raises(ValueError, match="surrogates"):
        Endpoint("\udc80", 53)


def test_refuses_ports_out_of_range_and_other_types() -> None:
    with pytest.raises(TypeError):
        Endpoint("192.0.2.1", 65536)
    with pytest.raises(TypeError):
        Endpoint(3221225985, 53)  # type: ignore[arg-type]
