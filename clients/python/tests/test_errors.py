"""Errors: their texts, and the codes after which a device tries again by itself."""
from __future__ import annotations

import re
import unittest
from pathlib import Path

import basa
from basa import errors

SOURCE = Path(basa.__file__).parent


class Errors(unittest.TestCase):
    def test_every_code_that_is_raised_has_a_sentence_and_a_next_step(self) -> None:
        raised = re.compile(r"(?:Refused|StateProblem)\(\"([a-z-]+)\"|SettingsError\([^\n]*, \"([a-z-]+)\"\)")
        codes = {code for path in SOURCE.glob("*.py") for pair in raised.findall(path.read_text()) for code in pair if code}
        self.assertGreater(len(codes), 20)
        unknown = {code for code in codes if code not in errors._TABLE and code not in errors._OWN}
        self.assertEqual(unknown, set())
        for code in codes:
            no = basa.BasaError(code, "a detail")
            self.assertTrue(no.sentence.endswith(".") and no.next_step.endswith("."), code)
            self.assertEqual(str(no), f"{no.sentence[:-1]} ({code}: a detail). {no.next_step}")

    def test_no_code_is_written_twice(self) -> None:
        self.assertEqual(set(errors._OWN) & set(errors._TABLE), set())

    def test_a_service_says_no(self) -> None:
        no = basa.Problem(429, {"type": "urn:basa:problem:rate-limited", "retryAfterMs": 250}, {})
        self.assertEqual((no.code, no.wait_s, no.is_passing), ("rate-limited", 0.25, True))
        self.assertEqual(no.sentence, "There were too many requests; wait before the next one.")
        final = basa.Problem(403, {"type": "urn:basa:problem:revoked"}, {})
        self.assertEqual((final.is_passing, final.is_undecided), (False, False))

    def test_the_words_of_a_service_do_not_control_a_terminal(self) -> None:
        odd = "n\x1b[2Jo\r\n\x9b\u202e\u2028é"
        no = basa.Problem(400, {"type": "urn:basa:problem:of-tomorrow", "title": odd}, {})
        known = basa.Problem(429, {"type": "urn:basa:problem:rate-limited", "detail": odd}, {})
        for one in (no, known):
            self.assertIn("n [2Jo     é", str(one))

    def test_an_answer_of_something_else(self) -> None:
        for status, is_passing in ((503, True), (404, False)):
            no = basa.Problem(status, {"type": "urn:basa:problem:of-tomorrow", "title": "A no."}, {})
            self.assertEqual((no.code, no.is_passing, no.is_undecided), ("unknown-problem", is_passing, True))
            self.assertIn("A no.", str(no))
