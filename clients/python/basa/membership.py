"""The part of a device in its task: the policy, the services that were held to it, and the certificate."""
from __future__ import annotations

from .authorities import Authorities, policy_of
from .council import council_of, is_endorsed
from .errors import Refused, SettingsError
from .fields import Message
from .layouts import CERTIFICATE
from .newest import Newest
from .policy import check_policy
from .services import Authority, Server
from .settings import Settings
from .state import DeviceState


class Membership:
    policy: Message
    authorities: Authorities
    server: Server
    newest: Newest

    def __init__(self, settings: Settings, state: DeviceState) -> None:
        self._settings, self._state = settings, state

    def connect(self) -> None:
        """Finds out whether the services are the pinned ones, and enrols if that is needed."""
        settings, state = self._settings, self._state
        if len(settings.authorities) != len(settings.authority_keys):
            raise SettingsError(f"{len(settings.authorities)} addresses of authorities, {len(settings.authority_keys)} keys")
        kept = state.get("certificate")
        kept_task = settings.task if kept is None else CERTIFICATE.decode(kept).task
        if kept_task == settings.predecessor:
            state.succeed()
        elif kept_task != settings.task:
            raise Refused("store-of-another-task")
        pinned = {key: self._authority(url, key) for url, key in zip(settings.authorities, settings.authority_keys)}
        self.policy = check_policy(policy_of(list(pinned.values()), settings.task), settings.floor)
        if sorted(pinned) != sorted(self.policy.authorities):
            raise Refused("wrong-authority", "the task names other authorities than those that are pinned")
        self.authorities = Authorities([pinned[key] for key in self.policy.authorities], council_of(self.policy))
        self.server = Server(settings.server, state.signer, self.policy.server, settings.unsafe_allow_plain_http, settings.progress)
        if self.server.public_key() != self.policy.server:
            raise Refused("wrong-server", "it is not the one of the task's policy")
        self.newest = Newest(self.policy, state, self.server)
        self.certificate()

    def _authority(self, url: str, key: bytes) -> Authority:
        return Authority(url, self._state.signer, key, self._settings.unsafe_allow_plain_http, self._settings.progress)

    def certificate(self) -> Message:
        kept = self._state.get("certificate")
        if kept is None:
            return self._enrol()
        certificate = CERTIFICATE.decode(kept)
        return certificate if is_endorsed(certificate, council_of(self.policy)) else self._enrol()

    def _enrol(self) -> Message:
        settings, state = self._settings, self._state
        certificate = self.authorities.enrol(settings.task, settings.token, state.signer.public)
        state.keep("certificate", certificate.raw)
        return certificate
