"""Protects that a prepared message costs no more than the next one: no module is loaded in the middle of a run."""

import subprocess
import sys

PROGRAM = """
import sys
from client.wire.apis.api_versions import API_VERSIONS, ApiVersionsRequest
from client.wire.messages import encode_request, prepare
prepare(API_VERSIONS, 0)
before = set(sys.modules)
encode_request(ApiVersionsRequest(), version=0, correlation_id=1, client_id="mine")
print(sorted(set(sys.modules) - before))
"""


def test_the_first_request_loads_nothing() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
