"""The folder of a device whose task has succession, with a clock and a server that a test sets."""
from __future__ import annotations

import json
import tempfile
import unittest
from pathlib import Path
from typing import Any, List, Sequence, Union

from basa.fields import Message
from basa.state import DeviceState
from basa.succession import Terms
from basa.terms import term_number

from .made_terms import RECOVERY, made_term, policy_of

FOUR, ONE = policy_of(4, 3), policy_of(1, 1)
GOOD, OTHER = made_term(FOUR, [1, 2, 3]), made_term(FOUR, [2, 3, 4], seat=1)
LOST = made_term(ONE, [], lost=True, recovery=RECOVERY)


class ShowingServer:
    """Shows these terms, or fails."""

    def __init__(self, *terms: Message) -> None:
        self.says: Union[Sequence[Message], Exception] = terms
        self.asked = 0

    def terms(self, task: bytes) -> List[Message]:
        self.asked += 1
        if isinstance(self.says, Exception):
            raise self.says
        return list(self.says)


class DeviceFolder(unittest.TestCase):
    def setUp(self) -> None:
        self._temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self._temporary.name)
        self.addCleanup(self._temporary.cleanup)
        self.now_ms = 0
        self.entered: List[int] = []
        self.state = DeviceState(self.folder)
        self.addCleanup(lambda: self.state.close())

    def restart(self) -> None:
        self.state.close()
        self.state = DeviceState(self.folder)

    def terms(self, server: ShowingServer, policy: Message = FOUR, enter: Any = None) -> Terms:
        def entered(entered: Message) -> None:
            self.entered.append(term_number(entered))

        nobody = lambda policy: False  # noqa: E731
        return Terms(policy, self.state, server, nobody, enter or entered, lambda: self.now_ms)  # type: ignore[arg-type]

    def on_disk(self) -> Any:
        return json.loads((self.folder / "state.json").read_text()).get("terms")
