"""What tests of channels and locks share: a loop of their own, and turns for whoever waits for one."""

import asyncio
from collections.abc import Awaitable, Callable


def run(test: Callable[[], Awaitable[None]]) -> None:
    async def limited() -> None:
        async with asyncio.timeout(10):
            await test()

    asyncio.run(limited())


async def turns(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)
