/** Statements of authorities: who signed, and how often. */
import { agreedOn, endorse, hasGoodEndorsements, isEndorsed } from '@basa/protocol/internal/wire/council.ts';
import type { CertificateBody } from '@basa/protocol/internal/wire/devices.ts';
import { Certificate, type Endorsement } from '@basa/protocol/wire';
import { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { describe, expect, it } from 'vitest';

const body = (world: { task: CertificateBody['task'] }): CertificateBody => ({
  task: world.task,
  deviceKey: new Uint8Array(32),
});

describe('endorsements', () => {
  const world = new ShotWorld();
  const { suite } = world.environment.tools;
  const one = (n: number): Endorsement => {
    const { signer } = world.authority(n).base.ports;
    return endorse(Certificate, world.policy, signer, body(world)).endorsements[0] as Endorsement;
  };
  const isGood = (...endorsements: Endorsement[]) =>
    hasGoodEndorsements(suite, Certificate, world.policy, { ...body(world), endorsements });

  it('are good by rising index, one of each authority, all of them signed', () => {
    expect(isGood(one(0), one(1), one(3))).toBe(true);
    expect(isGood()).toBe(true);
    expect(isGood(one(0), one(0), one(1))).toBe(false);
    expect(isGood(one(1), one(0))).toBe(false);
    expect(isGood(one(0), { ...one(1), authority: 2 })).toBe(false);
    expect(isGood(one(0), { ...one(1), authority: 4 })).toBe(false);
  });

  it('are written only by rising index', () => {
    const written = (...endorsements: Endorsement[]) => Certificate.encode({ ...body(world), endorsements });
    expect(written(one(0), one(2))).toBeInstanceOf(Uint8Array);
    for (const wrong of [
      [one(2), one(0)],
      [one(1), one(1)],
    ])
      expect(() => written(...wrong)).toThrow('not by rising index');
  });

  it('are gathered in order from authorities that sign the same content, and from no stranger', () => {
    const other = new Uint8Array(32).fill(7);
    const said = (n: number, deviceKey = new Uint8Array(32)) =>
      endorse(Certificate, world.policy, world.authority(n).base.ports.signer, { ...body(world), deviceKey });
    const agreed = agreedOn(Certificate, world.policy, [said(0, other), said(3), said(2), said(1)]);
    expect(agreed).toMatchObject({
      deviceKey: new Uint8Array(32),
      endorsements: [{ authority: 1 }, { authority: 2 }, { authority: 3 }],
    });
    expect(agreedOn(Certificate, world.policy, [said(0, other), said(3), said(2)])).toBeUndefined();
    expect(() => endorse(Certificate, world.policy, world.signer(), body(world))).toThrow(
      'not an authority of this task',
    );
  });

  it('are enough from the threshold on', () => {
    const isEnough = (...endorsements: Endorsement[]) =>
      isEndorsed(suite, Certificate, world.policy, { ...body(world), endorsements });
    expect(isEnough(one(0), one(1))).toBe(false);
    expect(isEnough(one(0), one(0), one(1))).toBe(false);
    expect(isEnough(one(0), one(1), one(2))).toBe(true);
  });
});
