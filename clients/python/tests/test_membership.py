"""The part of a device in its task over several terms: pinned keys, certificates, addresses and requests."""
from __future__ import annotations

import json
import unittest
from typing import Any, List, Optional, Sequence, Union
from unittest import mock

from basa.council import council_of
from basa.device import Device
from basa.errors import BasaError, Refused, SettingsError, Unreachable
from basa.fields import Message
from basa.link import Problem
from basa.membership import Membership
from basa.newest import Newest
from basa.services import Authority, Server
from basa.settings import Settings
from basa.suite import sha256
from basa.terms import SERVER_SEAT, in_term, term_hash, term_number

from .made_terms import RECOVERY, SERVER, WEEK, made_term, policy_of, signer
from .statementcheck import certificate_of
from .term_folder import FOUR, GOOD, ONE, OTHER, DeviceFolder, ShowingServer


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


class Certificates(DeviceFolder):
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
        later = in_term(FOUR, GOOD)
        old, new = certificate_of(FOUR, [1, 2, 3]), certificate_of(later, [50, 2, 3])
        self.assertEqual(self._renewed(later, old, new), (new.raw, [old]))
        self.assertEqual(self._renewed(later, new, Unreachable("down")), (new.raw, []))

    def test_a_certificate_of_the_term_before_holds_until_it_can_be_replaced(self) -> None:
        later, old = in_term(FOUR, GOOD), certificate_of(FOUR, [1, 2, 3])
        no_seat = Problem(409, {"type": "urn:basa:problem:no-seat"}, {})
        for failure in (Unreachable("down"), no_seat, Refused("wrong-certificate")):
            self.assertEqual(self._renewed(later, old, failure), (old.raw, [old]))

    def test_an_older_certificate_never_holds(self) -> None:
        later = in_term(FOUR, GOOD)
        third = in_term(later, made_term(later, [50, 2, 3], seat=1, key=51))
        old = certificate_of(FOUR, [1, 2, 3])
        self.assertEqual(self._renewed(third, old, Unreachable("down")), "unreachable")

    def test_a_certificate_that_has_ended_holds_in_no_term(self) -> None:
        later, ended = in_term(FOUR, GOOD), certificate_of(FOUR, [1, 2, 3], not_after=1)
        self.assertEqual(self._renewed(later, ended, Unreachable("down")), "unreachable")

    def test_no_certificate_is_shown_in_the_first_term(self) -> None:
        ended, new = certificate_of(FOUR, [1, 2, 3], not_after=1), certificate_of(FOUR, [1, 2, 3])
        self.assertEqual(self._renewed(FOUR, ended, new), (new.raw, [None]))

    def test_a_wrong_certificate_in_the_same_term_is_refused(self) -> None:
        due = certificate_of(FOUR, [1, 2, 3], not_after=2, issued_at=0)
        with mock.patch.object(_Enrolling, "now_ms", lambda _: 1.9):
            self.assertEqual(self._renewed(FOUR, due, Unreachable("down")), (due.raw, [None]))
            self.assertEqual(self._renewed(FOUR, due, Refused("wrong-certificate")), "wrong-certificate")


class Entering(DeviceFolder):
    def _member(self, **more: Any) -> Membership:
        member = Membership(Settings("", [], list(FOUR.authorities), bytes(32), self.folder, **more), self.state)
        member.policy = FOUR
        return member

    def test_the_authorities_of_a_term_are_asked_at_its_address_and_the_server_by_its_key(self) -> None:
        self.now_ms = 2 * WEEK
        later = in_term(FOUR, GOOD)
        servers = made_term(later, [50, 2, 3], seat=SERVER_SEAT, key=202)
        self.terms(ShowingServer(GOOD, servers)).follow()
        member, current = self._member(), in_term(later, servers)
        member._known = {key: Message(name=key) for key in FOUR.authorities}  # type: ignore[misc]
        member.authorities, member.server = mock.Mock(), mock.Mock()
        member.newest = Newest(FOUR, self.state, member.server, member.authorities)
        member.newest._gathered = mock.Mock()
        member._enter(current)
        [(members, council)] = [call.args for call in member.authorities.follow.call_args_list]  # type: ignore[attr-defined]
        self.assertEqual(council, council_of(current))
        self.assertEqual(members[0].link._parts.netloc, "authority.example")
        self.assertEqual(members[0].key_bytes, signer(50).public)
        self.assertEqual(members[1:], [Message(name=key) for key in FOUR.authorities[1:]])
        self.assertEqual((member.policy, member.newest._policy), (current, current))
        self.assertEqual(member.server.link.audience, signer(202).public)
        self.assertIsNone(member.newest._gathered)

    def test_an_address_that_must_not_be_used_costs_only_its_authority_unless_too_few_are_left(self) -> None:
        self.now_ms = WEEK
        for address in (b"http://authority.example", b"https://authority.example:99999"):
            self.restart()
            self.state.keep_terms({"followed": 0})
            term = made_term(FOUR, [1, 2, 3], address=address)
            self.terms(ShowingServer(term)).follow()
            member, later = self._member(), in_term(FOUR, term)
            member._known = {key: Message(name=key) for key in FOUR.authorities}  # type: ignore[misc]
            self.assertEqual(member._members(later), [None, *(Message(name=key) for key in FOUR.authorities[1:])])
            del member._known[FOUR.authorities[1]]
            with self.assertRaises(SettingsError):
                member._members(later)

    def test_an_application_names_a_term_by_its_hash(self) -> None:
        member = self._member(term=term_hash(GOOD))
        self.assertEqual([member._is_trusted(in_term(FOUR, one)) for one in (GOOD, OTHER)], [True, False])
        self.assertEqual([self._member(term=term)._is_trusted(FOUR) for term in (bytes(32), None)], [True, False])


