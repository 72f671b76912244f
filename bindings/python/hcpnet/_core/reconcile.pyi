# SPDX-License-Identifier: Apache-2.0
from collections.abc import Mapping, Sequence
from datetime import timedelta
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

class WriteStep:
    @property
    def kind(self) -> str: ...
    @property
    def verb(self) -> str: ...
    @property
    def delay(self) -> timedelta: ...

class ObjectWrite:
    def __init__(
        self,
        first: str,
        *,
        max_conflicts: int = ...,
        first_delay: timedelta = ...,
        max_delay: timedelta = ...,
    ) -> None: ...
    @property
    def verb(self) -> str: ...
    def on_answer(
        self, status: int, chance: float, *, reason: str = ..., retry_after: timedelta | None = ...
    ) -> WriteStep: ...

def overlay(observed: Mapping[str, object], desired: Mapping[str, object]) -> dict[str, Any]: ...
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
    record_files: Mapping[str, str] = ...,
) -> Plan: ...
def make_guest_plan(
    texts: Mapping[str, str],
    hosted_cluster: str,
    *,
    observed: Mapping[str, str] = ...,
    guest_observed: Mapping[str, str] = ...,
    may_recreate: bool = ...,
    coredns_image: str = ...,
    record_files: Mapping[str, str] = ...,
) -> Plan: ...
