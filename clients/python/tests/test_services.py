"""Services that lie, are slow or refuse: answers that count, statements of several authorities, and downloads that go on."""
from __future__ import annotations

import hashlib
import threading
from http.client import HTTPException
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Sequence, Set, Tuple
from unittest import mock
from urllib.parse import urlsplit

from basa import Malformed, Problem, Unreachable, services
from basa.errors import Refused
from basa.link import Request, ServiceLink, exchange
from basa.services import Authority, agreed, check_certificate, enrol, is_endorsed, policy_of
from basa.suite import sha256
from basa.wire import CERTIFICATE, ENDORSEMENTS, SIGNATURE_BYTES, Message

from .world import (
    FOUR, NEVER, SIGNERS, ZEROS, Says, Table, Told, about, certificate_of, honest, new_folder, refusal, services_that, small_policy,
)

TASK = sha256(FOUR.raw)


def link_to(url: str) -> ServiceLink:
    return ServiceLink(url, SIGNERS[0], ZEROS)


def but(at: str, lie: Callable[[int], Told]) -> Says:
    """Honest, except for paths that end with `at`."""
    return lambda path, place: lie(place) if path.endswith(at) else honest(path, place)


#: The lie, and the code with which it is refused if nobody else can be asked.
LIES: Dict[str, Tuple[Says, Optional[str]]] = {
    "another policy": (but("/policy", lambda _: Told(small_policy(minimum=1).raw)), "wrong-policy"),
    "a policy that is none": (but("/policy", lambda _: Told(FOUR.raw[:-1])), "wrong-policy"),
    "no policy": (but("/policy", lambda _: Told(b"", 404)), "unknown-problem"),
    "a policy without end": (but("/policy", lambda _: Told(bytes(1 << 22))), "wrong-answer"),
    "a policy byte by byte": (but("/policy", lambda _: Told(FOUR.raw, slow="body")), None),
    "another key": (but("/authority", lambda place: about(place, publicKey=ZEROS.hex())), "wrong-authority"),
    "no key": (but("/authority", lambda place: about(place, publicKey=7)), "wrong-answer"),
    "no hexadecimal": (but("/authority", lambda place: about(place, publicKey="key")), "wrong-answer"),
    "no JSON": (but("/authority", lambda _: Told(b"{")), "wrong-answer"),
    "a list": (but("/authority", lambda _: Told(b"[]")), "wrong-answer"),
    "a deep list": (but("/authority", lambda _: Told(b"[" * 500_000)), "wrong-answer"),
    "headers byte by byte": (but("/authority", lambda _: Told(b"{}", slow="headers")), None),
}


def policy_said_by(says: Sequence[Says]) -> Message:
    with services_that(list(says)) as urls:
        pinned = [Authority(link_to(url), SIGNERS[place].public) for place, url in enumerate(urls)]
        return policy_of(pinned, TASK)


class Lies(Table):
    def test_one_of_four_authorities_lies_and_this_changes_nothing(self) -> None:
        for says, _ in LIES.values():
            for place in (0, 3):
                told = policy_said_by([says if n == place else honest for n in range(4)])
                self.assertEqual(told.raw, FOUR.raw)

    def test_the_lie_of_a_single_authority_is_refused(self) -> None:
        for name, (says, code) in LIES.items():
            with self.subTest(lie=name):
                if code is not None:  # the others are cut by time
                    self.assertEqual(refusal(lambda: policy_said_by([says])), code)

    def test_all_are_asked_at_once_and_the_first_good_answer_counts(self) -> None:
        def check(they: List[str]) -> None:
            asked: List[str] = []
            meeting = threading.Barrier(len(they))

            def ask(does: str) -> str:
                asked.append(does)
                meeting.wait(60)
                if does == "silent":
                    NEVER.wait()
                return does

            def judge(_: str, told: str) -> str:
                if told == "wrong":
                    raise Refused("wrong-authority")
                return told

            self.assertEqual(services.ask_several(they, ask, judge, lambda good: good[0], 1), "good")
            self.assertEqual(len(asked), len(they))

        self.every(check, [{"they": ["good", "good"]}, {"they": ["silent", "wrong", "good"]}])

    def test_three_of_four_enrol_whatever_the_fourth_does(self) -> None:
        def check(honest: List[int], lie: str, good: bool) -> None:
            members: Any = [_Enrols(place, "honest" if place in honest else lie) for place in range(4)]
            try:
                self.assertEqual((len(enrol(members, FOUR, None, ZEROS).endorsements), good), (3, True))
            except Refused:
                self.assertFalse(good)

        self.every(check, [
            {"honest": [0, 1, 2, 3], "lie": "", "good": True},
            {"honest": [1, 2, 3], "lie": "words", "good": True},
            {"honest": [1, 2, 3], "lie": "foreign", "good": True},
            {"honest": [0, 1, 2], "lie": "fails", "good": True},
            {"honest": [0, 2, 3], "lie": "silent", "good": True},
            {"honest": [0, 1], "lie": "foreign", "good": False},
        ])


