# SPDX-License-Identifier: Apache-2.0
from collections.abc import Mapping, Sequence
from typing import Any

def render(
    texts: Mapping[str, str],
    *,
    observed: Mapping[str, str] = ...,
    deployment: str = ...,
    image: str = ...,
    coredns_image: str = ...,
    link: str = ...,
    without: Sequence[str] = ...,
) -> list[dict[str, Any]]: ...
def cut_name(base: str, suffix: str = ..., limit: int = ...) -> str: ...
