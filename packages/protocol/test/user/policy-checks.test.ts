import { concatBytes } from '@basa/masking';
import {
  allSteps,
  type BufferPart,
  buildInput,
  type Ctx,
  checkDrawnBuffer,
  descriptorCodec,
  endorse,
  loggedVersion,
  taskIdOf,
} from '@basa/protocol';
import { granted, reasonOf } from '@basa/simulator';
import { endorsedBy, keysFor } from '@basa/testkit/core/endorsed.ts';
import { nodeFederation } from '@basa/testkit/core/tools.ts';
import { slotKeySealings } from '@basa/virtual-time/real-sealings';
import { seededWords } from '@basa/virtual-time/simulation';
import { describe, expect, it } from 'vitest';

describe('a descriptor', () => {
  const world = nodeFederation({ bufferSize: 4, minimum: 3, dimension: 6 });
  const { descriptor, slotKeys } = granted(world.server.seat(world.device().seatRequest()));
  const signedBy = (signer: { sign(message: Uint8Array): Uint8Array }, change: object) =>
    endorsedBy(descriptorCodec, signer, { ...descriptor, ...change });
  const suite = world.server.ports.suite;
  const check = (change: object, signer = world.authority.ports.signer) =>
    checkDrawnBuffer(suite, world.pins, { descriptor: signedBy(signer, change), slotKeys }, world.now, descriptor);

  it('of the authority that names the pinned policy is accepted', () => {
    expect(check({}).kind).toBe('seated');
  });

  it('that names another policy is refused, though the authority signed it', () => {
    const task = taskIdOf(suite, { ...world.policy, minimum: 2 });
    expect(reasonOf(check({ task }))).toBe('descriptor-policy');
  });

  it('comes with the pinned policy, and other statements of the server have no effect', () => {
    const said = { minimum: 2, clip: 1e6, weightScale: 1, closeBy: 0 };
    expect(granted(check(said))).toMatchObject({
      descriptor: { ...world.policy, closeBy: descriptor.expiry + world.policy.closeMs, weightScale: 65_536 },
    });
  });

  it('signed by the server is refused', () => {
    expect(reasonOf(check({}, world.server.ports.signer))).toBe('descriptor-invalid');
  });

  it('that has expired is refused', () => {
    const drawn = { descriptor, slotKeys };
    expect(reasonOf(checkDrawnBuffer(suite, world.pins, drawn, descriptor.expiry, descriptor))).toBe('buffer-not-open');
  });

  it('of an engine without slot keys is refused with some', () => {
    const drawn = { descriptor, slotKeys: new Uint8Array(32 * 5) };
    expect(reasonOf(checkDrawnBuffer(suite, world.pins, drawn, world.now, descriptor))).toBe('slot-keys-invalid');
  });
});

describe('a list of slot keys', () => {
  const sealings = slotKeySealings();
  const world = nodeFederation({ bufferSize: 3, dimension: 6, sealings });
  const { suite } = world.server.ports;
  const drawn = granted(world.server.seat(world.device().seatRequest()));
  /** The device's verdict on a list, even if the authority signed it. */
  const check = (slotKeys: Uint8Array, isSignedFor: boolean) => {
    const [part] = drawn.descriptor.parts as [BufferPart];
    const sealingKey = isSignedFor ? sealings.issuer.sealingKey(slotKeys) : part.sealingKey;
    const body = { ...drawn.descriptor, parts: [{ ...part, sealingKey }] };
    const descriptor = endorse(descriptorCodec, world.policy, world.authority.ports.signer, body);
    return checkDrawnBuffer(suite, world.pins, { descriptor, slotKeys }, world.now, descriptor);
  };
  const changed = (change: (bytes: Uint8Array) => void): Uint8Array => {
    const bytes = drawn.slotKeys.slice();
    change(bytes);
    return bytes;
  };

  it('is the list that the authority signed', () => {
    expect(check(drawn.slotKeys, true).kind).toBe('seated');
    const own = slotKeySealings().issuer;
    const foreign = allSteps(own.slotKeys(keysFor({ ctx: new Uint8Array(32) as Ctx, ...drawn }).source));
    expect(reasonOf(check(foreign, false))).toBe('slot-keys-invalid');
    expect(check(foreign, true).kind).toBe('seated');
  });

  it.each([
    ['a key too few', drawn.slotKeys.subarray(32)],
    ['a key too many', concatBytes(drawn.slotKeys, drawn.slotKeys.subarray(32, 64))],
    ['no keys', new Uint8Array()],
    ['a key twice', changed((bytes) => bytes.copyWithin(32, 64, 96))],
    ['the point of order 1', changed((bytes) => bytes.fill(0, 32, 64))],
    ['the point of order 4', changed((bytes) => bytes.fill(0, 32, 64).fill(1, 32, 33))],
    ['a key that is written in another way', changed((bytes) => bytes.fill(0xff, 32, 64))],
  ])('with %s is refused though the authority signed for it', (_, slotKeys) => {
    expect(reasonOf(check(slotKeys, true))).toBe('slot-keys-invalid');
  });
});

describe('an update with mixed versions', () => {
  const world = nodeFederation({
    bufferSize: 3,
    dimension: 4,
    maxStaleness: 2,
    versions: 'unsafeMixed',
    staleness: { kind: 'polynomial', exponent: 0.5 },
  });
  const descriptor = { ...granted(world.server.seat(world.device().seatRequest())).descriptor, version: 5 };
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

  it('as stale as it may be is taken', () => {
    expect(build([1, 0, 0, 0], 3)).toMatchObject({ kind: 'input', staleness: 2 });
  });

  it('that is too stale, too short or not finite is refused', () => {
    expect(reasonOf(build([1, 0, 0, 0], 2))).toBe('too-stale');
    expect(reasonOf(build([1, 0, 0], 5))).toBe('wrong-length');
    expect(reasonOf(build([1, Number.NaN, 0, 0], 5))).toBe('not-finite');
  });
});

