# SPDX-License-Identifier: Apache-2.0
import enum

from typing_extensions import Buffer

class HostKind(enum.Enum):
    dns_name = 0
    ip_address = 1
    unusable = 2

class ClientHello:
    @property
    def server_name(self) -> str | None: ...
    @property
    def host_kind(self) -> HostKind: ...
    @property
    def alpn(self) -> list[bytes]: ...
    @property
    def consumed_bytes(self) -> int: ...

def parse_client_hello(data: Buffer) -> ClientHello: ...
