import {
  agreedOutcome,
  type Certificate,
  type CertificateBody,
  type Ctx,
  certificateCodec,
  endorse,
  hasGoodEndorsements,
  millis,
  type Outcome,
  outcomeCodec,
  refused,
  type TaskId,
} from '@basa/protocol';
import { createNodeSigner, nodeSuite } from '@basa/runtime/node';
import { expect, it } from 'vitest';
import { ProblemError, UnreachableError } from '../src/errors.ts';
import { askSeveral } from '../src/services/ask-several.ts';
import { Authorities } from '../src/services/authorities.ts';
import type { AuthorityClient } from '../src/services/authority-client.ts';

const signers = [1, 2, 3, 4].map((n) => createNodeSigner(new Uint8Array(32).fill(n)));
const council = { authorities: signers.map(({ publicKey }) => publicKey), threshold: 3 };
const task = new Uint8Array(32) as TaskId;
const ctx = new Uint8Array(32) as Ctx;
const never = new AbortController().signal;
const problem = (code: ProblemError['code']) => new ProblemError({ code, status: 403, title: code });
const down = () => Promise.reject(new UnreachableError('an authority', new Error('down')));
const isMine = (one: Certificate) => hasGoodEndorsements(nodeSuite, certificateCodec, council, one);

const zeros = (length: number): Uint8Array => new Uint8Array(length);

type Part = Partial<Record<'enrol' | 'outcome', (...asked: never[]) => Promise<unknown>>>;

/** The authorities of the council, each with what it does otherwise than an honest one. */
function authorities(otherwise: Readonly<Record<number, Part>>, randomBytes = zeros): Authorities {
  const members = signers.map((_, authority) => {
    const client = { enrol: honestEnrol(authority), outcome: says(authority, 'aborted'), ...otherwise[authority] };
    return { authority, client: client as unknown as AuthorityClient };
  });
  return new Authorities(members, council, { now: () => millis(0), randomBytes });
}

/** No certificate is signed that ends later than 9. */
function honestEnrol(authority: number) {
  return async (_: TaskId, { like }: { readonly like?: CertificateBody }): Promise<Certificate> => {
    if (like !== undefined && like.notAfter > 9) throw problem('malformed');
    return certificate(authority, like?.notAfter ?? 9 - authority);
  };
}

function certificate(authority: number, notAfter: number, signer = signers[authority] as (typeof signers)[0]) {
  const body = { task, deviceKey: task, issuedAt: millis(1), notAfter: millis(notAfter) };
  const signed = { authorities: council.authorities.map((key, n) => (n === authority ? signer.publicKey : key)) };
  return endorse(certificateCodec, signed, signer, body);
}

function says(authority: number, status: Outcome['status']) {
  return async (): Promise<Outcome> => {
    const body = { ctx, status, accepted: [] };
    const signature = (signers[authority] as (typeof signers)[0]).sign(outcomeCodec.statement(body));
    return { ...body, signature };
  };
}

const signedBy = ({ endorsements }: Certificate) => endorsements.map(({ authority }) => authority);

it('a certificate has the signatures of the others if one authority sends a forged signature', async () => {
  const forger = createNodeSigner(new Uint8Array(32).fill(9));
  for (const liar of [0, 1]) {
    const all = authorities({ [liar]: { enrol: async () => certificate(liar, 9, forger) } });
    const given = await all.enrol(task, { token: undefined }, isMine, never);
    expect([signedBy(given), isMine(given)]).toEqual([[0, 1, 2, 3].filter((n) => n !== liar), true]);
  }
});

it('another authority sets the validity of a certificate if the others reject the proposal of the first', async () => {
  const all = authorities({ 0: { enrol: async () => certificate(0, 10) } });
  const given = await all.enrol(task, { token: undefined }, isMine, never);
  expect([given.notAfter, signedBy(given)]).toEqual([8, [1, 2, 3]]);
});

it('the status of a buffer is known if enough authorities agree, even if one contradicts them', async () => {
  const isAgreed = (answers: Parameters<typeof agreedOutcome>[3]) =>
    agreedOutcome(nodeSuite, council, ctx, answers) !== undefined;
  const late = () => new Promise((resolve) => setTimeout(resolve, 20)).then(says(3, 'aborted'));
  const all = authorities({ 0: { outcome: says(0, 'unknown') }, 3: { outcome: late } });
  expect(isAgreed(await all.outcomes(ctx, isAgreed, never))).toBe(true);
});

it('a refusal of one authority is final only if too few others are left, not if the others were silent', async () => {
  const no = { outcome: () => Promise.reject(problem('revoked')) };
  const silent = authorities({ 0: no, 2: { outcome: down }, 3: { outcome: down } });
  await expect(silent.outcomes(ctx, () => false, never)).rejects.toThrow(UnreachableError);
  const refused = authorities({ 0: no, 1: no, 3: { outcome: down } });
  await expect(refused.outcomes(ctx, () => false, never)).rejects.toThrow(ProblemError);
});

it('if too few authorities answer, the message gives the number needed and the number missing', async () => {
  const all = authorities({ 1: { outcome: down }, 3: { outcome: down } });
  await expect(all.outcomes(ctx, () => false, never)).rejects.toThrow(
    'the authority does not answer (down); 3 of 4 authorities must answer, but 2 did not; the work so far is kept',
  );
});

it('a lie of one authority and the silence of another do not end the run: the client asks again later', async () => {
  const judge = (answer: { readonly authority: number }) =>
    answer.authority === 0 ? refused('outcome-invalid') : undefined;
  const ask = async (authority: number) => (authority === 3 ? down() : { authority });
  const asking = { needed: 3, signal: never, ask, judge };
  await expect(askSeveral([0, 1, 2, 3], asking)).rejects.toThrow(UnreachableError);
  expect(await askSeveral([0, 1, 2, 2], asking)).toHaveLength(3);
});

it('each authority may be the first that sets the validity of a certificate', async () => {
  const first = async (byte: number) => {
    const asked: number[] = [];
    const enrolled = (authority: number) => ({
      enrol: (...[, { like }]: Parameters<ReturnType<typeof honestEnrol>>) => {
        if (like === undefined) asked.push(authority);
        return honestEnrol(authority)(task, like === undefined ? {} : { like });
      },
    });
    let draws = 0;
    const randomBytes = (length: number) => new Uint8Array(length).fill(draws++ === byte ? 0 : 255);
    const all = authorities(Object.fromEntries(signers.map((_, n) => [n, enrolled(n)])), randomBytes);
    await all.enrol(task, { token: undefined }, isMine, never);
    return asked;
  };
  expect(await Promise.all([0, 1, 2, 3].map(first))).toEqual([[0], [1], [2], [3]]);
});
