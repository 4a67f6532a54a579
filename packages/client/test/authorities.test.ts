import { refused, type TaskId } from '@basa/protocol';
import { endorse, hasGoodEndorsements } from '@basa/protocol/internal/wire/council.ts';
import { Certificate } from '@basa/protocol/wire';
import { createNodeSigner, nodeSuite } from '@basa/runtime/node';
import { expect, it } from 'vitest';
import { ProblemError, UnreachableError } from '../src/errors.ts';
import { type AuthorityClient, askSeveral, enrolAt } from '../src/services/authorities.ts';

const signers = [1, 2, 3, 4].map((n) => createNodeSigner(new Uint8Array(32).fill(n)));
const council = { authorities: signers.map(({ publicKey }) => publicKey), threshold: 3 };
const task = new Uint8Array(32) as TaskId;
const never = new AbortController().signal;
const problem = (code: ProblemError['code']) => new ProblemError({ code, status: 403, title: code });
const down = () => Promise.reject(new UnreachableError('an authority', new Error('down')));
const isMine = (one: Certificate) => hasGoodEndorsements(nodeSuite, Certificate, council, one);

type Part = Partial<Record<'enrol', (...asked: never[]) => Promise<unknown>>>;

/** Enrols at the authorities of the council, each with what it does otherwise than an honest one. */
function enrol(otherwise: Readonly<Record<number, Part>>): Promise<Certificate> {
  const all = signers.map((_, authority) => ({ enrol: async () => certificate(authority), ...otherwise[authority] }));
  const asked = { suite: nodeSuite, task, token: undefined };
  return enrolAt(all as unknown as AuthorityClient[], council, asked, isMine, never);
}

function certificate(authority: number, signer = signers[authority] as (typeof signers)[0]) {
  const signed = { authorities: council.authorities.map((key, n) => (n === authority ? signer.publicKey : key)) };
  return endorse(Certificate, signed, signer, { task, deviceKey: task });
}

const signedBy = ({ endorsements }: Certificate) => endorsements.map(({ authority }) => authority);

it('a certificate has the signatures of the others if one authority sends a forged signature', async () => {
  const forger = createNodeSigner(new Uint8Array(32).fill(9));
  for (const liar of [0, 1]) {
    const given = await enrol({ [liar]: { enrol: async () => certificate(liar, forger) } });
    expect([signedBy(given), isMine(given)]).toEqual([[0, 1, 2, 3].filter((n) => n !== liar), true]);
  }
});

it('a refusal of one authority is final only if too few others are left, not if the others were silent', async () => {
  const no = { enrol: () => Promise.reject(problem('revoked')) };
  await expect(enrol({ 0: no, 2: { enrol: down }, 3: { enrol: down } })).rejects.toThrow(UnreachableError);
  await expect(enrol({ 0: no, 1: no, 3: { enrol: down } })).rejects.toThrow(ProblemError);
});

it('if too few authorities answer, the message gives the number needed and the number missing', async () => {
  await expect(enrol({ 1: { enrol: down }, 3: { enrol: down } })).rejects.toThrow(
    'the authority does not answer (down); 3 of 4 authorities must answer, but 2 did not; the work so far is kept',
  );
});

it('a lie of one authority and the silence of another do not end the run: the client asks again later', async () => {
  const judge = (answer: { readonly authority: number }) =>
    answer.authority === 0 ? refused('certificate-invalid') : undefined;
  const ask = async (authority: number) => (authority === 3 ? down() : { authority });
  const asking = { needed: 3, signal: never, ask, judge };
  await expect(askSeveral([0, 1, 2, 3], asking)).rejects.toThrow(UnreachableError);
  expect(await askSeveral([0, 1, 2, 2], asking)).toHaveLength(3);
});
