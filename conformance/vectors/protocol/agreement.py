"""What is said to agree, counted; a mismatch names what does not."""

checks = 0


class Mismatch(Exception):
    """Says what does not come out."""


def agree(what, got, expected=True):
    global checks
    checks += 1
    if got != expected:
        raise Mismatch(what)


def fields_of(where, vector, names):
    agree(f"the fields of {where}", set(vector), set(names.split()))


def each_user(v, check):
    for number, user in enumerate(v["users"]):
        try:
            check(number, user)
        except Mismatch as mismatch:
            raise Mismatch(f"user {number}: {mismatch}") from None