class _Enrols:
    """An authority that signs a certificate."""

    def __init__(self, place: int, does: str) -> None:
        self._place, self._does = place, does

    def enrol(self, task: bytes, token: Optional[bytes]) -> Message:
        if self._does == "silent":
            NEVER.wait()
        if self._does == "fails":
            raise KeyError("an answer that nobody thought of")
        signer = self._place if self._does != "foreign" else self._place - 1
        return certificate_of([signer], bytes([6]) * 32 if self._does == "words" else ZEROS)


class Statements(Table):
    def test_a_certificate_of_one_authority_has_its_signature_only_and_names_task_and_device(self) -> None:
        def check(refused: Optional[str], asked: int = 1, change: Any = (), policy: Message = FOUR, device: bytes = ZEROS) -> None:
            good = certificate_of([1])
            made = CERTIFICATE.decode(good.statement + ENDORSEMENTS.write([Message(good.endorsements[0], **dict(change))]))
            self.assertEqual(refusal(lambda: check_certificate(made, policy, asked, device)), refused)

        self.every(check, [
            {"refused": None},
            {"asked": 2, "refused": "wrong-certificate"},
            {"change": {"signature": bytes(SIGNATURE_BYTES)}, "refused": "wrong-certificate"},
            {"policy": small_policy(minimum=3), "refused": "wrong-certificate"},
            {"device": b"d" * 32, "refused": "wrong-certificate"},
        ])

    def test_a_statement_counts_with_t_signatures_and_one_that_is_not_good_spoils_them_all(self) -> None:
        def check(signers: int, good: Optional[bool], changes: Sequence[Any] = ()) -> None:
            """None: the bytes are malformed."""
            certificate = certificate_of(range(signers))
            signatures = [Message(one) for one in certificate.endorsements]
            for index, change in changes:
                signatures[index].update(change)
            data = certificate.statement + ENDORSEMENTS.write(signatures)
            if good is None:
                self.assertRaises(Malformed, CERTIFICATE.decode, data)
            else:
                self.assertEqual(is_endorsed(CERTIFICATE.decode(data), FOUR), good)

        self.every(check, [
            {"signers": 4, "good": True},
            {"signers": 3, "good": True},
            {"signers": 2, "good": False},
            {"signers": 4, "changes": [(3, {"signature": bytes(SIGNATURE_BYTES)})], "good": False},
            {"signers": 4, "changes": [(3, {"authority": 4})], "good": False},
            {"signers": 4, "changes": [(3, {"authority": 2})], "good": None},
            {"signers": 4, "changes": [(0, {"authority": 1}), (1, {"authority": 0})], "good": None},
        ])

    def test_signatures_are_joined_if_they_are_for_the_same_words(self) -> None:
        def check(said: List[Tuple[int, int]], by: Optional[List[int]]) -> None:
            joined = agreed(CERTIFICATE, FOUR, [certificate_of([index], bytes([words]) * 32) for index, words in said])
            self.assertEqual(None if joined is None else [one.authority for one in joined.endorsements], by)
            self.assertTrue(joined is None or is_endorsed(joined, FOUR))

        self.every(check, [
            {"said": [(0, 1), (1, 1), (3, 1)], "by": [0, 1, 3]},
            {"said": [(3, 1), (0, 2), (1, 1), (0, 1)], "by": [0, 1, 3]},
            {"said": [(0, 1), (1, 1), (1, 1)], "by": None},
            {"said": [(0, 1), (1, 1), (2, 2), (3, 2)], "by": None},
        ])


