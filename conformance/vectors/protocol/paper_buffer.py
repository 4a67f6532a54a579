"""A buffer of the paper's protocol."""
import math

from .agreement import agree, each_user, fields_of
from .derived import attribute, column_sums, combine, context, modulus
from .layouts import check_signature, read


def check_paper(v):
    fields_of("the vector", v, "ctx serverKey version exponent users sum alphaSum")
    ctx, server, count = bytes.fromhex(v["ctx"]), bytes.fromhex(v["serverKey"]), len(v["users"])
    group, uploads, alphas = 0, [], []  # the vector does not name its group: signs and sum fit the field only

    def check(k, user):
        fields_of("the user", user, "user trainedOn ticket inbox terms input masked upload")
        t = read("paperTicket", bytes.fromhex(user["ticket"]))
        agree("the ticket", (t.ctx, t.position, t.user), (ctx, k, bytes.fromhex(user["user"])))
        check_signature(t, server)
        inbox = [bytes.fromhex(sealed) for sealed in user["inbox"]]
        agree("the inbox as uploaded", inbox, [upload.sealed[k - i - 1] for i, upload in enumerate(uploads)])
        m = read("paperUpload", bytes.fromhex(user["upload"]))
        agree("the position of the upload", m.position, k)
        agree("trained on a version that exists", user["trainedOn"] <= v["version"])
        alpha = (1 + v["version"] - user["trainedOn"]) ** -v["exponent"]
        agree("alpha", abs(m.alpha - alpha) <= math.ulp(alpha))  # a power may be rounded either way
        agree("a sealed seed for each later position", len(m.sealed), count - 1 - k)
        for j, sealed in enumerate(m.sealed, k + 1):
            agree(f"the sealed seed to {j}", sealed[32:], attribute(ctx, j) + context(ctx, j))
        terms = [(-1, sealed[:32]) for sealed in inbox] + [(1, sealed[:32]) for sealed in m.sealed]
        agree("the terms", [(term["sign"], bytes.fromhex(term["seed"])) for term in user["terms"]], terms)
        agree("the input below the modulus", all(0 <= x < modulus(group) for x in user["input"]))
        agree("y", user["masked"], combine(user["input"], terms, ctx, group))
        uploads.append(m)
        alphas.append(m.alpha)

    each_user(v, check)
    agree("the sum of x", v["sum"], column_sums([user["input"] for user in v["users"]], group))
    agree("the sum of y", v["sum"], column_sums([user["masked"] for user in v["users"]], group))
    agree("alphaSum", v["alphaSum"], sum(alphas))
