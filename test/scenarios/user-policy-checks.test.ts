import { seededWords } from '@basa/experiments/simulation';
import { buildInput, checkDescriptor, descriptorCodec, loggedVersion } from '@basa/protocol';
import { granted, reasonOf } from '@basa/simulator';
import { describe, expect, it } from 'vitest';
import { nodeFederation } from '../support/tools.ts';

describe('a descriptor', () => {
  const world = nodeFederation({ bufferSize: 4, minimum: 3, dimension: 6 });
  const descriptor = granted(world.server.seat(world.device().certificate));
  const signedBy = (signer: { sign(message: Uint8Array): Uint8Array }, change: object) => {
    const body = { ...descriptor, ...change };
    return { ...body, signature: signer.sign(descriptorCodec.statement(body)) };
  };
  const suite = world.server.ports.suite;
  const check = (change: object, signer = world.authority.ports.signer) =>
    checkDescriptor(suite, world.pins, signedBy(signer, change), world.now);

  it('of the authority that follows the pinned policy is accepted, also with a higher minimum', () => {
    expect(check({}).kind).toBe('seated');
    expect(check({ minimum: 4 }).kind).toBe('seated');
  });

  it.each([
    ['a smaller minimum', { minimum: 2 }],
    ['another K', { bufferSize: 3 }],
    ['another dimension', { dimension: 7 }],
    ['another clip', { clip: 2 }],
    ['another level', { level: 2 }],
    ['another staleness', { staleness: { kind: 'polynomial', exponent: 5 } }],
    ['more staleness', { maxStaleness: 1000 }],
    ['another server', { serverKey: new Uint8Array(32) }],
    ['another engine', { engine: 2 }],
    ['another weight scale', { weightScale: 1 }],
    ['another manifest', { manifestHash: new Uint8Array(32).fill(1) }],
    ['another group', { modulus: { kind: 'field' } }],
  ])('with %s is refused', (_, change) => {
    expect(reasonOf(check(change))).toBe('descriptor-policy');
  });

  it('signed by the server, or of another authority, is refused', () => {
    expect(reasonOf(check({}, world.server.ports.signer))).toBe('descriptor-invalid');
    expect(reasonOf(check({ authorityKeyId: new Uint8Array(32) }))).toBe('descriptor-invalid');
  });

  it('that has expired is refused', () => {
    expect(reasonOf(checkDescriptor(suite, world.pins, descriptor, descriptor.expiry))).toBe('buffer-not-open');
  });
});

describe('an update', () => {
  const world = nodeFederation({
    bufferSize: 3,
    dimension: 4,
    maxStaleness: 2,
    staleness: { kind: 'polynomial', exponent: 0.5 },
  });
  const descriptor = { ...granted(world.server.seat(world.device().certificate)), version: 5 };
  const build = (delta: number[], trainedOn: number, more: object = {}) =>
    buildInput(descriptor, { delta: Float32Array.from(delta), trainedOn, randomWords: seededWords(1), ...more });

  it('is weighed by its staleness, in the group', () => {
    expect(build([1, 0, 0, 0], 5)).toMatchObject({ weight: 65_536, staleness: 0 });
    expect(build([1, 0, 0, 0], 4)).toMatchObject({ weight: Math.round(65_536 / Math.SQRT2), staleness: 1 });
    expect(build([1, 0, 0, 0], 9)).toMatchObject({ weight: 65_536, staleness: 0 });
    expect(build([1, 0, 0, 0], 5, { exampleWeight: 0.5 })).toMatchObject({ weight: 32_768 });
  });

  it('carries guard words, weight and version before its entries', () => {
    const built = build([1, -1, 0, 0], 5);
    expect(built.kind === 'input' && [...built.vector]).toEqual([1, 0, 0, 0, 65_536, 2, 1, 4_294_967_295, 0, 0]);
  });

  it('as stale as it may be is taken, and a block without entries is not zero', () => {
    expect(build([1, 0, 0, 0], 3)).toMatchObject({ kind: 'input', staleness: 2 });
    expect(build([1, 0, 0, 0], 5, { blocks: [[1, 0]] }).kind).toBe('input');
  });

  it('that is too stale, too short, not finite or zero on a block is refused', () => {
    expect(reasonOf(build([1, 0, 0, 0], 2))).toBe('too-stale');
    expect(reasonOf(build([1, 0, 0], 5))).toBe('wrong-length');
    expect(reasonOf(build([1, Number.NaN, 0, 0], 5))).toBe('not-finite');
    expect(
      reasonOf(
        build([1, 1, 0, 0], 5, {
          blocks: [
            [0, 2],
            [2, 2],
          ],
        }),
      ),
    ).toBe('zero-block');
    expect(
      build([1, 1, 0, 1], 5, {
        blocks: [
          [0, 2],
          [2, 2],
        ],
      }).kind,
    ).toBe('input');
  });
});

describe('a model', () => {
  it('is trained on only when the authority logged its hash', () => {
    const world = nodeFederation({ bufferSize: 3 });
    const entry = world.authority.core.newestModel(world.task);
    if (entry === undefined) throw new Error('no entry');
    const { suite } = world.server.ports;
    expect(loggedVersion(suite, world.pins, entry, entry.modelHash)).toBe(0);
    expect(loggedVersion(suite, world.pins, entry, new Uint8Array(32))).toBeUndefined();
    expect(loggedVersion(suite, world.pins, { ...entry, version: 9 }, entry.modelHash)).toBeUndefined();
  });
});
