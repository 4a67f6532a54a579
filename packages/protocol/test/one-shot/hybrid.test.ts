/** Parts that are sealed to X25519 and ML-KEM-768 together: statements, uploads and verdicts. */
import { isKemKey } from '@basa/masking';
import { granted } from '@basa/protocol';
import { agreementKeyOf, epochKeysOf, epochSecretOf } from '@basa/protocol/internal/one-shot/epochs.ts';
import { Epoch, epochNameOf, shotLayout } from '@basa/protocol/wire';
import type { StoredShot } from '@basa/simulator';
import { reasonOf } from '@basa/simulator';
import { type ShotOptions, ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { describe, expect, it } from 'vitest';
import { forged, saidOf, verdicts } from './scene.ts';

const HYBRID: ShotOptions = { shot: { sealing: 'x25519+mlkem768' } };

/** Two uploads with 3 of 4 authorities, the second of a colluder. */
function scene() {
  const world = new ShotWorld(HYBRID);
  const [, colluder] = world.contributed(2) as [unknown, ReturnType<ShotWorld['device']>];
  const [, own] = world.server.shots as [StoredShot, StoredShot];
  return { world, own, colluder };
}

/** The statement of authority 0 with other keys, signed by it. */
function restated(world: ShotWorld, change: Partial<Epoch>): Epoch {
  const { signer } = world.authority(0).base.ports;
  const body = { ...(granted(world.authority(0).epochs()).epochs[0] as Epoch), ...change };
  return { ...body, signature: signer.sign(Epoch.statement(body)) };
}

/** FIPS 203's modulus check fails: the first coefficient is 4095. */
function badKey(good: Uint8Array): Uint8Array {
  const bad = good.slice();
  bad.set([0xff, 0xff], 0);
  return bad;
}

describe('an upload', () => {
  it('grows by the ciphertext of each copy: 1088 bytes with one authority, 13,056 with 3 of 4', () => {
    const bytesOf = (options: ShotOptions): number => {
      const world = new ShotWorld(options);
      const names = world.shown().epochs.map((epoch) => epochNameOf(world.environment.tools.suite, epoch));
      return shotLayout(world.policy, names).partsBytes;
    };
    expect(bytesOf({ ...HYBRID, count: 1 }) - bytesOf({ count: 1 })).toBe(1088);
    expect(bytesOf(HYBRID) - bytesOf({})).toBe(13_056);
  });

  it.each([
    ['R', 0],
    ['the ciphertext for the first holder', 32],
    ['the seed for the first holder', 32 + 1088],
    ['the ciphertext for the last holder', 32 + 2 * 1120],
    ['the seed for the last holder', 32 + 3 * 1120 - 1],
  ])('with another byte in %s is bad for every holder of the part', (_, at) => {
    const { world, own, colluder } = scene();
    const sealed = world.server.shown(own).sealed.slice();
    sealed[at] = (sealed[at] as number) ^ 1;
    const said = saidOf(world, forged(colluder, own, {}, sealed));
    expect(said).toEqual(['good', ...Array(3).fill('bad: part-invalid')]);
  });
});

describe('a statement', () => {
  it('carries an ML-KEM key that passes the check of FIPS 203, in tasks that seal with it and in no other', () => {
    const keyOf = (options: ShotOptions) => granted(new ShotWorld(options).authority(0).epochs()).epochs[0]?.kemKey;
    expect(isKemKey(keyOf(HYBRID) as Uint8Array)).toBe(true);
    expect(keyOf({})).toBeUndefined();
  });

  it('whose ML-KEM key fails the check, or is missing, counts as absent for a device', () => {
    const { world } = scene();
    const device = world.device();
    const shown = world.shown();
    const [first, ...others] = shown.epochs;
    const good = first?.kemKey as Uint8Array;
    for (const kemKey of [badKey(good), undefined]) {
      const bad = restated(world, { kemKey });
      const shownWith = (rest: readonly Epoch[]) => device.receive({ ...shown, epochs: [bad, ...rest] });
      expect(reasonOf(shownWith(others.slice(0, 2)))).toBe('epochs-missing');
      const { epochs } = granted(shownWith(others));
      expect(epochs.map(({ authority }) => authority)).toEqual([1, 2, 3]);
    }
  });

  it('of that kind makes an upload that names it bad, at every authority', () => {
    const { world, own, colluder } = scene();
    const { suite } = world.environment.tools;
    const [first, ...others] = world.server.epochsOf([own]) as Epoch[];
    for (const kemKey of [badKey(first?.kemKey as Uint8Array), undefined]) {
      const epoch = restated(world, { kemKey });
      const epochs = [epochNameOf(suite, epoch), ...own.upload.header.epochs.slice(1)];
      const shot = forged(colluder, own, { epochs });
      const said = world.indices.flatMap((index) =>
        verdicts(world.server.inspectBy(index, [shot], { epochs: [epoch, ...others] })),
      );
      expect(said.every((word) => word === 'bad: epoch-invalid')).toBe(true);
    }
  });

  it('with an ML-KEM key is refused in a task that seals only with X25519', () => {
    const world = new ShotWorld();
    const { suite } = world.environment.tools;
    const { kemKey } = epochKeysOf(suite, 'x25519+mlkem768', world.randomBytes(32));
    const shown = world.shown();
    const epochs = [restated(world, { kemKey }), ...shown.epochs.slice(1, 3)];
    expect(reasonOf(world.device().receive({ ...shown, epochs }))).toBe('epochs-missing');
  });
});

it('no epoch opens without ML-KEM in a task that seals with it', () => {
  const suite = { ...new ShotWorld(HYBRID).environment.tools.suite, kem: undefined };
  expect(() => epochKeysOf(suite, 'x25519+mlkem768', new Uint8Array(32))).toThrow('ML-KEM was not loaded');
  expect(epochKeysOf(suite, 'x25519', new Uint8Array(32)).kemKey).toBeUndefined();
});

it('the X25519 secret of an epoch differs from its other secrets, so that finding it opens nothing else', () => {
  const { suite } = new ShotWorld(HYBRID).environment.tools;
  const secret = new Uint8Array(32).fill(7);
  const { agreement, decapsulation } = epochSecretOf(suite, 'x25519+mlkem768', secret);
  expect(agreement).not.toEqual(secret);
  expect(suite.x25519(agreement).publicKey).toEqual(agreementKeyOf(suite, secret));
  expect(epochSecretOf(suite, 'x25519+mlkem768', agreement).decapsulation).not.toEqual(decapsulation);
  expect(epochSecretOf(suite, 'x25519', secret)).toEqual({ agreement, decapsulation: undefined });
});