describe('an update of a buffer of one version', () => {
  const world = nodeFederation({ bufferSize: 3, dimension: 4 });
  const drawn = granted(world.server.seat(world.device().seatRequest()));
  const { suite } = world.server.ports;
  const seatedFor = (trainedOn: { version: number; modelHash: Uint8Array }) =>
    checkDrawnBuffer(suite, world.pins, drawn, world.now, trainedOn);

  it('enters only a buffer of the model that it was trained on, by its number and its hash (O1)', () => {
    const { version, modelHash } = drawn.descriptor;
    expect(seatedFor({ version, modelHash }).kind).toBe('seated');
    expect(reasonOf(seatedFor({ version: version + 1, modelHash }))).toBe('descriptor-version');
    expect(reasonOf(seatedFor({ version, modelHash: new Uint8Array(32).fill(9) }))).toBe('descriptor-version');
  });

  it('is weighted only by its examples, and has no word for its age', () => {
    const update = {
      delta: Float32Array.of(1, -1, 0, 0),
      trainedOn: 0,
      randomWords: seededWords(1),
      exampleWeight: 0.5,
    };
    const built = buildInput(drawn.descriptor, update);
    expect(built.kind === 'input' && [...built.vector.subarray(0, 5)]).toEqual([1, 0, 0, 0, 32_768]);
    expect(built.kind === 'input' && built.vector.length).toBe(5 + 4);
  });
});

describe('the blocks of an update', () => {
  const LEVEL = 1024;
  const world = nodeFederation({ bufferSize: 3, dimension: 200, level: LEVEL });
  const { descriptor } = granted(world.server.seat(world.device().seatRequest()));
  /** Ones with a stretch of something else. */
  const build = (value: number, [from, length]: readonly [number, number], more: object = {}, blockFloor = 0) => {
    const delta = new Float32Array(200).fill(1).fill(value, from, from + length);
    const of = { ...descriptor, blockFloor };
    return buildInput(of, { delta, trainedOn: 0, randomWords: seededWords(1), ...more });
  };
  const blocks = [
    [0, 100],
    [100, 100],
  ];

  it('may not be zero after quantising, even if they were not zero before', () => {
    expect(reasonOf(build(0, [100, 100], { blocks }))).toBe('zero-block');
    expect(reasonOf(build(1e-12, [100, 100], { blocks }))).toBe('zero-block');
    expect(reasonOf(build(-1e-12, [0, 100], { blocks: [[0, 100]] }))).toBe('zero-block');
    expect(build(1e-12, [100, 99], { blocks }).kind).toBe('input');
    expect(build(0, [100, 100], { blocks: [[0, 100]] }).kind).toBe('input');
  });

  it('that are small are judged together: one of them may vanish, all of them may not', () => {
    const small = {
      blocks: [
        [0, 40],
        [40, 40],
      ],
    };
    expect(build(0, [40, 40], small).kind).toBe('input');
    expect(build(0, [0, 40], small).kind).toBe('input');
    expect(reasonOf(build(0, [0, 80], small))).toBe('zero-block');
  });

  it('are one block with all entries if the caller names none', () => {
    expect(reasonOf(build(0, [0, 200]))).toBe('zero-block');
    expect(build(0, [0, 199]).kind).toBe('input');
  });

  it('may not have a norm below the floor of the policy', () => {
    // 100 entries of 1/8: their norm is 1.25. Negative ones count as much.
    for (const value of [0.125, -0.125]) {
      expect(build(value, [100, 100], { blocks }, 1.25).kind).toBe('input');
      expect(build(value, [100, 100], { blocks }, 1.2501)).toMatchObject({
        reason: 'zero-block',
        detail: 'entries 100 to 199: norm 1.25, at least 1.2501 is needed',
      });
    }
    // The weight makes it smaller: what is judged is what is masked.
    expect(reasonOf(build(0.125, [100, 100], { blocks, exampleWeight: 0.5 }, 1))).toBe('zero-block');
  });

  it('of fewer than 64 entries are judged with their neighbours', () => {
    const weightsAndBiases = [
      [0, 90],
      [90, 10],
      [100, 90],
      [190, 10],
    ];
    expect(build(0, [90, 10], { blocks: weightsAndBiases }).kind).toBe('input');
    expect(build(0, [190, 10], { blocks: weightsAndBiases }).kind).toBe('input');
    const many = Array.from({ length: 20 }, (_, n) => [10 * n, 10]);
    expect(build(0, [0, 60], { blocks: many }).kind).toBe('input');
    expect(reasonOf(build(0, [0, 70], { blocks: many }))).toBe('zero-block');
    expect(build(0, [140, 60], { blocks: many }).kind).toBe('input');
    expect(reasonOf(build(0, [0, 10], { blocks: [[0, 10]] }))).toBe('zero-block');
  });

  it('of 64 entries and more are judged by themselves: no bias beside them excuses them', () => {
    for (const zero of [[0, 64] as const, [74, 64] as const]) {
      const blocks = [
        [0, 64],
        [64, 10],
        [74, 64],
        [138, 10],
      ];
      expect(reasonOf(build(0, zero, { blocks }))).toBe('zero-block');
    }
  });

  it('without entries are not zero; a block beyond the end of the update is an error of the caller', () => {
    expect(build(0, [0, 1], { blocks: [[1, 0]] }).kind).toBe('input');
    for (const wrong of [
      [150, 51],
      [-1, 10],
      [0.5, 10],
    ]) {
      expect(() => build(1, [0, 1], { blocks: [wrong] })).toThrow('no block of 200 entries');
    }
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