class AnotherTask(DeviceFolder):
    def test_a_folder_with_terms_of_another_task_is_refused(self) -> None:
        self.now_ms = WEEK
        self.terms(ShowingServer(GOOD)).follow()
        self.assertIsNone(self.state.get("certificate"))
        self.restart()
        settings = Settings("https://server.example", [], [], bytes(32), self.folder)
        with self.assertRaises(Refused) as no:
            Membership(settings, self.state).connect()
        self.assertEqual(no.exception.code, "store-of-another-task")


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


class Connecting(DeviceFolder):
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
        later = [GOOD, made_term(in_term(FOUR, GOOD), [50, 2, 3], seat=1, key=51)]
        self.assertEqual(self._connected(FOUR, [1, 2, 3, 4], later), (2, 1))
        self.assertEqual(self._connected(FOUR, [4, 3, 51, 50], later), (2, 0))
        for others in ([50, 2, 3, 4], [1, 2, 3], [1, 2, 3, 4, 5]):
            self.assertEqual(self._connected(FOUR, others, later)[0], "wrong-authority")

    def test_a_returning_device_has_the_policy(self) -> None:
        self.assertEqual([self._connected(ONE, [1]) for _ in range(2)], [(0, 1), (0, 0)])

    def test_the_policy_of_a_task_without_succession_is_asked_for(self) -> None:
        fixed = policy_of(4, 3, succession=None)
        self.assertEqual([self._connected(fixed, [1, 2, 3, 4], [GOOD]) for _ in range(2)], [(0, 1)] * 2)

    def test_the_server_has_the_key_of_the_term(self) -> None:
        servers = made_term(FOUR, [1, 2, 3], seat=SERVER_SEAT, key=202)
        old, new = signer(SERVER).public, signer(202).public
        self.assertEqual(self._connected(FOUR, [1, 2, 3, 4], [servers], keys=[old, new]), (1, 1))
        self.assertEqual(self._connected(FOUR, [1, 2, 3, 4], [servers], keys=[new]), (1, 0))
        self.assertEqual(self._connected(FOUR, [1, 2, 3, 4], [servers], keys=[old])[0], "wrong-server")

    def test_with_one_authority_a_new_key_of_the_server_is_waited_for(self) -> None:
        servers = made_term(ONE, [1], seat=SERVER_SEAT, key=202, recovery=RECOVERY)
        waits = ("wrong-server", "it shows a new key, for which this device still waits")
        self.assertEqual(self._connected(ONE, [1], [servers], keys=[signer(202).public]), waits)
        self.assertEqual(self._connected(ONE, [1], [servers])[0], 0)


class Calls(DeviceFolder):
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


class Waiting(DeviceFolder):
    """A device that gets no place for longer than it may be away from its authorities."""

    def _waiting(self, hear: Any) -> Device:
        self.state.close()
        device = Device(Settings("", [], [], bytes(32), self.folder))
        self.state, member = device._state, device._member
        self.addCleanup(device.__exit__)
        member._terms, member.policy = self.terms(ShowingServer()), FOUR
        member.newest, member.server = mock.Mock(hear=hear), mock.Mock()
        member._terms.heard()
        no_place = Problem(429, {"type": "urn:basa:problem:no-place", "retryAfterMs": 60_000}, {})

        def admission(*_: object) -> List[Message]:
            if self.now_ms <= 3 * WEEK:
                raise no_place
            return []

        def sleep(wait_s: float) -> None:
            self.now_ms += max(int(wait_s * 1000), WEEK // 100)

        member.server.admission = admission
        device._progress = mock.Mock(sleep=sleep)
        return device

    def test_it_hears_from_them_meanwhile_and_goes_on(self) -> None:
        heard: List[int] = []

        def hear() -> None:
            heard.append(self.now_ms)
            if len(heard) > 1:  # a failure is no end: they are asked again
                device._member._terms.heard()  # type: ignore[union-attr]
            else:
                raise Unreachable("down")

        device = self._waiting(hear)
        with mock.patch.object(Membership, "certificate"):
            device._await_place()
        # After half of (t - 1) W, again after the failure, and after half of (t - 1) W since then.
        self.assertEqual([ms * 100 // WEEK for ms in heard], [101, 102, 203])
        device.model()

    def test_it_is_late_if_they_never_answer(self) -> None:
        device = self._waiting(mock.Mock(side_effect=Refused("standings-stale")))
        with mock.patch.object(Membership, "certificate"), self.assertRaises(Refused) as no:
            device._await_place()
        self.assertEqual(no.exception.code, "term-late")

    def test_in_one_shot_mode_the_server_passes_on_what_they_say(self) -> None:
        terms, server = mock.Mock(), mock.Mock()
        server.standings.side_effect = Unreachable("down")
        newest = Newest(Message(FOUR, one_shot=Message()), self.state, server, mock.Mock(), terms)
        with self.assertRaises(Unreachable):
            newest.hear()
        terms.heard.assert_not_called()
        with mock.patch.object(newest, "_believe"):
            server.standings.side_effect = None
            newest.hear()
        terms.heard.assert_called_once()

    def test_a_single_authority_is_not_asked(self) -> None:
        terms = self.terms(ShowingServer(), ONE)
        terms.heard()
        self.now_ms = 100 * WEEK
        self.assertFalse(terms.must_hear)


class Requests(DeviceFolder):
    def test_a_successor_is_shown_the_certificate_and_an_authority_of_the_first_term_is_not(self) -> None:
        authority = Authority("https://authority.example", self.state, signer(1).public)
        certificate = certificate_of(FOUR, [1, 2, 3])
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


if __name__ == "__main__":
    unittest.main()
