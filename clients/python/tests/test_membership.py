"""The part of a device in its task: pinned keys and certificates."""
from __future__ import annotations

import tempfile
import unittest
from pathlib import Path
from typing import Any, List, Optional, Sequence, Union
from unittest import mock

from basa.errors import BasaError, Refused, SettingsError, Unreachable
from basa.floor import Floor
from basa.fields import Message
from basa.membership import Membership
from basa.settings import Settings
from basa.state import DeviceState
from basa.suite import sha256

from .councilcheck import COUNCIL, SIGNERS, device_certificate, small_policy

FOUR = small_policy(4)
DEVICE = bytes(32)


class DeviceFolder(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.state = DeviceState(self.folder)
        self.addCleanup(self.state.close)


class _Enrolling:
    """Authorities that enrol or fail."""

    def __init__(self, says: Union[Message, Exception]) -> None:
        self._says, self.asked = says, 0

    def enrol(self, task: bytes, token: Optional[bytes], device: bytes) -> Message:
        self.asked += 1
        if isinstance(self._says, Exception):
            raise self._says
        return self._says


class Certificates(DeviceFolder):
    def _certificate(self, says: Union[Message, Exception]) -> Any:
        member = Membership(Settings("", [], [], bytes(32), self.folder), self.state)
        asked = _Enrolling(says)
        member.policy, member.authorities = FOUR, asked  # type: ignore[assignment]
        try:
            return member.certificate().raw, asked.asked
        except BasaError as no:
            return no.code

    def test_a_device_enrols_once(self) -> None:
        mine = device_certificate(FOUR, DEVICE)
        self.assertEqual(self._certificate(mine), (mine.raw, 1))
        self.assertEqual(self._certificate(Unreachable("down")), (mine.raw, 0))

    def test_a_certificate_of_another_task_does_not_count(self) -> None:
        self.state.keep("certificate", device_certificate(small_policy(1), DEVICE).raw)
        self.assertEqual(self._certificate(Refused("wrong-certificate")), "wrong-certificate")


class _Server:
    """The server of a task, in place of the real one."""

    key = FOUR.server

    def __init__(self, *_: object) -> None:
        self.link = mock.Mock()

    def public_key(self) -> bytes:
        return self.key


class Connecting(DeviceFolder):
    def _connected(self, keys: Sequence[bytes], predecessor: Optional[bytes] = None, **server: Any) -> Optional[str]:
        addresses = ["https://pinned.example"] * len(keys)
        settings = Settings("https://server.example", addresses, keys, sha256(FOUR.raw), self.folder, floor=Floor(minimum=2, no_noise=True), predecessor=predecessor)
        member = Membership(settings, self.state)
        with mock.patch("basa.membership.Server", type("_Fake", (_Server,), server)):
            with mock.patch("basa.membership.policy_of", return_value=FOUR), mock.patch.object(Membership, "certificate"):
                try:
                    member.connect()
                except Refused as no:
                    return no.code
        return None

    def test_exactly_the_authorities_of_the_policy_are_pinned_in_any_order(self) -> None:
        keys: List[bytes] = list(COUNCIL.keys)
        self.assertIsNone(self._connected(keys))
        self.assertIsNone(self._connected(keys[::-1]))
        stranger = SIGNERS[0].public[::-1]
        for others in ([stranger, *keys[1:]], keys[:3], [*keys, stranger]):
            self.assertEqual(self._connected(others), "wrong-authority")

    def test_the_server_has_the_key_of_the_policy(self) -> None:
        self.assertEqual(self._connected(COUNCIL.keys, key=b"\7" * 32), "wrong-server")

    def test_a_folder_of_another_task_is_refused(self) -> None:
        self.state.keep("certificate", device_certificate(small_policy(1), DEVICE).raw)
        self.assertEqual(self._connected(COUNCIL.keys), "store-of-another-task")

    def test_a_folder_of_the_predecessor_keeps_what_it_gave_and_loses_its_certificate(self) -> None:
        self.state.keep("certificate", device_certificate(small_policy(1), DEVICE).raw)
        self.state.begin({"serial": 7, "at": 1, "task": "00" * 32, "model": "01" * 32}, {"upload": ""}, b"body")
        other = sha256(b"another task")
        self.assertEqual(self._connected(COUNCIL.keys, predecessor=other), "store-of-another-task")
        self.assertIsNone(self._connected(COUNCIL.keys, predecessor=sha256(small_policy(1).raw)))
        self.assertEqual((self.state.get("certificate"), self.state.session), (None, None))
        self.assertEqual((self.state.given_serial, self.state.given_uploads, self.state.given_parameters), (7, 1, b"\1" * 32))

    def test_there_is_an_address_for_each_key(self) -> None:
        with self.assertRaises(SettingsError):
            Membership(Settings("", [], list(COUNCIL.keys), bytes(32), self.folder), self.state).connect()


if __name__ == "__main__":
    unittest.main()
