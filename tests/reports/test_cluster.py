"""Protects that a cluster makes the same tables as one process: a real master and two workers, on 127.0.0.1."""

import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from time import monotonic, sleep
from urllib.request import urlopen

import pytest

from bench.inputs.synthetic_suite import SyntheticBlackhole, write_suite
from harness.records.run import RunRecord
from reports.ingest.size import Size
from reports.jvm.class_archive import class_archive_for, spark_home
from reports.jvm.process import die_with_parent
from reports.jvm.runtime import find_java
from reports.jvm.shim import home_for_spark
from reports.session import MEMORY_A_BYTE, driver_memory_bytes, large_settings, size_for

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(600)]
DEPLOY = "org.apache.spark.deploy"
UP_WITHIN_S = 60.0

BUILD = """
import sys
from pathlib import Path
import reports
on = sys.argv[2] if sys.argv[2] != "here" else None
few = {"spark.sql.shuffle.partitions": "3"} if on else {}
made = reports.build(sys.argv[3:], out=Path(sys.argv[1]), progress=lambda line: None, on=on, settings=few)
print(made.runs, made.quarantined)
"""


def free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [int(one.getsockname()[1]) for one in sockets]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A master and two workers of one core each, from the classes that pip installed."""
    folder = tmp_path_factory.mktemp("cluster")
    java = find_java()
    environ = {
        **{name: value for name, value in os.environ.items() if not name.startswith("SPARK_")},
        "JAVA_HOME": str(home_for_spark(java, class_archive_for(java).folder)),
        "SPARK_HOME": str(spark_home()),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    port, page = free_ports(2)
    master = f"spark://127.0.0.1:{port}"
    own = ["--host", "127.0.0.1"]
    commands = [
        ["master.Master", *own, "--port", str(port), "--webui-port", str(page)],
        *[
            ["worker.Worker", *own, "--cores", "1", "--memory", "1200m", "--webui-port", "0", "--work-dir",
             str(folder / f"worker{number}"), master]
            for number in (1, 2)
        ],
    ]  # fmt: skip
    processes = []
    try:
        with (folder / "log").open("wb") as log:
            for name, *arguments in commands:
                command = [str(spark_home() / "bin" / "spark-class"), f"{DEPLOY}.{name}", *arguments]
                bound = die_with_parent()
                processes.append(subprocess.Popen(command, env=environ, stdout=log, stderr=log, preexec_fn=bound))
        wait_for_workers(page, folder / "log")
        yield master
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(20)


def wait_for_workers(page: int, log: Path) -> None:
    until = monotonic() + UP_WITHIN_S
    while monotonic() < until:
        try:
            with urlopen(f"http://127.0.0.1:{page}/json/", timeout=5) as answer:
                if re.search(rb'"aliveworkers"\s*:\s*2', answer.read()):
                    return
        except OSError:
            pass
        sleep(0.1)
    pytest.fail(f"two workers did not come up within {UP_WITHIN_S:.0f} s: {log.read_text()[-2000:]}")


def built(out: Path, on: str, *folders: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", BUILD, str(out), on, *map(str, folders)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_cluster_makes_the_same_tables(
    cluster: str, tmp_path: Path, write_hard_suite: Callable[[Path], list[RunRecord]]
) -> None:
    """Byte by byte: rows are in one order, and no value depends on the order in which workers came to theirs."""
    hard, more = tmp_path / "hard", tmp_path / "more"
    write_hard_suite(hard)
    with (hard / "runs.jsonl").open("a") as runs:
        runs.write('garbage\n{"run_id": "cut sho')
    more.mkdir()
    write_suite(more, [SyntheticBlackhole(brokers=n, seed=3) for n in (1, 2, 3)], repeats=4)
    here = built(tmp_path / "here", "here", hard, more)
    there = built(tmp_path / "there", cluster, hard, more)
    assert here == there
    tables = sorted((tmp_path / "here" / "report").glob("*.parquet"))
    assert len(tables) > 8
    for table in tables:
        assert table.read_bytes() == (tmp_path / "there" / "report" / table.name).read_bytes(), table.stem


def test_few_records_are_large_for_a_cluster() -> None:

    assert size_for([], ["results/x"], on="spark://127.0.0.1:7077") is Size.LARGE
    assert size_for([], ["s3a://bucket/x"], on=None) is Size.LARGE
    assert size_for([], ["results/x"], on=None) is Size.SMALL


def test_as_many_tasks_as_memory_asks_for_and_no_core_without() -> None:
    cores = len(os.sched_getaffinity(0))
    memory = driver_memory_bytes()

    def tasks(size_bytes: int | None) -> int:
        return int(large_settings(size_bytes)["spark.sql.shuffle.partitions"])

    assert (tasks(1), tasks(None)) == (cores, 2 * cores)
    assert tasks(10 * memory) * memory >= 10 * memory * MEMORY_A_BYTE * cores
    assert large_settings(None)["spark.driver.memory"] == f"{memory // 2**20}m"
    assert large_settings(None)["spark.driver.maxResultSize"] == f"{memory // 2 // 2**20}m"
