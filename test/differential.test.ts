/** The client in Python and this one beside each other: on random messages the same verdict and the same bytes, on random inputs the same body. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import {
  applyMasksInPlace,
  ascii,
  concatBytes,
  FIELD,
  keysAtOnce,
  type MaskPlan,
  type Modulus,
  modulusSize,
  packVector,
  plainVectorKernel,
  ring,
  toHex,
} from '@basa/masking';
import type { JoinTag, TaskId, UserId } from '@basa/protocol';
import { partBinding, partTerm, sealParts } from '@basa/protocol/internal/one-shot/parts.ts';
import { taskParts } from '@basa/protocol/internal/wire/one-shot-policy.ts';
import { ONE_SHOT_DEFAULTS } from '@basa/protocol/policy';
import { type Codec, type Epoch, heldParts } from '@basa/protocol/wire';
import { nodeSuite } from '@basa/runtime/node';
import { seededWords } from '@basa/simulator/node';
import { drawFrom } from '@basa/testkit/core/draw.ts';
import { sampleMessages } from '@basa/testkit/core/sample-messages.ts';
import { wasmTools } from '@basa/testkit/core/tools.ts';
import { mutate } from '@basa/testkit/fuzz/decoders.ts';
import { ROOT } from '@basa/testkit/root.ts';
import { describe, expect, it } from 'vitest';

const MESSAGES = 10_000;
const BODIES = 300;

/** The layouts that a device in Python reads or writes, by their names here. */
const LAYOUTS: Readonly<Record<string, string>> = {
  certificate: 'CERTIFICATE',
  policy: 'POLICY',
  'private policy': 'POLICY',
  'one-shot policy': 'POLICY',
  modelStatement: 'MODEL_STATEMENT',
  shownModel: 'SHOWN_MODEL',
  epoch: 'EPOCH',
  'epoch with ML-KEM': 'EPOCH',
  shotHeader: 'SHOT_HEADER',
  shotUpload: 'SHOT_UPLOAD',
};

const PYTHON = process.env['BASA_PYTHON'] ?? 'python3';
const hasPython = spawnSync(PYTHON, ['-c', 'import cryptography, numpy']).status === 0;
if (!hasPython) console.info(`${PYTHON} with cryptography and numpy is missing: the clients are not compared`);

function fromPython(lines: readonly object[]): readonly string[] {
  const { stdout, stderr } = spawnSync(PYTHON, ['-m', 'tests.differential'], {
    cwd: join(ROOT, 'clients/python'),
    input: lines.map((line) => JSON.stringify(line)).join('\n'),
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  expect(stderr).toBe('');
  return stdout.trim().split('\n');
}

// Python's libraries are not part of the repository.
describe.runIf(hasPython)('the client in Python', () => {
  it(`judges ${MESSAGES} random messages as this one does`, () => {
    const samples = sampleMessages().filter(({ name }) => LAYOUTS[name] !== undefined);
    expect(new Set(samples.map(({ name }) => LAYOUTS[name])).size).toBeGreaterThan(6);
    const draw = drawFrom(seededWords(69)).below;
    const sent = Array.from({ length: MESSAGES }, (_, n) => {
      const { name, codec, bytes } = samples[n % samples.length] as (typeof samples)[number];
      return { name, codec, bytes: n < samples.length ? bytes : mutate(bytes, draw) };
    });
    const expected = sent.map(({ codec, bytes }) => judged(codec, bytes));
    const found = fromPython(sent.map(({ name, bytes }) => ({ layout: LAYOUTS[name], data: toHex(bytes) })));
    const wrong = sent.filter((_, n) => found[n] !== expected[n]);
    expect(wrong.slice(0, 3).map(({ name, bytes }) => `${name} ${toHex(bytes)}`)).toEqual([]);
    // Both verdicts are frequent, or the comparison would say little.
    const refused = expected.filter((verdict) => verdict === 'refused').length;
    expect(refused).toBeGreaterThan(MESSAGES / 10);
    expect(refused).toBeLessThan((9 * MESSAGES) / 10);
  });

  it(`makes the same ${BODIES} random bodies`, () => {
    const random = drawFrom(seededWords(70));
    const bytes = (length: number): Uint8Array => Uint8Array.from({ length }, () => random.below(256));
    const cases = Array.from({ length: BODIES }, () => caseOf(random.below, bytes));
    expect(fromPython(cases.map(({ asked }) => asked))).toEqual(cases.map(({ body }) => toHex(nodeSuite.sha256(body))));
  });
});

function judged(codec: Codec<object>, bytes: Uint8Array): string {
  try {
    return toHex(nodeSuite.sha256(codec.encode(codec.decode(bytes))));
  } catch {
    return 'refused';
  }
}

const MODULI: readonly Modulus[] = [FIELD, ring(32), ring(24), ring(20), ring(17), ring(16), ring(8)];

function caseOf(below: (limit: number) => number, bytes: (length: number) => Uint8Array) {
  const modulus = MODULI[below(MODULI.length)] as Modulus;
  const [count, tolerated] = below(2) === 0 ? [1, 0] : [4, 1];
  const policy = {
    authorities: Array.from({ length: count }, () => bytes(32)),
    oneShot: { ...ONE_SHOT_DEFAULTS, tolerated },
  };
  const name = { task: bytes(32) as TaskId, joinTag: bytes(16) as JoinTag, user: bytes(32) as UserId };
  const keys = policy.authorities.map(() => nodeSuite.x25519(bytes(32)).publicKey);
  const epochs = keys.map((key, authority) => ({ authority, key, kemKey: undefined }) as Epoch);
  const named = epochs.map(({ authority }) => ({ authority, statement: new Uint8Array(32) }));
  const held = heldParts(policy, named);
  const seeds = taskParts(policy).map(() => bytes(32));
  const bindings = held.map((part, n) => ({
    seed: (seeds[n] as Uint8Array).slice(),
    binding: partBinding(nodeSuite, name, part, epochs),
  }));
  const sealed = keysAtOnce(nodeSuite, sealParts(nodeSuite, 'x25519', bindings)) ?? [];
  const x = Uint32Array.from({ length: 1 + below(300) }, () => below(modulusSize(modulus)));
  const plan: MaskPlan = {
    modulus,
    salt: ascii(''),
    terms: held.map(({ part }, n) => partTerm(nodeSuite, name, part, (seeds[n] as Uint8Array).slice(), 1)),
  };
  const masked = x.slice();
  applyMasksInPlace(masked, plan, wasmTools());
  const asked = {
    authorities: count,
    tolerated,
    group: modulus.kind === 'field' ? 0 : modulus.bits,
    task: toHex(name.task),
    tag: toHex(name.joinTag),
    user: toHex(name.user),
    keys: keys.map((key) => toHex(key)),
    seeds: seeds.map((seed) => toHex(seed)),
    x: [...x],
  };
  return { asked, body: concatBytes(packVector(masked, modulus, plainVectorKernel()), ...sealed) };
}
