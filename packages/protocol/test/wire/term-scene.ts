/** Policies whose keys may be replaced, and terms of them. */
import { ascii, ring, type Signer } from '@basa/masking';
import { createNodeSigner, nodeSuite as suite } from '@basa/runtime/node';
import { signedTerm, type WantedTerm } from '@basa/testkit/core/signed-terms.ts';
import { ENGINE, POLICY_DEFAULTS, type TaskPolicy, type Term, termNumber, termProblem } from '../../src/index.ts';

export const WEEK = 7 * 24 * 3_600_000;
export const signer = (n: number): Signer => createNodeSigner(new Uint8Array(32).fill(n));
export const recoveryKey = signer(200);
export const server = signer(201);

export function policyOf(authorities: number, threshold: number, changes: Partial<TaskPolicy> = {}): TaskPolicy {
  return {
    ...POLICY_DEFAULTS,
    name: ascii('terms'),
    authorities: seatsOf(authorities).map(({ publicKey }) => publicKey),
    threshold,
    engine: ENGINE.slotKeys,
    bufferSize: 4,
    minimum: 3,
    dimension: 8,
    modulus: ring(32),
    level: 1024,
    clip: 1,
    staleness: { kind: 'constant' },
    maxStaleness: 15,
    manifestHash: new Uint8Array(32),
    serverKey: server.publicKey,
    uploadLeaseMs: 1000,
    openMs: 1000,
    closeMs: 1000,
    succession: { waitMs: WEEK, recoveryHash: suite.sha256(recoveryKey.publicKey) },
    ...changes,
  };
}

export const seatsOf = (count: number): readonly Signer[] => Array.from({ length: count }, (_, n) => signer(n + 1));

/** By default of seat 0, with a key of its own for each term. */
export function termOf(policy: TaskPolicy, wanted: Omit<WantedTerm, 'key'> & { readonly key?: Signer }): Term {
  return signedTerm(policy, { key: signer(50 + termNumber(policy)), ...wanted });
}

export const [a, b, c, d] = seatsOf(4) as [Signer, Signer, Signer, Signer];
export const four = policyOf(4, 3);
export const good = termOf(four, { signers: [a, b, c] });

export function reasonOf(policy: TaskPolicy, term: Term): string | undefined {
  return termProblem(suite, policy, term)?.reason;
}
