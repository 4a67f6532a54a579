/** The line of terms that the server keeps: only one that counts, only longer ones, and the term of each time. */
import type { Signer } from '@basa/masking';
import { encodePolicy, inTerm, type TaskPolicy, type Term, taskIdOf, termNumber } from '@basa/protocol';
import { createNodeSigner, nodeSuite as suite } from '@basa/runtime/node';
import { signedTerm } from '@basa/testkit/core/signed-terms.ts';
import { GOOD_POLICY } from '@basa/testkit/vectors/policies.ts';
import { expect, it, vi } from 'vitest';
import { firstPolicy, keepLine, lineOf, policyAt } from '../../src/tasks/terms.ts';
import { volatileTickets } from '../support/volatile-tickets.ts';

const WAIT_MS = 1000;
const signerOf = (n: number): Signer => createNodeSigner(new Uint8Array(32).fill(n));
const seats = [1, 2, 3, 4].map(signerOf);
const policy: TaskPolicy = {
  ...GOOD_POLICY,
  authorities: seats.map(({ publicKey }) => publicKey),
  threshold: 3,
  succession: { waitMs: WAIT_MS, recoveryHash: undefined },
};
const task = taskIdOf(suite, policy);
const first = signedTerm(policy, { key: signerOf(11), signers: seats });
const second = signedTerm(inTerm(suite, policy, first), {
  seat: 1,
  key: signerOf(12),
  signers: [signerOf(11), ...seats.slice(1)],
});

const problem = (code: string) => ({ document: { type: `urn:basa:problem:${code}` } });

async function scene() {
  const { store } = await volatileTickets(task, () => 0);
  const keep = (terms: readonly Term[], of = task) => keepLine(store, of, { policy, terms });
  const line = () => lineOf(store, task, policy);
  const kept = async () => (await line()).terms.map(({ number }) => number);
  return { keep, kept, line };
}

it('grows, and a line that is shorter, or the same, changes nothing', async () => {
  const { keep, kept } = await scene();
  expect(await kept()).toEqual([]);
  const grown: boolean[] = [];
  for (const terms of [[first], [], [first, second], [first], [first, second]]) grown.push(await keep(terms));
  expect(grown).toEqual([true, false, true, false, false]);
  expect(await kept()).toEqual([1, 2]);
});

it('costs no signature check if nothing of it is new, and keeps the signatures that were checked', async () => {
  const { keep, kept, line } = await scene();
  await keep([first]);
  const verify = vi.spyOn(suite, 'verify');
  const unsigned = { ...first, accepted: new Uint8Array(64), endorsements: [] };
  await keep([first]);
  await keep([unsigned]);
  expect(verify).not.toHaveBeenCalled();
  await keep([unsigned, second]);
  // The new key, and the seats that signed the second term.
  expect(verify).toHaveBeenCalledTimes(1 + second.endorsements.length);
  verify.mockRestore();
  expect(await kept()).toEqual([1, 2]);
  expect((await line()).terms).toEqual([first, second]);
});

it('is one that counts, of the task under whose name it is shown', async () => {
  const { keep, kept } = await scene();
  await expect(keep([{ ...first, accepted: new Uint8Array(64) }])).rejects.toMatchObject(problem('term-invalid'));
  await expect(keep([first], new Uint8Array(32) as typeof task)).rejects.toMatchObject(problem('malformed'));
  expect(await kept()).toEqual([]);
});

it('is never replaced by one that contradicts it, not even by a longer one', async () => {
  const { keep, kept } = await scene();
  await keep([first]);
  const other = signedTerm(policy, { key: signerOf(21), signers: seats });
  const signers = [signerOf(21), ...seats.slice(1)];
  const longer = signedTerm(inTerm(suite, policy, other), { seat: 1, key: signerOf(22), signers });
  for (const terms of [[other], [other, longer]])
    await expect(keep(terms)).rejects.toMatchObject(problem('term-forked'));
  expect(await kept()).toEqual([1]);
});

it('has the policy of each time: a term counts from its own on', () => {
  const line = {
    policy: firstPolicy({ policy: Buffer.from(encodePolicy(policy)).toString('hex') }),
    terms: [first, second],
  };
  const numbers = [0, WAIT_MS - 1, WAIT_MS, 2 * WAIT_MS - 1, 2 * WAIT_MS].map((now) => termNumber(policyAt(line, now)));
  expect(numbers).toEqual([0, 0, 1, 1, 2]);
  expect(() => policyAt({ ...line, terms: [second] }, 0)).toThrow('do not follow each other');
});
