#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The DHCP codec beside Scapy's, an independent second one: dhcp_codec_test.py DHCP_CODEC FOLDER...

What Scapy writes hcpnet has to read, what hcpnet writes Scapy has to read, and of any bytes whatever the two have to
see the same fields and options, or both that they are none. The folders hold messages: as they are, or as *.hex. Scapy
knows no overload (option 52) and joins no long options (RFC 3396): that is done here, on top of its reader of a field.
"""

import ipaddress
import json
import pathlib
import random
import subprocess
import sys
from typing import Any

from scapy import fields as scapy_fields
from scapy.layers import dhcp as scapy_dhcp

TYPED_MESSAGES, OTHER_MESSAGES = 1000, 4000
HEADER_BYTES = 240
MAX_BYTES, MIN_BYTES = 2048, 300
COOKIE = b"\x63\x82\x53\x63"
OVERLOAD, MESSAGE_TYPE, RELAY_INFORMATION = 52, 53, 82
ROOMS = (300, 320, 400, 548, 1472, 4096)
ADDRESSES = ("ciaddr", "yiaddr", "siaddr", "giaddr")
NUMBERS = ("op", "htype", "hlen", "hops", "xid", "secs", "flags")

Options = list[tuple[int, bytes]]


class Failures:
    def __init__(self) -> None:
        self.count = 0

    def expect(self, is_right: bool, what: str, packet: bytes) -> None:
        if is_right:
            return
        self.count += 1
        if self.count <= 10:
            print(f"{what}: {packet.hex()}", file=sys.stderr)


# --- what Scapy says of bytes


def read_field(data: bytes) -> Options | None:
    """The options of one field up to its end, pieces as they stand. None: a length passes the end of the field."""
    options: Options = []
    for item in scapy_dhcp.DHCPOptionsField("options", b"").m2i(None, data):
        if item == "end":
            break
        if isinstance(item, bytes):
            return None
        if item != "pad":
            options.append((int(item[0]), bytes(item[1])))
    return options


def overload_of(options: Options) -> int:
    values = [data for code, data in options if code == OVERLOAD]
    is_known = bool(values) and len(values[-1]) == 1 and values[-1][0] in (1, 2, 3)
    return values[-1][0] if is_known else 0


def join(fields: list[Options]) -> Options:
    """RFC 3396 section 5; in the order of first appearance, without option 52."""
    joined: dict[int, bytes] = {}
    for code, data in (option for options in fields for option in options if option[0] != OVERLOAD):
        joined[code] = joined.get(code, b"") + data
    return list(joined.items())


def read_options(packet: bytes) -> tuple[list[Options], int] | None:
    """The options of each field that has some, and the overload. None: they are malformed."""
    main = read_field(packet[HEADER_BYTES:])
    if main is None:
        return None
    overload = overload_of(main)
    fields: list[Options | None] = [main]
    if overload & 1:
        fields.append(read_field(packet[108:236]))
    if overload & 2:
        fields.append(read_field(packet[44:108]))
    return None if None in fields else ([options for options in fields if options is not None], overload)


def is_message(packet: bytes) -> bool:
    return HEADER_BYTES <= len(packet) <= MAX_BYTES and packet[236:240] == COOKIE


# --- messages


def typed_message(rng: random.Random) -> tuple[bytes, Options]:
    """As Scapy writes it from values, and what has to be read."""
    expected: Options = [(MESSAGE_TYPE, bytes([rng.randint(1, 8)]))]
    options: list[object] = [("message-type", expected[0][1][0])]
    codes = [c for c in scapy_dhcp.DHCPOptions if c not in (0, 255, OVERLOAD, MESSAGE_TYPE)]
    for code in rng.sample(codes, rng.randint(0, 12)):
        field = scapy_dhcp.DHCPOptions[code]
        name = field if isinstance(field, str) else field.name
        if scapy_dhcp.DHCPRevOptions[name][0] != code:
            continue  # two codes of one name
        sizes = {scapy_fields.IntField: 4, scapy_fields.ShortField: 2, scapy_fields.ByteField: 1}
        if isinstance(field, str):
            values: list[object] = [rng.randbytes(rng.randint(0, 40))]
            data = values[0]
        elif type(field) is scapy_fields.IPField:
            data = rng.randbytes(4 * rng.randint(1, 3))
            values = [str(ipaddress.IPv4Address(data[i : i + 4])) for i in range(0, len(data), 4)]
        elif type(field) in sizes:
            data = rng.randbytes(sizes[type(field)])
            values = [int.from_bytes(data, "big")]
        else:
            continue
        assert isinstance(data, bytes)
        options.append((name, *values))
        expected.append((code, data))
    header = scapy_dhcp.BOOTP(
        op=rng.randint(1, 2),
        xid=rng.getrandbits(32),
        secs=rng.getrandbits(16),
        flags=rng.choice((0, 0x8000)),
        ciaddr=str(ipaddress.IPv4Address(rng.getrandbits(32))),
        giaddr=str(ipaddress.IPv4Address(rng.getrandbits(32))),
        chaddr=rng.randbytes(6),
    )
    return bytes(header / scapy_dhcp.DHCP(options=[*options, "end"])), expected


def some_options(rng: random.Random, room: int) -> bytes:
    out = b""
    while rng.random() < 0.85:
        code = rng.choice((0, 1, 12, 43, 53, 55, 61, 82, rng.randint(1, 254)))
        size = rng.choice((0, 1, 4, rng.randint(0, 40), rng.randint(0, 255)))
        option = bytes([code]) if code == 0 else bytes([code, size]) + rng.randbytes(size)
        if len(out) + len(option) >= room:
            break
        out += option
    return out + (b"\xff" if rng.random() < 0.9 else b"")


def other_message(rng: random.Random) -> bytes:
    """Long and repeated options, overload, no end, and every kind of damage."""
    header = bytearray(rng.randbytes(44) + bytes(192))
    options = some_options(rng, 1200)
    if rng.random() < 0.3:
        options = bytes([OVERLOAD, 1, rng.choice((1, 2, 3, 3, 4))]) + options
        header[44 : 44 + 64] = some_options(rng, 64).ljust(64, b"\0")
        header[108:236] = some_options(rng, 128).ljust(128, b"\0")
    elif rng.random() < 0.3:
        header[44:236] = rng.randbytes(192)
    packet = bytearray(header + COOKIE + options)
    damage = rng.random()
    if damage < 0.15:
        del packet[rng.randrange(len(packet)) :]
    elif damage < 0.3:
        packet[rng.randrange(len(packet))] = rng.getrandbits(8)
    elif damage < 0.35:
        packet += rng.randbytes(rng.randint(1, 1500))
    return bytes(packet)


def stored_messages(folder: pathlib.Path) -> list[bytes]:
    out = []
    for file in sorted(folder.iterdir()):
        if file.suffix == ".hex":
            out.append(bytes.fromhex("".join(file.read_text().split())))
        elif not file.suffix:
            out.append(file.read_bytes())
    return out


# --- the comparison


def compare_header(packet: bytes, ours: dict[str, Any], overload: int, failures: Failures) -> None:
    theirs = scapy_dhcp.BOOTP(packet)
    for name in NUMBERS:
        failures.expect(ours[name] == int(getattr(theirs, name)), name, packet)
    for name in ADDRESSES:
        failures.expect(ours[name] == getattr(theirs, name), name, packet)
    failures.expect(ours["chaddr"] == bytes(theirs.chaddr).ljust(16, b"\0").hex(), "chaddr", packet)
    failures.expect(ours["file"] == (bytes(128) if overload & 1 else bytes(theirs.file)).hex(), "file", packet)
    failures.expect(ours["sname"] == (bytes(64) if overload & 2 else bytes(theirs.sname)).hex(), "sname", packet)


def compare_encoded(packet: bytes, options: Options, room: int, ours: dict[str, Any], failures: Failures) -> None:
    if "encoded" not in ours:
        relayed = dict(options).get(RELAY_INFORMATION)
        pieces = 0 if relayed is None else max(1, -(-len(relayed) // 255))
        needed = 0 if relayed is None else len(relayed) + 2 * pieces
        return failures.expect(HEADER_BYTES + needed + 1 > room, f"not written into {room} bytes", packet)
    encoded = bytes.fromhex(ours["encoded"])
    read = read_options(encoded) if encoded[236:240] == COOKIE else None
    if read is None or not MIN_BYTES <= len(encoded) <= room:
        return failures.expect(False, f"what was written into {room} bytes is no message", packet)
    fields, overload = read
    written = join(fields)
    wanted = sorted(options, key=lambda option: option[0] == RELAY_INFORMATION)
    if ours["omitted"] == 0 and not overload:
        failures.expect(written == wanted, f"options written into {room} bytes", packet)
    else:
        failures.expect(set(written) <= set(wanted), f"options written into {room} bytes", packet)
        failures.expect(len(written) + ours["omitted"] == len(wanted), "options left out", packet)
    if any(code == RELAY_INFORMATION for code, _ in written):
        failures.expect(fields[0][-1][0] == RELAY_INFORMATION, "option 82 is not the last one", packet)


def compare(packet: bytes, room: int, ours: dict[str, Any], failures: Failures) -> None:
    read = read_options(packet) if is_message(packet) else None
    if read is None or "error" in ours:
        return failures.expect((read is None) == ("error" in ours), f"one of the two refuses it, {ours}", packet)
    fields, overload = read
    options = join(fields)
    compare_header(packet, ours, overload, failures)
    read_by_us = [(code, bytes.fromhex(data)) for code, data in ours["options"]]
    failures.expect(read_by_us == options, "options", packet)
    compare_encoded(packet, options, room, ours, failures)


def main() -> int:
    seed = random.SystemRandom().getrandbits(32)
    rng = random.Random(seed)
    typed = [typed_message(rng) for _ in range(TYPED_MESSAGES)]
    scapy_dhcp.DHCPOptions.clear()  # from here on bytes are bytes, whatever their type
    stored = [packet for folder in sys.argv[2:] for packet in stored_messages(pathlib.Path(folder))]
    packets = [packet for packet, _ in typed] + stored + [other_message(rng) for _ in range(OTHER_MESSAGES)]
    rooms = [rng.choice(ROOMS) for _ in packets]
    lines = "".join(f"{room} {packet.hex()}\n" for room, packet in zip(rooms, packets, strict=True))
    done = subprocess.run([sys.argv[1]], input=lines, capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    failures = Failures()
    for packet, room, ours in zip(packets, rooms, answers, strict=True):
        compare(packet, room, ours, failures)
    for (packet, expected), ours in zip(typed, answers[: len(typed)], strict=True):
        options = [(code, bytes.fromhex(data)) for code, data in ours.get("options", [])]
        failures.expect(options == expected, "options that Scapy wrote", packet)
    refused = sum("error" in ours for ours in answers)
    print(f"{len(packets)} messages, {len(stored)} stored ones; {refused} are none; seed {seed}")
    if failures.count:
        print(f"{failures.count} differences", file=sys.stderr)
    return 1 if failures.count or not stored or refused == len(packets) else 0


if __name__ == "__main__":
    sys.exit(main())
