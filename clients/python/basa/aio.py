"""`basa.AsyncClient`: the same client for programs with an event loop. Its calls run in a thread."""
from __future__ import annotations

import asyncio
import functools
from typing import Any, Callable, Optional, TypeVar

from .client import Budget, Client
from .fields import Message
from .network import Network
from .rounds import RunSummary
from .settings import Contribution, Model
from .statistics import Report

Result = TypeVar("Result")


class AsyncClient:
    """Takes the same settings as `Client`. A call that is cancelled stops soon, and the next one continues its work.

    Trainers and the listener of events run in the thread, not in the loop.
    """

    def __init__(self, *settings: Any, **more: Any) -> None:
        self._client = Client(*settings, **more)

    @classmethod
    def from_environment(cls, *settings: Any, **more: Any) -> "AsyncClient":
        made = cls.__new__(cls)
        made._client = Client.from_environment(*settings, **more)
        return made

    async def __aenter__(self) -> "AsyncClient":
        await self._in_thread(self._client.__enter__)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def policy(self) -> Message:
        return await self._in_thread(lambda: self._client.policy)

    async def privacy(self) -> str:
        return await self._in_thread(lambda: self._client.privacy)

    async def budget(self) -> Optional[Budget]:
        return await self._in_thread(lambda: self._client.budget)

    async def network(self) -> Optional[Network]:
        return await self._in_thread(self._client.network)

    async def model(self) -> Model:
        return await self._in_thread(self._client.model)

    async def contribute(self, update: Any, **more: Any) -> Contribution:
        return await self._in_thread(functools.partial(self._client.contribute, update, **more))

    async def report(self, values: Report) -> Contribution:
        return await self._in_thread(functools.partial(self._client.report, values))

    async def resume(self) -> Optional[Contribution]:
        return await self._in_thread(self._client.resume)

    async def run(self, trainer: Any, rounds: Optional[int] = None, **more: Any) -> RunSummary:
        return await self._in_thread(functools.partial(self._client.run, trainer, rounds, **more))

    async def close(self) -> None:
        await self._in_thread(self._client.close)

    async def _in_thread(self, work: Callable[[], Result]) -> Result:
        running = asyncio.ensure_future(asyncio.get_running_loop().run_in_executor(None, work))
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            self._client.stop()
            # The thread ends at its next step, and holds the folder until then.
            await asyncio.wait([running])
            running.exception()
            raise
