"""Checks conformance/vectors/terms.json, written from docs/wire-format.md alone: Python's standard library.

It follows the line of terms, holds the vote to its words in each term, and judges every term; then it changes the vectors one byte
at a time to see itself fail.
"""
import hashlib
import json
import pathlib
import re
import sys

from protocol import agreement
from protocol.agreement import Mismatch, agree
from protocol.ed25519 import verifies
from protocol.failing import must_fail
from protocol.layouts import B16, B32, B64, LAYOUTS, U8, U32, U53, Reader, endorsements, head_words, optional, short
from protocol.slot_keys import header

FILE = pathlib.Path(__file__).parent / "terms.json"
TERM, LINE, PREFIX, ACCEPTED, RECOVERED, MAX_TERMS = 35, 36, 76, 77, 78, 64
SERVER = 255
ADDRESS = re.compile(rb"https?://(\[[0-9A-Fa-f:.]+\]|[0-9A-Za-z_-]+(\.[0-9A-Za-z_-]+)*)(:[0-9]{1,5})?")
_POLICY_FIELDS = LAYOUTS["policy"][2]


def sha256(data):
    return hashlib.sha256(data).digest()


def read_policy(data):
    r = Reader("policy", data)
    agree("the header of a policy", r.take(3), header(2))
    policy = r.record(_POLICY_FIELDS)
    policy["succession"] = (U32(r), optional(B32)(r)) if r.data else None
    agree("a policy that ends", r.data, b"")
    return {**policy, "task": sha256(data)}


def read_term(data):
    r = Reader("term", data)
    agree("the header of a term", r.take(3), header(TERM))
    fields = {"task": B32, "number": U32, "previous": B32, "seat": U8, "key": B32, "address": short(256), "last": optional(head_words),
              "effective": U53}
    term = r.record(fields)
    term["statement"] = data[: len(data) - len(r.data)]
    term["hash"] = sha256(term["statement"])
    term["accepted"], term["recovery"] = B64(r), optional(lambda r: (B32(r), B64(r)))(r)
    term["endorsements"] = endorsements(r)
    agree("a term that ends", r.data, b"")
    return term


def words(state, statement):
    """What a seat signs: after the hash of its term, in every term but the first."""
    return statement if state["hash"] is None else header(PREFIX) + state["hash"] + statement


def first_term(policy):
    return {"number": 0, "hash": None, "keys": policy["authorities"], "server": policy["server"], "retired": [], "effective": 0}


def refusal(policy, state, term):
    """None for a term that counts."""
    if policy["succession"] is None:
        return "succession-forbidden"
    wait, recovery_hash = policy["succession"]
    keys, t, n = state["keys"], policy["t"], len(state["keys"])
    previous = policy["task"] if state["hash"] is None else state["hash"]
    follows = (term["task"], term["number"], term["previous"]) == (policy["task"], state["number"] + 1, previous)
    of_server = term["seat"] == SERVER
    if not follows or term["number"] > MAX_TERMS or (term["seat"] >= n and not of_server):
        return "term-invalid"
    if term["address"] if of_server else not ADDRESS.fullmatch(term["address"]):
        return "term-invalid"
    if term["key"] in [*keys, *state["retired"], state["server"]] or term["effective"] < state["effective"] + wait:
        return "term-invalid"
    if not verifies(term["key"], header(ACCEPTED) + term["hash"], term["accepted"]):
        return "term-invalid"
    signed = words(state, term["statement"])
    if not all(a < n and verifies(keys[a], signed, signature) for a, signature in term["endorsements"]):
        return "term-invalid"
    recovered = term["recovery"] is not None
    if recovered:
        key, signature = term["recovery"]
        if sha256(key) != recovery_hash or not verifies(key, header(RECOVERED) + term["hash"], signature):
            return "term-invalid"
    by_itself = term["seat"] in [a for a, _ in term["endorsements"]]
    if by_itself != (term["last"] is not None):
        return "term-invalid"
    count = len(term["endorsements"])
    enough = count >= t and (n > 1 or recovered)
    by_all_others = recovered and not by_itself and not of_server and count == n - 1
    return None if enough or by_all_others else "term-unsigned"


def next_term(state, term):
    keys, server = list(state["keys"]), state["server"]
    if term["seat"] == SERVER:
        old, server = server, term["key"]
    else:
        old, keys[term["seat"]] = keys[term["seat"]], term["key"]
    after = {"keys": keys, "server": server, "retired": [*state["retired"], old]}
    return {**after, "number": term["number"], "hash": term["hash"], "effective": term["effective"]}


def followed(v):
    """The policy of a line, and its keys in each term."""
    r = Reader("line", bytes.fromhex(v["line"]))
    agree("the header of a line", r.take(3), header(LINE))
    policy = read_policy(short(4096)(r))
    terms = [read_term(r.take(r.number(4))) for _ in range(r.number(2))]
    agree("a line that ends", r.data, b"")
    agree("the hashes", [term["hash"].hex() for term in terms], v["hashes"])
    states = [first_term(policy)]
    for term in terms:
        agree("a term of the line", refusal(policy, states[-1], term), None)
        states.append(next_term(states[-1], term))
    return policy, states


def check_line(v):
    policy, states = followed(v)
    agree("the task", policy["task"].hex(), v["task"])
    vote = v["vote"]
    agree("a vote for each term", len(vote["signatures"]), len(states))
    key = bytes.fromhex(vote["key"])
    agree("the bytes of a key", len(key), 32)
    for state, signature in zip(states, map(bytes.fromhex, vote["signatures"])):
        agree("the bytes of a signature", len(signature), 64)
        agree("the vote in its term", verifies(key, words(state, bytes.fromhex(vote["statement"])), signature))


def check_server_line(v):
    _, states = followed(v)
    agree("the server's keys", [state["server"].hex() for state in states], v["serverKeys"])


def check_judged(v):
    policy, term = read_policy(bytes.fromhex(v["policy"])), read_term(bytes.fromhex(v["term"]))
    agree(v["what"], refusal(policy, first_term(policy), term), v.get("refusal"))


def main():
    vectors = json.loads(FILE.read_text())
    try:
        check_line(vectors)
        check_server_line(vectors["serverLine"])
        for vector in vectors["judged"]:
            check_judged(vector)
    except Mismatch as mismatch:
        sys.exit(f"conformance/vectors/terms.json does not come out: {mismatch}")
    agreed = agreement.checks
    must_fail(check_line, "line", {name: vectors[name] for name in ("task", "line", "hashes", "vote")}, 41)
    must_fail(check_server_line, "server line", vectors["serverLine"], 41)
    print(f"conformance/vectors/terms.json: {agreed} checks agree")


if __name__ == "__main__":
    main()
