"""Succession on a device: terms are durable before they count, and certificates, members and addresses follow them."""
from __future__ import annotations

import errno
import json
import tempfile
import unittest
from pathlib import Path
from typing import Any, List, Optional, Sequence, Union
from unittest import mock

from basa.council import council_of
from basa.device import Device
from basa.errors import BasaError, Refused, StateProblem, Unreachable
from basa.fields import Message
from basa.layouts import LINE
from basa.link import Problem
from basa.membership import Membership
from basa.newest import Newest
from basa.services import Authority, Server
from basa.settings import Settings
from basa.state import DeviceState
from basa.succession import Terms, read_terms
from basa.suite import sha256
from basa.terms import SERVER_SEAT, in_term, policy_in, term_hash, term_number

from .made_terms import RECOVERY, SERVER, WEEK, made_term, policy_of, signer
from .termcheck import certificate_of as _certificate

_FOUR, _ONE = policy_of(4, 3), policy_of(1, 1)
_GOOD, _OTHER = made_term(_FOUR, [1, 2, 3]), made_term(_FOUR, [2, 3, 4], seat=1)
_LOST = made_term(_ONE, [], lost=True, recovery=RECOVERY)


def _full_disk(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


class _Server:
    """Shows these terms, or fails."""

    def __init__(self, *terms: Message) -> None:
        self.says: Union[Sequence[Message], Exception] = terms
        self.asked = 0

    def terms(self, task: bytes) -> List[Message]:
        self.asked += 1
        if isinstance(self.says, Exception):
            raise self.says
        return list(self.says)


class _Folder(unittest.TestCase):
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

    def terms(self, server: _Server, policy: Message = _FOUR, enter: Any = None) -> Terms:
        def entered(entered: Message) -> None:
            self.entered.append(term_number(entered))

        nobody = lambda policy: False  # noqa: E731
        return Terms(policy, self.state, server, nobody, enter or entered, lambda: self.now_ms)  # type: ignore[arg-type]

    def on_disk(self) -> Any:
        return json.loads((self.folder / "state.json").read_text()).get("terms")


class Following(_Folder):
    def test_a_term_is_on_disk_before_the_device_is_in_it(self) -> None:
        self.now_ms = WEEK

        def enter(policy: Message) -> None:
            self.assertEqual((self.on_disk()["followed"], term_number(policy)), (1, 1))
            self.entered.append(1)

        self.terms(_Server(_GOOD), enter=enter).follow()
        self.assertEqual(self.entered, [1])

    def test_a_term_that_could_not_be_written_is_not_entered(self) -> None:
        self.now_ms = WEEK
        terms = self.terms(_Server(_GOOD))
        with mock.patch("basa.state._replace", _full_disk), self.assertRaises(OSError):
            terms.follow()
        with self.assertRaises(StateProblem):
            terms.follow()
        self.assertEqual(self.entered, [])

    def test_the_next_process_is_in_the_same_term_without_the_server(self) -> None:
        self.now_ms = WEEK
        self.terms(_Server(_GOOD)).follow()
        self.restart()
        self.assertEqual(term_number(policy_in(_FOUR, read_terms(self.state))), 1)
        server = _Server()
        server.says, self.now_ms = Unreachable("down"), 0
        self.terms(server).follow()
        self.assertEqual(self.entered, [1, 1])

    def test_with_one_authority_the_wait_goes_on_over_a_restart(self) -> None:
        self.now_ms = 5 * WEEK
        self.terms(_Server(_LOST), _ONE).follow()
        for passed, expected in ((WEEK - 1, 0), (WEEK, 1)):
            self.restart()
            self.now_ms = 5 * WEEK + passed
            self.terms(_Server(_LOST), _ONE).follow()
            self.assertEqual(self.entered[-1], expected)

    def test_a_line_that_is_refused_is_refused_again_at_once(self) -> None:
        server = _Server(_GOOD)
        terms = self.terms(server)
        terms.follow()
        server.says = [_OTHER]
        for _ in range(2):
            self.now_ms += 60_000
            with self.assertRaises(Refused) as no:
                terms.follow()
            self.assertEqual(no.exception.code, "term-forked")
            with self.assertRaises(Refused):
                terms.follow()
        self.assertEqual(len(self.on_disk()["seen"]), 1)

    def test_the_server_is_asked_now_and_then(self) -> None:
        server = _Server()
        terms = self.terms(server)
        for self.now_ms in (0, 1000, 59_999, 60_000, 60_001):
            terms.follow()
        self.assertEqual(server.asked, 2)
        terms.follow(at_once=True)
        self.assertEqual(server.asked, 3)

    def test_a_server_that_refuses_shows_nothing(self) -> None:
        server = _Server()
        server.says = Problem(404, {"type": "urn:basa:problem:not-found"}, {})
        self.terms(server).follow()
        self.assertEqual((self.entered, self.on_disk() if (self.folder / "state.json").exists() else None), ([0], None))

    def test_a_device_that_was_away_for_long_does_not_follow_by_itself(self) -> None:
        terms = self.terms(_Server(_GOOD))
        terms.heard()
        self.now_ms = 2 * WEEK
        terms.follow()
        self.restart()
        self.assertEqual(self.entered, [1])

    def test_what_it_heard_last_is_on_disk(self) -> None:
        self.terms(_Server()).heard()
        self.restart()
        self.now_ms = 2 * WEEK + 1
        with self.assertRaises(Refused) as no:
            self.terms(_Server(_GOOD)).follow()
        self.assertEqual((no.exception.code, self.entered, self.on_disk()["seen"]), ("term-late", [], []))

    def test_what_it_heard_is_written_now_and_then(self) -> None:
        terms = self.terms(_Server())
        for self.now_ms, heard_ms in ((5, 5), (6, 5), (5 + WEEK // 16, 5 + WEEK // 16)):
            terms.heard()
            self.assertEqual(self.on_disk()["heard"], heard_ms)


class _Enrolling:
    """Authorities whose clock stands still, and that enrol or fail."""

    def __init__(self, says: Union[Message, Exception]) -> None:
        self._says, self.shown = says, []  # type: ignore[var-annotated]

    def now_ms(self) -> int:
        return 1

    def enrol(self, task: bytes, token: Optional[str], device: bytes, known: Optional[Message]) -> Message:
        self.shown.append(known)
        if isinstance(self._says, Exception):
            raise self._says
        return self._says


class Certificates(_Folder):
    def _renewed(self, policy: Message, kept: Optional[Message], says: Union[Message, Exception]) -> Any:
        member = Membership(Settings("", [], [], bytes(32), self.folder), self.state)
        asked = _Enrolling(says)
        member.policy, member.authorities = policy, asked  # type: ignore[assignment]
        if kept is not None:
            self.state.keep("certificate", kept.raw)
        try:
            return member.certificate().raw, asked.shown
        except BasaError as no:
            return no.code

    def test_a_certificate_of_the_term_before_is_shown_and_replaced(self) -> None:
        later = in_term(_FOUR, _GOOD)
        old, new = _certificate(_FOUR, [1, 2, 3]), _certificate(later, [50, 2, 3])
        self.assertEqual(self._renewed(later, old, new), (new.raw, [old]))
        self.assertEqual(self._renewed(later, new, Unreachable("down")), (new.raw, []))

    def test_a_certificate_of_the_term_before_holds_until_it_can_be_replaced(self) -> None:
        later, old = in_term(_FOUR, _GOOD), _certificate(_FOUR, [1, 2, 3])
        no_seat = Problem(409, {"type": "urn:basa:problem:no-seat"}, {})
        for failure in (Unreachable("down"), no_seat, Refused("wrong-certificate")):
            self.assertEqual(self._renewed(later, old, failure), (old.raw, [old]))

    def test_an_older_certificate_never_holds(self) -> None:
        later = in_term(_FOUR, _GOOD)
        third = in_term(later, made_term(later, [50, 2, 3], seat=1, key=51))
        old = _certificate(_FOUR, [1, 2, 3])
        self.assertEqual(self._renewed(third, old, Unreachable("down")), "unreachable")

    def test_a_certificate_that_has_ended_holds_in_no_term(self) -> None:
        later, ended = in_term(_FOUR, _GOOD), _certificate(_FOUR, [1, 2, 3], not_after=1)
        self.assertEqual(self._renewed(later, ended, Unreachable("down")), "unreachable")

    def test_no_certificate_is_shown_in_the_first_term(self) -> None:
        ended, new = _certificate(_FOUR, [1, 2, 3], not_after=1), _certificate(_FOUR, [1, 2, 3])
        self.assertEqual(self._renewed(_FOUR, ended, new), (new.raw, [None]))

    def test_a_wrong_certificate_in_the_same_term_is_refused(self) -> None:
        due = _certificate(_FOUR, [1, 2, 3], not_after=2, issued_at=0)
        with mock.patch.object(_Enrolling, "now_ms", lambda _: 1.9):
            self.assertEqual(self._renewed(_FOUR, due, Unreachable("down")), (due.raw, [None]))
            self.assertEqual(self._renewed(_FOUR, due, Refused("wrong-certificate")), "wrong-certificate")


class Entering(_Folder):
    def _member(self, **more: Any) -> Membership:
        member = Membership(Settings("", [], list(_FOUR.authorities), bytes(32), self.folder, **more), self.state)
        member.policy = _FOUR
        return member

    def test_the_authorities_of_a_term_are_asked_at_its_address_and_the_server_by_its_key(self) -> None:
        self.now_ms = 2 * WEEK
        later = in_term(_FOUR, _GOOD)
        servers = made_term(later, [50, 2, 3], seat=SERVER_SEAT, key=202)
        self.terms(_Server(_GOOD, servers)).follow()
        member, current = self._member(), in_term(later, servers)
        member._known = {key: Message(name=key) for key in _FOUR.authorities}  # type: ignore[misc]
        member.authorities, member.server = mock.Mock(), mock.Mock()
        member.newest = Newest(_FOUR, self.state, member.server, member.authorities)
        member.newest._gathered = mock.Mock()
        member._enter(current)
        [(members, council)] = [call.args for call in member.authorities.follow.call_args_list]  # type: ignore[attr-defined]
        self.assertEqual(council, council_of(current))
        self.assertEqual(members[0].link._parts.netloc, "authority.example")
        self.assertEqual(members[0].key_bytes, signer(50).public)
        self.assertEqual(members[1:], [Message(name=key) for key in _FOUR.authorities[1:]])
        self.assertEqual((member.policy, member.newest._policy), (current, current))
        self.assertEqual(member.server.link.audience, signer(202).public)
        self.assertIsNone(member.newest._gathered)

    def test_an_application_names_a_term_by_its_hash(self) -> None:
        member = self._member(term=term_hash(_GOOD))
        self.assertEqual([member._is_trusted(in_term(_FOUR, one)) for one in (_GOOD, _OTHER)], [True, False])


class _OfTask:
    """The server of a task, in place of the real one."""

    keys = [signer(SERVER).public]
    shown: Sequence[Message] = ()

    def __init__(self, *_: object) -> None:
        self.link = mock.Mock()

    def public_keys(self) -> List[bytes]:
        return self.keys

    def terms(self, task: bytes) -> List[Message]:
        return list(self.shown)


class Connecting(_Folder):
    """Terms are shown that took effect long ago."""

    def _connected(self, policy: Message, numbers: Sequence[int], shown: Sequence[Message] = (), **server: Any) -> Any:
        keys = [signer(number).public for number in numbers]
        urls = ["https://pinned.example"] * len(keys)
        settings = Settings("https://server.example", urls, keys, sha256(policy.raw), self.folder)
        member = Membership(settings, self.state)
        fake = type("_Fake", (_OfTask,), {"shown": shown, **server})
        told = mock.Mock(return_value=policy)
        with mock.patch("basa.membership.Server", fake), mock.patch("basa.membership.policy_of", told):
            with mock.patch.object(Membership, "certificate"):
                try:
                    member.connect()
                except Refused as no:
                    return no.code, no.detail
        return term_number(member.policy), told.call_count

    def test_the_authorities_of_the_first_or_of_the_current_term_are_pinned(self) -> None:
        later = [_GOOD, made_term(in_term(_FOUR, _GOOD), [50, 2, 3], seat=1, key=51)]
        self.assertEqual(self._connected(_FOUR, [1, 2, 3, 4], later), (2, 1))
        self.assertEqual(self._connected(_FOUR, [4, 3, 51, 50], later), (2, 0))
        for others in ([50, 2, 3, 4], [1, 2, 3], [1, 2, 3, 4, 5]):
            self.assertEqual(self._connected(_FOUR, others, later)[0], "wrong-authority")

    def test_a_returning_device_has_the_policy(self) -> None:
        self.assertEqual([self._connected(_ONE, [1]) for _ in range(2)], [(0, 1), (0, 0)])

    def test_the_policy_of_a_task_without_succession_is_asked_for(self) -> None:
        fixed = policy_of(4, 3, succession=None)
        self.assertEqual([self._connected(fixed, [1, 2, 3, 4], [_GOOD]) for _ in range(2)], [(0, 1)] * 2)

    def test_the_server_has_the_key_of_the_term(self) -> None:
        servers = made_term(_FOUR, [1, 2, 3], seat=SERVER_SEAT, key=202)
        old, new = signer(SERVER).public, signer(202).public
        self.assertEqual(self._connected(_FOUR, [1, 2, 3, 4], [servers], keys=[old, new]), (1, 1))
        self.assertEqual(self._connected(_FOUR, [1, 2, 3, 4], [servers], keys=[new]), (1, 0))
        self.assertEqual(self._connected(_FOUR, [1, 2, 3, 4], [servers], keys=[old])[0], "wrong-server")

    def test_with_one_authority_a_new_key_of_the_server_is_waited_for(self) -> None:
        servers = made_term(_ONE, [1], seat=SERVER_SEAT, key=202, recovery=RECOVERY)
        waits = ("wrong-server", "it shows a new key, for which this device still waits")
        self.assertEqual(self._connected(_ONE, [1], [servers], keys=[signer(202).public]), waits)
        self.assertEqual(self._connected(_ONE, [1], [servers])[0], 0)


class Calls(_Folder):
    def test_every_call_follows_the_terms_first_and_none_hides_a_refusal(self) -> None:
        self.state.close()
        device = Device(Settings("", [], [], bytes(32), self.folder))
        self.addCleanup(device.__exit__)
        device._member = mock.Mock()
        device._given = mock.Mock()
        calls = {
            "model": device.model, "resume": device.resume, "contribute": lambda: device.contribute(mock.Mock()),
            "offer": lambda: device.offer(mock.Mock(), mock.Mock()),
        }
        for name, call in calls.items():
            device._member.follow.side_effect = Refused("term-forked")
            with self.subTest(name), self.assertRaises(Refused) as no:
                call()
            self.assertEqual(no.exception.code, "term-forked")
        device._member.follow.side_effect = [None, Refused("term-late")]
        with self.assertRaises(Refused) as no:
            device.contribute(mock.Mock())  # before every training
        self.assertEqual(no.exception.code, "term-late")


class Requests(_Folder):
    def test_a_successor_is_shown_the_certificate_and_an_authority_of_the_first_term_is_not(self) -> None:
        authority = Authority("https://authority.example", self.state, signer(1).public)
        certificate = _certificate(_FOUR, [1, 2, 3])
        for known, expected in ((None, {"token": "t"}), (certificate, {"token": "t", "certificate": certificate.raw.hex()})):
            with mock.patch.object(authority.link, "call", return_value=Message(body=certificate.raw)) as call:
                authority.enrol(bytes(32), "t", None, known)
            self.assertEqual(json.loads(call.call_args.args[2]), expected)

    def test_a_server_shows_its_key_and_the_next_one(self) -> None:
        server = Server("https://server.example", signer(9), bytes(32))
        for said, expected in (({}, [b"\1"]), ({"nextKey": "02"}, [b"\1", b"\2"])):
            body = json.dumps({"publicKey": "01", **said}).encode()
            with mock.patch.object(server.link, "call", return_value=Message(body=body)):
                self.assertEqual(server.public_keys(), expected)

    def test_requests_name_the_key_of_the_term(self) -> None:
        server = Server("https://server.example", signer(9), bytes(32))
        server.link.audience = signer(202).public
        with mock.patch("basa.link.REQUEST.statement", return_value=b"") as statement:
            server.link._signature("GET", "/", bytes(32))
        self.assertEqual(statement.call_args.kwargs["audience"], signer(202).public)


class _Asked:
    """The newest model, after some statements that were signed in another term."""

    def __init__(self, *refusals: str) -> None:
        self._refusals = list(refusals)

    def __call__(self) -> str:
        if self._refusals:
            raise Refused(self._refusals.pop(0))
        return "entry"


class Looking(_Folder):
    """Some authorities may begin a term before this device has seen it."""

    def _newest(self, terms: Any) -> Newest:
        return Newest(_FOUR, self.state, mock.Mock(), mock.Mock(), terms)

    def test_a_statement_of_another_term_makes_the_device_ask_for_terms(self) -> None:
        terms = mock.Mock()
        self.assertEqual(self._newest(terms)._in_term(_Asked("model-not-logged", "epoch-invalid", "standings-stale")), "entry")
        self.assertEqual((terms.follow.call_count, terms.heard.call_count), (3, 1))
        terms.follow.assert_called_with(at_once=True)

    def test_other_refusals_and_the_fifth_stand(self) -> None:
        for refusals, looks in ((["model-stale"], 0), (["model-not-logged"] * 5, 4)):
            terms = mock.Mock()
            with self.assertRaises(Refused):
                self._newest(terms)._in_term(_Asked(*refusals))
            self.assertEqual((terms.follow.call_count, terms.heard.call_count), (looks, 0))

    def test_without_succession_no_terms_are_asked_for(self) -> None:
        with self.assertRaises(Refused):
            self._newest(None)._in_term(_Asked("model-not-logged"))


class Messages(unittest.TestCase):
    def test_a_line_is_read(self) -> None:
        terms = [made_term(_FOUR, [1, 2, 3], address=b"https://" + b"a" * 248)]
        line = LINE.encode(policy=_FOUR, terms=[term.raw for term in terms])
        self.assertEqual(line.terms, [term.raw for term in terms])

    def test_an_address_that_is_not_ascii_or_too_long_is_refused(self) -> None:
        for address in ("https://\u00e4".encode(), b"a" * 257):
            with self.assertRaises(ValueError):
                made_term(_FOUR, [1, 2, 3], address=address)


if __name__ == "__main__":
    unittest.main()
