"""Succession on a device: a term is durable before it counts, and the device looks for terms when statements do not count."""
from __future__ import annotations

import errno
import unittest
from typing import Any
from unittest import mock

import numpy as np

from basa.errors import Refused, StateProblem, Unreachable
from basa.fields import Message
from basa.layouts import LINE
from basa.link import Problem
from basa.newest import Newest
from basa.succession import read_terms
from basa.terms import policy_in, term_number

from .made_terms import WEEK, made_term
from .term_folder import FOUR, GOOD, LOST, ONE, OTHER, DeviceFolder, ShowingServer


def _full_disk(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


class Following(DeviceFolder):
    def test_a_term_is_on_disk_before_the_device_is_in_it(self) -> None:
        self.now_ms = WEEK

        def enter(policy: Message) -> None:
            self.assertEqual((self.on_disk()["followed"], term_number(policy)), (1, 1))
            self.entered.append(1)

        self.terms(ShowingServer(GOOD), enter=enter).follow()
        self.assertEqual(self.entered, [1])

    def test_a_term_that_could_not_be_written_is_not_entered(self) -> None:
        self.now_ms = WEEK
        terms = self.terms(ShowingServer(GOOD))
        with mock.patch("basa.state._replace", _full_disk), self.assertRaises(OSError):
            terms.follow()
        with self.assertRaises(StateProblem):
            terms.follow()
        self.assertEqual(self.entered, [])

    def test_the_next_process_is_in_the_same_term_without_the_server(self) -> None:
        self.now_ms = WEEK
        self.terms(ShowingServer(GOOD)).follow()
        self.restart()
        self.assertEqual(term_number(policy_in(FOUR, read_terms(self.state))), 1)
        server = ShowingServer()
        server.says, self.now_ms = Unreachable("down"), WEEK - 1
        self.terms(server).follow()
        self.assertEqual(self.entered, [1, 1])

    def test_numbers_of_a_stolen_key_end_with_its_term_and_updates_given_away_stay(self) -> None:
        huge, given = 2**52, {"ctx": "", "tag": "", "version": 1}
        self.state.begin_shot("update", given, {"step": "shot"}, np.zeros(4, np.uint32))
        terms = self.terms(ShowingServer(GOOD))
        for self.now_ms, model, epochs in ((0, (huge, b"\7" * 32), {0: huge, 1: 3}), (WEEK, (-1, b""), {})):
            terms.follow()
            if self.now_ms == 0:
                self.state.see_model(huge, b"\7" * 32)
                self.state.see_epochs({0: huge, 1: 3})
                terms.heard()  # in the same term nothing is forgotten
            self.assertEqual((self.state.seen_model, self.state.seen_epochs), (model, epochs))
        self.restart()
        self.assertEqual((self.state.seen_model, self.state.seen_epochs), ((-1, b""), {}))
        self.assertEqual(self.state.all_given(), {"update": given})
        self.state.see_model(1, b"\1" * 32)
        self.state.see_epochs({0: 0})
        terms = self.terms(ShowingServer(GOOD))
        terms.follow()
        self.assertEqual((self.state.seen_model, self.state.seen_epochs), ((1, b"\1" * 32), {0: 0}))

    def test_with_one_authority_the_wait_goes_on_over_a_restart(self) -> None:
        self.now_ms = 5 * WEEK
        self.terms(ShowingServer(LOST), ONE).follow()
        for passed, expected in ((WEEK - 1, 0), (WEEK, 1)):
            self.restart()
            self.now_ms = 5 * WEEK + passed
            self.terms(ShowingServer(LOST), ONE).follow()
            self.assertEqual(self.entered[-1], expected)

    def test_a_line_that_is_refused_is_refused_again_at_once(self) -> None:
        server = ShowingServer(GOOD)
        terms = self.terms(server)
        terms.follow()
        server.says = [OTHER]
        for _ in range(2):
            self.now_ms += 60_000
            with self.assertRaises(Refused) as no:
                terms.follow()
            self.assertEqual(no.exception.code, "term-forked")
            with self.assertRaises(Refused):
                terms.follow()
        self.assertEqual(len(self.on_disk()["seen"]), 1)

    def test_the_server_is_asked_now_and_then(self) -> None:
        server = ShowingServer()
        terms = self.terms(server)
        for self.now_ms in (0, 1000, 59_999, 60_000, 60_001):
            terms.follow()
        self.assertEqual(server.asked, 2)
        terms.follow(at_once=True)
        self.assertEqual(server.asked, 3)

    def test_a_server_that_refuses_shows_nothing(self) -> None:
        server = ShowingServer()
        server.says = Problem(404, {"type": "urn:basa:problem:not-found"}, {})
        self.terms(server).follow()
        self.assertEqual((self.entered, self.on_disk()["seen"]), ([0], []))

    def test_a_device_that_never_asked_for_a_model_is_late_like_any_other(self) -> None:
        self.terms(ShowingServer()).follow()
        self.restart()
        self.now_ms = 2 * WEEK + 1
        with self.assertRaises(Refused) as no:
            self.terms(ShowingServer(GOOD)).follow()
        self.assertEqual((no.exception.code, self.on_disk()["seen"]), ("term-late", []))

    def test_a_device_that_was_away_for_long_does_not_follow_by_itself(self) -> None:
        terms = self.terms(ShowingServer(GOOD))
        terms.heard()
        self.now_ms = 2 * WEEK
        terms.follow()
        self.restart()
        self.assertEqual(self.entered, [1])

    def test_what_it_heard_last_is_on_disk(self) -> None:
        self.terms(ShowingServer()).heard()
        self.restart()
        self.now_ms = 2 * WEEK + 1
        with self.assertRaises(Refused) as no:
            self.terms(ShowingServer(GOOD)).follow()
        self.assertEqual((no.exception.code, self.entered, self.on_disk()["seen"]), ("term-late", [], []))

    def test_what_it_heard_is_written_now_and_then(self) -> None:
        terms = self.terms(ShowingServer())
        for self.now_ms, heard_ms in ((5, 5), (6, 5), (5 + WEEK // 16, 5 + WEEK // 16)):
            terms.heard()
            self.assertEqual(self.on_disk()["heard"], heard_ms)


class _Asked:
    """The newest model, after some statements that were signed in another term."""

    def __init__(self, *refusals: str) -> None:
        self._refusals = list(refusals)

    def __call__(self) -> str:
        if self._refusals:
            raise Refused(self._refusals.pop(0))
        return "entry"


class Looking(DeviceFolder):
    """Some authorities may begin a term before this device has seen it."""

    def _newest(self, terms: Any) -> Newest:
        return Newest(FOUR, self.state, mock.Mock(), mock.Mock(), terms)

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
        terms = [made_term(FOUR, [1, 2, 3], address=b"https://" + b"a" * 248)]
        line = LINE.encode(policy=FOUR, terms=[term.raw for term in terms])
        self.assertEqual(line.terms, [term.raw for term in terms])

    def test_an_address_that_is_not_ascii_or_too_long_is_refused(self) -> None:
        for address in ("https://\u00e4".encode(), b"a" * 257):
            with self.assertRaises(ValueError):
                made_term(FOUR, [1, 2, 3], address=address)


if __name__ == "__main__":
    unittest.main()
