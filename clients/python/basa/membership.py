"""The part of a device in its task: the policy in its term, the services that were held to it, and the certificate."""
from __future__ import annotations

from typing import Dict, List, Optional

from .authorities import Authorities, policy_of
from .council import council_of, is_endorsed
from .errors import Malformed, Refused, SettingsError, Unreachable
from .fields import Message
from .layouts import CERTIFICATE, POLICY
from .link import Problem
from .newest import Newest
from .policy import check_policy
from .services import Authority, Server
from .settings import Settings
from .state import DeviceState
from .succession import Terms, read_terms
from .terms import are_seats, brought_seats, is_certified, policy_in, term_number


class Membership:
    """`policy` and `authorities` are those of the term that the device is in."""

    policy: Message
    authorities: Authorities
    server: Server
    newest: Newest

    def __init__(self, settings: Settings, state: DeviceState) -> None:
        self._settings, self._state = settings, state
        self._known: Dict[bytes, Authority] = {}
        #: None if the keys of the task cannot be replaced.
        self._terms: Optional[Terms] = None

    def connect(self) -> None:
        """Finds out whether the services are the pinned ones, and enrols if that is needed."""
        settings, state = self._settings, self._state
        if len(settings.authorities) != len(settings.authority_keys):
            raise SettingsError(f"{len(settings.authorities)} addresses of authorities, {len(settings.authority_keys)} keys")
        kept = state.get("certificate")
        # Terms are stored before the device is enrolled. Those of another task would name the authorities of this one.
        tasks = [one.term.task for one in read_terms(state).seen] + ([] if kept is None else [CERTIFICATE.decode(kept).task])
        if any(task != settings.task for task in tasks):
            raise Refused("store-of-another-task")
        self._known = {key: self._authority(url, key) for url, key in zip(settings.authorities, settings.authority_keys)}
        first = check_policy(self._first_policy(), settings.floor)
        self.policy = policy_in(first, read_terms(state))
        self.authorities = Authorities(self._members(self.policy), council_of(self.policy))
        self.server = Server(settings.server, state.signer, self.policy.server, settings.unsafe_allow_plain_http, settings.progress)
        server_keys = self.server.public_keys()
        if first.succession is not None:
            self._terms = Terms(first, state, self.server, self._is_trusted, self._enter)
        self.newest = Newest(self.policy, state, self.server, self.authorities, self._terms)
        if self._terms is not None:
            self._terms.follow()
        if self.policy.server not in server_keys:
            raise Refused("wrong-server", self._wrong_server())
        if not any(are_seats(one.authorities, settings.authority_keys) for one in (first, self.policy)):
            raise Refused("wrong-authority", "the task names other authorities than those that are pinned")
        self.certificate()
        if self._terms is not None and state.get("policy") is None:
            state.keep("policy", first.raw)  # a returning device needs no authority that is gone

    def _authority(self, url: str, key: bytes) -> Authority:
        return Authority(url, self._state, key, self._settings.unsafe_allow_plain_http, self._settings.progress)

    def _first_policy(self) -> Message:
        """The policy in its first term, whose hash is the task."""
        kept = self._state.get("policy")
        return policy_of(list(self._known.values()), self._settings.task) if kept is None else POLICY.decode(kept)

    def _members(self, policy: Message) -> List[Optional[Authority]]:
        """The application gave addresses for its keys; a term has the address of its own key.

        This device may not be allowed to use the address, such as plain http to another machine. This authority is then left out, if
        the others are enough.
        """
        failure: Optional[SettingsError] = None
        for one in read_terms(self._state).seen:
            if one.term.key in policy.authorities and one.term.key not in self._known:
                try:
                    self._known[one.term.key] = self._authority(one.term.address.decode(), one.term.key)
                except SettingsError as no:
                    failure = no
        members = [self._known.get(key) for key in policy.authorities]
        if failure is not None and len(members) - members.count(None) < policy.threshold:
            raise failure
        return members

    def _is_trusted(self, policy: Message) -> bool:
        """The application names this term by its hash (the first one by the name of the task), or by the authorities that it brought."""
        term = policy.get("term")
        is_named = self._settings.term == (self._settings.task if term is None else term.hash)
        return is_named or brought_seats(policy, self._settings.authority_keys)

    def _enter(self, policy: Message) -> None:
        if term_number(policy) == term_number(self.policy):
            return
        self.authorities.follow(self._members(policy), council_of(policy))
        self.newest.follow(policy)
        self.server.link.audience = policy.server
        self.policy = policy

    def follow(self) -> None:
        """Enters the terms whose time has come. A device that only waits for a place hears from its authorities once in a while."""
        if self._terms is None:
            return
        self._terms.follow()
        if self._terms.must_hear:
            try:
                self.newest.hear()
            except (Malformed, Problem, Refused, Unreachable):
                pass  # they are asked again at the next call

    def _wrong_server(self) -> str:
        terms = read_terms(self._state)
        is_waiting = len(terms.seen) > terms.followed
        return "it shows a new key, for which this device still waits" if is_waiting else "it is not the one of the task's policy"

    def certificate(self) -> Message:
        """A certificate is renewed in the last third of its life and in every new term, which needs no token.

        Until it ends it is valid in its own term and in the next one.
        """
        kept, now_ms = self._state.get("certificate"), self.authorities.now_ms()
        if kept is None:
            return self._enrol()
        certificate = CERTIFICATE.decode(kept)
        if now_ms >= certificate.not_after or not is_certified(certificate, self.policy):
            return self._enrol(certificate)
        is_of_term = is_endorsed(certificate, council_of(self.policy))
        if is_of_term and now_ms < certificate.not_after - (certificate.not_after - certificate.issued_at) / 3:
            return certificate
        try:
            return self._enrol(certificate)
        except (Problem, Unreachable):
            return certificate  # another is asked for with the next seat
        except Refused as no:
            if is_of_term or no.code != "wrong-certificate":
                raise
            return certificate  # an authority has not begun the term yet, so it signs in the one before

    def _enrol(self, known: Optional[Message] = None) -> Message:
        settings, state = self._settings, self._state
        shown = None if term_number(self.policy) == 0 else known
        certificate = self.authorities.enrol(settings.task, settings.token, state.signer.public, shown)
        state.keep("certificate", certificate.raw)
        return certificate
