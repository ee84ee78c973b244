"""A suite of cells that runs until it is killed: started by tests in a process of its own.

`victim.py CELLS`: prints `up` when every cell has its levers pulled and its subject started.
"""

import signal
import sys
import threading
from pathlib import Path

from local_runs import opened, plan, story

from harness.environments.world import Executable, ProgressCallback, RunInterrupted, World
from harness.levers import CloseListener, FilterPackets, PacketAction
from harness.plan import RunPlan
from harness.story import Story


async def conduct(plan: RunPlan, world: World, progress: ProgressCallback, _logs: Path | None) -> Story:
    Path("/dev/shm/left-behind").write_text("x")
    async with (
        world.pull(FilterPackets(broker=1, flow="to_broker", verdict=PacketAction.DROP)),
        world.pull(FilterPackets(broker=1, flow="to_client", verdict=PacketAction.REFUSE)),
        world.pull(CloseListener(broker=1)),
    ):
        process = await world.start(Executable(argv=("sh", "-c", "sleep 1000 & echo up; sleep 1000"), launch={}), None)
        await anext(process.lines())
        progress("up")
        await world.failure()
    return story(plan, world)


def main(cells: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    up = threading.Semaphore(0)

    def one(place: int) -> None:
        try:
            local.run(plan(run_id=str(place), limit_s=1000), lambda _: up.release(), None)
        except RunInterrupted:
            return

    with opened(conduct) as local:
        threads = [threading.Thread(target=one, args=(place,), daemon=True) for place in range(cells)]
        for thread in threads:
            thread.start()
        for _ in threads:
            up.acquire()
        print("up", flush=True)
        for thread in threads:
            thread.join()


main(int(sys.argv[1]))
