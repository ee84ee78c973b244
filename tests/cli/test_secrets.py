"""Protects secrets: after runs with TLS and SASL, no file of the results holds the password or a private key."""

import subprocess
import sys
from pathlib import Path

RUNS = """
import sys
from pathlib import Path
from cli.main import main
from harness.brokers.security import PLAINTEXT
out = Path(sys.argv[1])
scenarios = ["sarama-tls-sasl", "sarama-sasl-refused"]
code = main(["run", *scenarios, "--env", "sim", "--out", str(out), "--junit", str(out / "junit.xml")])
secrets = PLAINTEXT.credentials.password.encode(), b"PRIVATE KEY"
files = [path for path in out.rglob("*") if path.is_file()]
print(code, len(files), sum(secret in path.read_bytes() for path in files for secret in secrets))
print(PLAINTEXT.credentials.password, file=sys.stderr)
"""


def test_no_secret_is_in_the_results(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", RUNS, str(tmp_path / "out")], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    *said, found = ended.stdout.splitlines()
    code, files, secrets = map(int, found.split())
    assert (code, secrets) == (0, 0), ended.stdout
    assert files > 3
    password = ended.stderr.splitlines()[-1]
    assert password not in "\n".join(said)