class Answers(Table):
    def test_a_wrong_clock_is_not_corrected_and_the_time_of_the_service_is_told(self) -> None:
        told = b'{"type": "urn:basa:problem:clock-skew", "detail": "its time is 2026-11-19T10:00:00Z"}'
        with services_that([lambda path, place: Told(told, 401)]) as [url], self.assertRaises(Problem) as raised:
            link_to(url).call("POST", "/v1/nothing", b"", signed=True)
        self.assertEqual(raised.exception.code, "clock-skew")
        self.assertIn("2026-11-19T10:00:00Z", str(raised.exception))

    def test_slow_answers_are_ended_and_short_or_long_ones_do_not_count(self) -> None:
        def check(fails: Any, seconds: float = 30, most: int = Told.SLOW_BYTES, **told: Any) -> None:
            def ask() -> None:
                exchange(urlsplit(url), Request("GET", "/", {}, most=most), timeout_s=seconds)

            with services_that([lambda path, place: Told(bytes(Told.SLOW_BYTES), **told)]) as [url]:
                ask() if fails is None else self.assertRaises(fails, ask)

        self.every(check, [
            {"fails": None},
            {"slow": "headers", "seconds": 0.5, "fails": OSError},
            {"slow": "body", "seconds": 0.5, "fails": OSError},
            {"missing": 1, "fails": HTTPException},
            {"most": Told.SLOW_BYTES - 1, "fails": Malformed},
        ])

    def test_waits_that_a_service_asks_for(self) -> None:
        def check(said: Any, header: Optional[str], seconds: float) -> None:
            headers, document = {} if header is None else {"retry-after": header}, {} if said is None else {"retryAfterMs": said}
            self.assertEqual(Problem(429, document, headers).wait_s, seconds)

        self.every(check, [
            {"said": 250, "header": None, "seconds": 0.25},
            {"said": 1e300, "header": None, "seconds": 3600.0},
            {"said": float("inf"), "header": None, "seconds": 3600.0},
            {"said": float("nan"), "header": None, "seconds": 0.0},
            {"said": -5, "header": None, "seconds": 0.0},
            {"said": "soon", "header": None, "seconds": 0.0},
            {"said": None, "header": "2", "seconds": 2.0},
            {"said": None, "header": "Wed, 21 Oct 2065 07:28:00 GMT", "seconds": 0.0},
        ])

    def test_addresses(self) -> None:
        def check(url: str, allowed: bool) -> None:
            self.assertEqual(refusal(lambda: link_to(url)), None if allowed else "wrong-settings")

        good = ["http://127.0.0.1:7800", "http://localhost", "http://[::1]:1", "https://basa.example"]
        wrong = ["http://192.0.2.1", "http://localhost.example", "ftp://localhost", "https://basa.example/path", "https://a:b"]
        self.every(check, [{"url": url, "allowed": True} for url in good] + [{"url": url, "allowed": False} for url in wrong])


DATA = bytes(range(256)) * 40
DIGEST = hashlib.sha256(DATA).digest()


class _Models:
    """Serves ranges, and cuts the connection in the middle of as many answers as it is told."""

    def __init__(self, cuts: int = 0, knows_ranges: bool = True, data: bytes = DATA) -> None:
        self.cuts, self.knows_ranges, self.data = cuts, knows_ranges, data
        self.asked: List[Optional[str]] = []
        self.members: Set[Tuple[Optional[str], bool]] = set()

    def answer(self, origin: Any, request: Request, **_: Any) -> Any:
        asked = request.headers.get("Range")
        self.asked.append(asked)
        self.members.add((request.headers.get("Basa-Certificate"), "Basa-Signature" in request.headers))
        if self.cuts > 0:
            self.cuts -= 1
            raise HTTPException("the connection was cut")
        if asked is None or not self.knows_ranges:
            return mock.Mock(status=200, body=self.data)
        first, last = map(int, asked[len("bytes=") :].split("-"))
        return mock.Mock(status=206, body=self.data[first : last + 1])


class Downloads(Table):
    def fetch(self, folder: Path, models: _Models, attempts: int = 6) -> bytes:
        link = link_to("http://127.0.0.1:1")
        with mock.patch("basa.link.exchange", models.answer), mock.patch("basa.link.ATTEMPTS", attempts):
            with mock.patch.object(services, "PIECE_BYTES", 4096), mock.patch.object(link.progress, "sleep"):
                return services.download(link, "/model", len(DATA), DIGEST, folder, {"Basa-Certificate": "ab"})

    def test_pieces_which_a_device_of_the_task_asks_for(self) -> None:
        pieces: List[Optional[str]] = ["bytes=0-4095", "bytes=4096-8191", "bytes=8192-10239"]
        for models, asked in ((_Models(), pieces), (_Models(cuts=2), pieces[:1] * 2 + pieces), (_Models(knows_ranges=False), pieces[:1])):
            with new_folder() as folder:
                self.assertEqual(self.fetch(folder, models), DATA)
                self.assertEqual((models.asked, models.members), (asked, {("ab", True)}))

    def test_the_next_process_goes_on(self) -> None:
        real, calls = services._fetch, []

        def one_piece(*given: Any) -> int:
            calls.append(1)
            if len(calls) > 1:
                raise KeyboardInterrupt
            return real(*given)

        with new_folder() as folder:
            with mock.patch("basa.services._fetch", side_effect=one_piece), self.assertRaises(KeyboardInterrupt):
                self.fetch(folder, _Models())
            second = _Models()
            self.assertEqual(self.fetch(folder, second), DATA)
            self.assertEqual(second.asked, ["bytes=4096-8191", "bytes=8192-10239"])

    def test_nobody_answers_or_with_a_shorter_model(self) -> None:
        with new_folder() as folder:
            self.assertRaises(Unreachable, self.fetch, folder, _Models(cuts=99), attempts=2)
            self.assertRaises(Malformed, self.fetch, folder, _Models(data=DATA[:5000]))

    def test_other_bytes_are_refused_and_not_kept(self) -> None:
        with new_folder() as folder:
            self.assertEqual(refusal(lambda: self.fetch(folder, _Models(data=bytes(len(DATA))))), "model-invalid")
            self.assertEqual(list(folder.iterdir()), [])
            self.assertEqual(self.fetch(folder, _Models()), DATA)
