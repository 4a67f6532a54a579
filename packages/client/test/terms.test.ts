/** The authorities that an application names, and the terms that it trusts by that. */

import { inTerm, SERVER_SEAT } from '@basa/protocol';
import { createNodeSigner, nodeSuite } from '@basa/runtime/node';
import { signedTerm } from '@basa/testkit/core/signed-terms.ts';
import { GOOD_POLICY } from '@basa/testkit/vectors/policies.ts';
import { expect, it } from 'vitest';
import { broughtSeats, Terms, type TermsSource } from '../src/session/terms.ts';

const signerOf = (n: number) => createNodeSigner(new Uint8Array(32).fill(n));
const seats = [1, 2, 3, 4].map(signerOf);

const policy = {
  ...GOOD_POLICY,
  authorities: seats.map(({ publicKey }) => publicKey),
  threshold: 3,
  succession: { waitMs: 1000, recoveryHash: undefined },
};

it('a device that only waits for a place hears from its authorities before it has been away for too long', () => {
  const mustHear = (now: number, heardAt: number | undefined, threshold = 3): boolean => {
    const source = {
      outside: { now: () => now },
      pins: { policy: { ...policy, threshold } },
      state: { terms: { heardAt } },
    };
    return new Terms(source as unknown as TermsSource).mustHear;
  };
  expect([1000, 1001].map((now) => mustHear(now, 0))).toEqual([false, true]);
  expect(mustHear(10 ** 9, undefined)).toBe(false);
  expect(mustHear(10 ** 9, 0, 1)).toBe(false);
});

it('an application that names the authorities trusts the term that brought them, and no other key of the server', () => {
  const early = inTerm(nodeSuite, policy, signedTerm(policy, { seat: SERVER_SEAT, key: signerOf(11), signers: seats }));
  const moved = inTerm(nodeSuite, early, signedTerm(early, { seat: 0, key: signerOf(12), signers: seats }));
  const signers = [signerOf(12), ...seats.slice(1)];
  const late = inTerm(nodeSuite, moved, signedTerm(moved, { seat: SERVER_SEAT, key: signerOf(13), signers }));
  const all = [policy, early, moved, late];
  expect(all.map((one) => broughtSeats(one, policy.authorities))).toEqual([false, false, false, false]);
  expect(all.map((one) => broughtSeats(one, moved.authorities))).toEqual([false, false, true, false]);
});

it('asks for the terms again after a line that it refused', async () => {
  let asked = 0;
  const forged = { ...signedTerm(policy, { seat: 0, key: signerOf(12), signers: seats }), number: 9 };
  const source = {
    outside: { suite: nodeSuite, now: () => 0 },
    server: { line: async () => ({ terms: asked++ === 0 ? [forged] : [] }) },
    state: { terms: { seen: [], followed: 0 }, keepTerms: async () => {} },
    first: policy,
    pins: { policy },
    isTrusted: () => false,
  };
  const terms = new Terms(source as unknown as TermsSource);
  const { signal } = new AbortController();
  await expect(terms.follow(signal)).rejects.toThrow();
  await terms.follow(signal);
  await terms.follow(signal);
  expect(asked).toBe(2);
});
