# SPDX-License-Identifier: Apache-2.0
"""Run by scripts/test with the wheel in a new environment that holds nothing else."""

import hcpnet
from hcpnet.tls import parse_client_hello

try:
    parse_client_hello(b"\x16\x03\x01")
except hcpnet.WireError as error:
    if error.code != "need_more":
        raise
else:
    raise SystemExit("three bytes are no ClientHello")
print("hcpnet", hcpnet.__version__, "from", hcpnet.__file__)
