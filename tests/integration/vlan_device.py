#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A VLAN on top of an interface, for a kernel that has no VLAN devices: vlan_device.py LOWER UPPER ID.

What comes in at LOWER with the tag goes out at UPPER, the far end of a veth pair, without it, and the other way round.
The kernel takes tags out of frames, so those of what comes in are in the auxiliary data (packet(7), PACKET_AUXDATA).
"""

from __future__ import annotations

import select
import socket
import struct
import sys

ETH_P_ALL = 0x0003
ETH_P_8021Q = 0x8100
SOL_PACKET = 263
PACKET_AUXDATA = 8
TP_STATUS_CSUMNOTREADY = 0x08
TP_STATUS_VLAN_VALID = 0x10
AUXDATA = struct.Struct("=IIIHHHH")  # status, length, captured, mac, net, tag, its protocol
ADDRESS_BYTES = 12  # of both ends, before the tag
IPV4_UDP = (b"\x08\x00\x45", 17)  # no options: type of the frame and first byte of the header; protocol


def open_interface(name: str) -> socket.socket:
    packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)  # nothing comes in before it is bound
    packets.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
    packets.bind((name, ETH_P_ALL))
    return packets


def with_checksum(frame: bytes) -> bytes:
    """What the kernel leaves to a network card, which a veth pair has not: the checksum of UDP (RFC 768)."""
    if (frame[12:15], frame[23]) != IPV4_UDP:
        return frame
    end = 14 + int.from_bytes(frame[16:18], "big")
    datagram = frame[34:40] + bytes(2) + frame[42:end]
    summed = frame[26:34] + struct.pack("!HH", 17, len(datagram)) + datagram + bytes(len(datagram) % 2)
    total = sum(struct.unpack(f"!{len(summed) // 2}H", summed))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return frame[:40] + struct.pack("!H", ~total & 0xFFFF or 0xFFFF) + frame[42:]


def receive(packets: socket.socket) -> tuple[bytes, int | None]:
    """A frame and the VLAN of its tag; empty when it is one of our own that goes out."""
    frame, ancillary, _, address = packets.recvmsg(65535, socket.CMSG_SPACE(AUXDATA.size))
    if address[2] == socket.PACKET_OUTGOING:
        return b"", None
    for level, kind, data in ancillary:
        if (level, kind) == (SOL_PACKET, PACKET_AUXDATA):
            status, _, _, _, _, tag, _ = AUXDATA.unpack(data)
            if status & TP_STATUS_CSUMNOTREADY:
                frame = with_checksum(frame)
            return frame, tag & 0xFFF if status & TP_STATUS_VLAN_VALID else None
    return frame, None


def main() -> None:
    lower, upper = open_interface(sys.argv[1]), open_interface(sys.argv[2])
    vlan = int(sys.argv[3])
    print("ready", flush=True)
    while True:
        readable, _, _ = select.select([lower, upper], [], [])
        for packets in readable:
            frame, tag = receive(packets)
            if not frame:
                continue
            if packets is upper and tag is None:
                header = struct.pack("!HH", ETH_P_8021Q, vlan)
                lower.send(frame[:ADDRESS_BYTES] + header + frame[ADDRESS_BYTES:])
            elif packets is lower and tag == vlan:
                upper.send(frame)


if __name__ == "__main__":
    main()
