# SPDX-License-Identifier: Apache-2.0
"""hcpnet.tls."""

import gc
import multiprocessing

import hcpnet
import pytest
from hcpnet.tls import ClientHelloReader, HostKind, classify_host, parse_client_hello
from support import client_hello

HELLO = client_hello("api.blue.example.com", ["h2", "http/1.1"])


def test_reads_what_openssl_sends() -> None:
    hello = parse_client_hello(HELLO)
    assert hello.server_name == "api.blue.example.com"
    assert hello.host_kind is HostKind.dns_name
    assert hello.alpn == [b"h2", b"http/1.1"]
    assert hello.consumed_bytes == len(HELLO)


def test_tells_no_name_from_an_empty_one() -> None:
    assert parse_client_hello(client_hello(None)).server_name is None


def test_every_proper_prefix_needs_more() -> None:
    for size in range(len(HELLO)):
        with pytest.raises(hcpnet.WireError) as error:
            parse_client_hello(HELLO[:size])
        assert error.value.code == "need_more", size


def test_a_reader_goes_on_where_it_was() -> None:
    reader = ClientHelloReader()
    for size in range(len(HELLO)):
        with pytest.raises(hcpnet.WireError) as error:
            reader.read(HELLO[:size])
        assert error.value.code == "need_more", size
    assert reader.read(HELLO + b"more").consumed_bytes == len(HELLO)


def test_a_reader_that_is_given_less_than_before_says_so() -> None:
    body = HELLO[5:]
    in_two_records = HELLO[:3] + b"\x00\x08" + body[:8] + HELLO[:3] + (len(body) - 8).to_bytes(2) + body[8:]
    assert parse_client_hello(in_two_records).server_name == "api.blue.example.com"
    for wrong in (b"", in_two_records[:13], in_two_records[20:]):
        reader = ClientHelloReader()
        with pytest.raises(hcpnet.WireError):
            reader.read(in_two_records[:20])
        with pytest.raises(hcpnet.WireError):
            reader.read(wrong)
    reader = ClientHelloReader()
    with pytest.raises(hcpnet.WireError):
        reader.read(in_two_records[:20])
    with pytest.raises(hcpnet.WireError):
        reader.read(in_two_records[:3] + b"\x00\x01" + in_two_records[5:])


def test_limits_are_the_callers() -> None:
    with pytest.raises(hcpnet.WireError) as error:
        parse_client_hello(HELLO, max_bytes=len(HELLO) - 1)
    assert error.value.code == "too_large"
    with pytest.raises(hcpnet.WireError) as error:
        ClientHelloReader(max_alpn_protocols=1).read(HELLO)
    assert error.value.code == "too_large"


def test_says_what_a_name_is() -> None:
    assert classify_host("api.example.com") is HostKind.dns_name
    assert classify_host("192.0.2.1") is HostKind.ip_address
    assert classify_host("a..b") is HostKind.unusable


def test_names_what_is_wrong() -> None:
    with pytest.raises(hcpnet.WireError) as error:
        parse_client_hello(b"GET / HTTP/1.1\r\n\r\n")
    assert error.value.code == "not_tls"


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_takes_anything_that_holds_bytes(kind: type) -> None:
    assert parse_client_hello(kind(HELLO)).server_name == "api.blue.example.com"


def test_result_outlives_the_buffer() -> None:
    """Case PYB-07."""
    buffer = bytearray(HELLO)
    hello = parse_client_hello(buffer)
    buffer[:] = b"\xff" * len(buffer)
    del buffer[10:]  # would raise BufferError while the memory is held
    del buffer
    gc.collect()
    assert hello.server_name == "api.blue.example.com"
    assert hello.alpn == [b"h2", b"http/1.1"]


def test_refuses_memory_with_gaps_and_text() -> None:
    """Case PYB-07."""
    with pytest.raises(BufferError):
        parse_client_hello(memoryview(HELLO)[::2])
    with pytest.raises(TypeError):
        parse_client_hello("text")  # type: ignore[arg-type]


def test_bytes_that_are_no_text_survive() -> None:
    spoilt = HELLO.replace(b"api.blue", b"\xffpi.blue")
    name = parse_client_hello(spoilt).server_name
    assert name is not None
    assert name.encode(errors="surrogateescape") == b"\xffpi.blue.example.com"
    assert classify_host(name) is HostKind.unusable


def _in_child(hello: bytes) -> str | None:
    return parse_client_hello(hello).server_name


def test_works_in_a_forked_child() -> None:
    """Case PYB-09."""
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply_async(_in_child, (HELLO,)).get(timeout=30) == "api.blue.example.com"
