# SPDX-License-Identifier: Apache-2.0
from collections.abc import Mapping, Sequence
from typing import Any

from hcpnet._core import Diagnostic

class Action:
    @property
    def kind(self) -> str: ...
    @property
    def object(self) -> dict[str, Any]: ...
    @property
    def patch(self) -> list[dict[str, Any]] | None: ...
    @property
    def reason(self) -> str: ...

class Held:
    @property
    def object(self) -> dict[str, Any]: ...
    @property
    def reason(self) -> str: ...
    @property
    def field(self) -> str: ...
    @property
    def message(self) -> str: ...

class Plan:
    @property
    def actions(self) -> list[Action]: ...
    @property
    def held(self) -> list[Held]: ...
    @property
    def warnings(self) -> list[Diagnostic]: ...

def make_plan(
    texts: Mapping[str, str],
    *,
    observed: Mapping[str, str] = ...,
    may_recreate: bool = ...,
    deployment: str = ...,
    image: str = ...,
    coredns_image: str = ...,
    link: str = ...,
    without: Sequence[str] = ...,
    admission_version: str = ...,
) -> Plan: ...
def make_guest_plan(
    texts: Mapping[str, str],
    hosted_cluster: str,
    *,
    observed: Mapping[str, str] = ...,
    guest_observed: Mapping[str, str] = ...,
    may_recreate: bool = ...,
    coredns_image: str = ...,
) -> Plan: ...
