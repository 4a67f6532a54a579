/** The server's check of a certificate, without asking an authority. */
import { endorse, joined } from '@basa/protocol/internal/wire/council.ts';
import { certificateProblem } from '@basa/protocol/internal/wire/devices.ts';
import { Certificate } from '@basa/protocol/wire';
import { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { describe, expect, it } from 'vitest';

const world = new ShotWorld();
const { ports } = world.federation.server;
const { certificate } = world.device().own;
const problem = (of: Certificate) => certificateProblem(ports.suite, { task: world.task, ...world.policy }, of)?.reason;

describe('a certificate', () => {
  it('of three of four authorities counts', () => {
    const [, ...three] = certificate.endorsements;
    expect(problem({ ...certificate, endorsements: three })).toBeUndefined();
  });

  it('counts each authority once: a signature that is repeated does not replace another', () => {
    const [first, second] = certificate.endorsements as [never, never];
    const again = { ...(second as object), authority: 2 } as never;
    for (const endorsements of [[first, second], [first, first, second], [first, second, again], []])
      expect(problem({ ...certificate, endorsements })).toBe('certificate-invalid');
  });

  it('of another task, or of other authorities, does not count', () => {
    expect(problem({ ...certificate, task: new Uint8Array(32) as never })).toBe('certificate-invalid');
    const strangers = { authorities: world.indices.map(() => world.signer()), threshold: 3 };
    const { endorsements: _, ...body } = certificate;
    const keys = { authorities: strangers.authorities.map(({ publicKey }) => publicKey) };
    const forged = strangers.authorities.flatMap((one) => endorse(Certificate, keys, one, body).endorsements);
    expect(problem({ ...body, endorsements: joined(forged) })).toBe('certificate-invalid');
  });
});
