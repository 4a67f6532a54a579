"""Terms with every signature that a test wants on them, and the checker of the vectors as a second opinion."""
from __future__ import annotations

import sys
from typing import Any, Optional, Sequence

from basa.council import council_of, words_of
from basa.fields import ENDORSEMENTS, Message
from basa.layouts import LINE, TERM, header
from basa.suite import Secret, Signer, sha256
from basa.terms import SERVER_SEAT, current_hash, term_number

from .agreement import VECTORS
from .councilcheck import small_policy

sys.path.append(str(VECTORS))
import check_terms as twin  # noqa: E402  (it shares no code with the client)

WEEK = 7 * 24 * 3_600_000
#: The numbers of the signers that have these roles in the first term. Authorities are 1 and up.
RECOVERY, SERVER = 200, 201
HEAD = Message(branch=bytes(16), sequence=12, revocations=1, hash=b"\5" * 32)


def signer(number: int) -> Signer:
    return Signer(Secret(bytes([number]) * 32))


def policy_of(count: int, threshold: int, **changes: Any) -> Message:
    """With succession. The authorities are signers 1 to `count`."""
    succession = Message(wait_ms=WEEK, recovery=sha256(signer(RECOVERY).public))
    keys = [signer(number).public for number in range(1, count + 1)]
    usual = {"authorities": keys, "threshold": threshold, "server": signer(SERVER).public, "succession": succession}
    return small_policy(**{**usual, **changes})


def made_term(
    policy: Message, signers: Sequence[int], seat: int = 0, key: int = 50, recovery: Optional[int] = None, lost: bool = False,
    signed_in: Optional[Message] = None, accepted_by: Optional[int] = None, recovered_by: Optional[int] = None,
    forged: bool = False, **change: Any,
) -> Message:
    """The next term of the policy, as early as possible. `change` is of its words, which are signed like the others."""
    is_servers, before = seat == SERVER_SEAT, policy.get("term")
    words = {
        "task": sha256(policy.raw), "number": term_number(policy) + 1, "previous": current_hash(policy), "seat": seat,
        "key": signer(key).public, "address": b"" if is_servers else b"https://authority.example",
        "last": None if lost or is_servers else HEAD,
        "effective": (0 if before is None else before.effective) + (0 if policy.succession is None else policy.succession.wait_ms),
    }
    statement = TERM.statement(**{**words, **change})
    digest, council = sha256(statement), council_of(signed_in or policy)
    endorsements = [
        Message(authority=list(council.keys).index(one.public), signature=bytes(64) if forged else one.sign(words_of(council, statement)))
        for one in map(signer, signers)
    ]
    beyond = Message(
        accepted=signer(key if accepted_by is None else accepted_by).sign(header(77) + digest),
        recovery=None if recovery is None
        else Message(key=signer(recovery).public, signature=signer(recovered_by or recovery).sign(header(78) + digest)),
    )
    endorsements.sort(key=lambda one: int(one.authority))
    return TERM.decode(statement + TERM.beyond.write(beyond) + ENDORSEMENTS.write(endorsements))


def twin_refusal(policy: Message, terms: Sequence[Message]) -> Optional[str]:
    """The verdict of the checker on the last of these terms. Those before it count."""
    read = twin.read_policy(policy.raw)
    state = twin.first_term(read)
    for term in terms[:-1]:
        state = twin.next_term(state, twin.read_term(term.raw))
    found: Optional[str] = twin.refusal(read, state, twin.read_term(terms[-1].raw))
    return found


def line_of(data: str) -> "tuple[Message, list[Message]]":
    line = LINE.decode(bytes.fromhex(data))
    return line.policy, [TERM.decode(term) for term in line.terms]
