/** The renewal of a certificate in a new term, and when the one of the term before holds. */
import type { Signer } from '@basa/masking';
import {
  type Certificate,
  certificateCodec,
  endorse,
  inTerm,
  joined,
  millis,
  type TaskPolicy,
  taskIdOf,
} from '@basa/protocol';
import { createNodeSigner, nodeSuite as suite } from '@basa/runtime/node';
import { signedTerm } from '@basa/testkit/core/signed-terms.ts';
import { GOOD_POLICY } from '@basa/testkit/vectors/policies.ts';
import { expect, it } from 'vitest';
import { RefusedError, UnreachableError } from '../src/errors.ts';
import type { DeviceContext } from '../src/session/device-context.ts';
import { ensureEnrolled } from '../src/session/enrol.ts';

const signerOf = (n: number): Signer => createNodeSigner(new Uint8Array(32).fill(n));
const seats = [1, 2, 3, 4].map(signerOf);
const device = signerOf(9);
const policy: TaskPolicy = {
  ...GOOD_POLICY,
  authorities: seats.map(({ publicKey }) => publicKey),
  threshold: 3,
  succession: { waitMs: 1000, recoveryHash: undefined },
};
const later = inTerm(suite, policy, signedTerm(policy, { key: signerOf(5), signers: seats }));
const last = inTerm(suite, later, signedTerm(later, { seat: 1, key: signerOf(6), signers: seats.slice(1) }));
const seatsLater = [signerOf(5), ...seats.slice(1)];

function certificate(council: TaskPolicy, signers: readonly Signer[]): Certificate {
  const body = {
    task: taskIdOf(suite, policy),
    deviceKey: device.publicKey,
    issuedAt: millis(0),
    notAfter: millis(100),
  };
  const parts = signers.map((signer) => endorse(certificateCodec, council, signer, body).endorsements);
  return { ...body, endorsements: joined(parts.flat()) };
}
const old = certificate(policy, seats);

/** The certificate that the device has in the end, or the error. */
async function renewed(council: TaskPolicy, held: Certificate, answer: Certificate | Error, now = 1): Promise<unknown> {
  let kept = held;
  const context = {
    authorities: {
      now: () => now,
      enrol: async () => {
        if (answer instanceof Error) throw answer;
        return answer;
      },
    },
    outside: { suite },
    pins: { policy: council },
    state: {
      certificate: held,
      signer: device,
      keepCertificate: async (one: Certificate) => {
        kept = one;
      },
    },
    task: taskIdOf(suite, policy),
  };
  return ensureEnrolled(context as unknown as DeviceContext, new AbortController().signal).then(
    () => kept,
    (error: Error) => error,
  );
}

const down = new UnreachableError('the authority', new Error('down'));
const wrong = new RefusedError('wrong-certificate');

it('a certificate of the term before is replaced, and holds until it can be replaced', async () => {
  const own = certificate(later, seatsLater);
  expect(await renewed(later, old, own)).toBe(own);
  // Around the switch, an authority may still sign in the term before.
  for (const failure of [down, wrong]) expect(await renewed(later, old, failure)).toBe(old);
  expect(await renewed(later, own, wrong)).toBe(own); // nobody was asked
});

it('an older certificate, or one that has ended, holds in no case', async () => {
  for (const failure of [down, wrong]) {
    expect(await renewed(last, old, failure)).toBe(failure);
    expect(await renewed(later, old, failure, 101)).toBe(failure);
  }
});

it('a wrong certificate in the same term is refused', async () => {
  expect(await renewed(policy, old, down, 99)).toBe(old);
  expect(await renewed(policy, old, wrong, 99)).toBe(wrong);
});
