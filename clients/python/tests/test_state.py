"""The folder of a device: nothing leaves that is not on disk."""
from __future__ import annotations

import errno
import tempfile
import unittest
from pathlib import Path
from typing import List
from unittest import mock

from basa.errors import StateProblem
from basa.state import DeviceState


def _full_disk(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


class FailedWrites(unittest.TestCase):
    def test_a_session_that_could_not_be_written_is_not_sent(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            state = DeviceState(Path(name))
            with mock.patch("basa.state._replace", _full_disk), self.assertRaises(OSError):
                state.begin({"serial": 0, "at": 0}, {"upload": ""}, bytes(4))
            # The application tries again, now with room on the disk: the session must not be in its way as if it were durable.
            for ask in (lambda: state.session, state.end_session):
                with self.assertRaises(StateProblem) as no:
                    ask()
                self.assertEqual(no.exception.code, "folder-failed")
            state.close()
            again = DeviceState(Path(name))
            self.assertEqual((again.session, again.given_serial), (None, -1))
            again.close()


class Folders(unittest.TestCase):
    def test_the_names_of_new_folders_are_durable_before_the_first_file(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            did: List[object] = []
            with mock.patch("basa.state._flush_folder", lambda path: did.append(path.name)), mock.patch("basa.state._replace", lambda path, _: did.append(path.write_bytes(bytes(32)))):
                DeviceState(Path(name) / "first" / "second").close()
            self.assertEqual(did[:3], ["first", Path(name).name, 32])

    def _refused(self, folder: Path) -> str:
        with self.assertRaises(StateProblem) as no:
            DeviceState(folder)
        return no.exception.code

    def test_a_folder_of_the_client_for_node_is_refused_and_not_changed(self) -> None:
        for name in ("journal", "lock-machine-0123456789abcdef"):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                (Path(folder) / name).write_bytes(b"")
                self.assertEqual(self._refused(Path(folder)), "folder-of-node")
                self.assertEqual([path.name for path in Path(folder).iterdir()], [name])

    def test_a_folder_of_version_0_3_is_refused(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "state.json").write_text('{"entered": [], "given": {}}')
            for _ in range(2):
                self.assertEqual(self._refused(Path(folder)), "folder-of-another-version")

    def test_a_node_that_comes_at_the_same_time_is_seen(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)

            def lock(*_: object) -> None:
                (folder / "lock-machine-0123456789abcdef").write_bytes(b"")

            with mock.patch("basa.state.fcntl.flock", lock):
                self.assertEqual(self._refused(folder), "folder-of-node")
            self.assertEqual([path.name for path in folder.iterdir()], ["lock-machine-0123456789abcdef"])


if __name__ == "__main__":
    unittest.main()
