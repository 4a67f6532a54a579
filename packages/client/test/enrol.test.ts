/** The renewal of a certificate, and when the stored one is still used. */
import type { Signer } from '@basa/masking';
import { type Certificate, certificateCodec, endorse, joined, millis, type TaskPolicy, taskIdOf } from '@basa/protocol';
import { createNodeSigner, nodeSuite as suite } from '@basa/runtime/node';
import { GOOD_POLICY } from '@basa/testkit/vectors/policies.ts';
import { expect, it } from 'vitest';
import { RefusedError, UnreachableError } from '../src/errors.ts';
import type { DeviceContext } from '../src/session/device-context.ts';
import { ensureEnrolled } from '../src/session/enrol.ts';

const signerOf = (n: number): Signer => createNodeSigner(new Uint8Array(32).fill(n));
const signers = [1, 2, 3, 4].map(signerOf);
const device = signerOf(9);
const policy: TaskPolicy = { ...GOOD_POLICY, authorities: signers.map(({ publicKey }) => publicKey), threshold: 3 };

function certificate(endsAt: number): Certificate {
  const task = taskIdOf(suite, policy);
  const body = { task, deviceKey: device.publicKey, issuedAt: millis(0), notAfter: millis(endsAt) };
  const parts = signers.map((signer) => endorse(certificateCodec, policy, signer, body).endorsements);
  return { ...body, endorsements: joined(parts.flat()) };
}
const old = certificate(100);
const young = certificate(1000);

/** The certificate that the device has in the end, or the error. */
async function renewed(now: number, answer: Certificate | Error): Promise<unknown> {
  let kept = old;
  const context = {
    authorities: {
      now: () => now,
      enrol: async () => {
        if (answer instanceof Error) throw answer;
        return answer;
      },
    },
    outside: { suite },
    policy,
    state: {
      certificate: old,
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

it('a certificate in the last third of its life is replaced, and is used until it ends if it cannot be', async () => {
  expect(await renewed(1, down)).toBe(old); // nobody was asked
  expect(await renewed(99, young)).toBe(young);
  expect(await renewed(99, down)).toBe(old);
  expect(await renewed(101, down)).toBe(down);
});

it('a wrong certificate is refused', async () => {
  for (const now of [99, 101]) expect(await renewed(now, wrong)).toBe(wrong);
});
