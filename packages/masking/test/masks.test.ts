import { fixedSeed, plainTools, wasmTools } from '@basa/testkit/core/tools.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addInPlace,
  applyMasksInPlace,
  FIELD,
  type Keystream,
  type MaskTerm,
  type MaskTools,
  type Modulus,
  modulusSize,
  RING_32,
  ring,
  Secret,
  subtractInPlace,
} from '../src/index.ts';
import { slowElement, slowMask } from './slow-twin.ts';

const MODULI: Modulus[] = [RING_32, FIELD, ring(16), ring(20), ring(24), ring(25), ring(8), ring(2)];
const SALT = fixedSeed(9);

describe.each([
  ['wasm kernel', wasmTools],
  ['plain kernel', plainTools],
])('masks, %s', (_, makeTools: () => MaskTools<Keystream>) => {
  it.each(MODULI)('equal the slow twin element by element (%o)', (modulus) => {
    const length = 33;
    const mask = expand(fixedSeed(1), modulus, length, makeTools());
    expect([...mask].map(BigInt)).toEqual(slowMask(fixedSeed(1), SALT, BigInt(modulusSize(modulus)), length));
  });

  it('equal the slow twin at both sides of every block border', () => {
    const tools = makeTools();
    const length = 3 * tools.kernel.blockWords + 5;
    const mask = expand(fixedSeed(2), FIELD, length, tools);
    for (let block = 1; block <= 3; block++) {
      for (const k of [block * tools.kernel.blockWords - 1, block * tools.kernel.blockWords]) {
        expect(BigInt(mask[k] as number)).toBe(slowElement(fixedSeed(2), SALT, BigInt(modulusSize(FIELD)), k));
      }
    }
  });

  it.each(MODULI)('of a term with its own salt are those of that salt (%o)', (modulus) => {
    const length = 33;
    const [first, second] = [fixedSeed(7), fixedSeed(8)];
    const terms: MaskTerm[] = [
      { seed: new Secret(fixedSeed(1)), sign: 1, salt: first },
      { seed: new Secret(fixedSeed(2)), sign: 1, salt: second },
      { seed: new Secret(fixedSeed(3)), sign: 1 },
    ];
    const mask = new Uint32Array(length);
    applyMasksInPlace(mask, { modulus, salt: SALT, terms }, makeTools());
    const q = BigInt(modulusSize(modulus));
    const slow = [first, second, SALT].map((salt, n) => slowMask(fixedSeed(n + 1), salt, q, length));
    const sum = slow[0]?.map((_, k) => slow.reduce((total, one) => (total + (one[k] as bigint)) % q, 0n));
    expect([...mask].map(BigInt)).toEqual(sum);
  });

  it('replace a rejected word under the salt of its term', () => {
    const tools = makeTools();
    const salts: Uint8Array[] = [];
    const suite = {
      ...tools.suite,
      hkdf: (input: Parameters<typeof tools.suite.hkdf>[0]) => {
        salts.push(input.salt);
        return tools.suite.hkdf(input);
      },
    };
    let reads = 0;
    const keystream = {
      read: (request: Parameters<Keystream['read']>[0]) =>
        reads++ === 0 ? new Uint8Array(request.bytes).fill(255) : tools.keystream.read(request),
    };
    const own = fixedSeed(7);
    const terms: MaskTerm[] = [{ seed: new Secret(fixedSeed(1)), sign: 1, salt: own }];
    applyMasksInPlace(new Uint32Array(1), { modulus: FIELD, salt: SALT, terms }, { ...tools, suite, keystream });
    expect(salts).toEqual([own, own]);
  });

  it('cancel for any K, d, modulus and inputs', () => {
    const tools = makeTools();
    const cases = fc.record({
      K: fc.integer({ min: 2, max: 8 }),
      d: fc.integer({ min: 1, max: 70 }),
      modulus: fc.constantFrom(...MODULI),
      entropy: fc.infiniteStream(fc.nat(0xffff_ffff)),
    });
    fc.assert(
      fc.property(cases, ({ K, d, modulus, entropy }) => {
        const q = modulusSize(modulus);
        const inputs = Array.from({ length: K }, () =>
          Uint32Array.from({ length: d }, () => (entropy.next().value as number) % q),
        );
        const expected = Uint32Array.from({ length: d }, (_, n) =>
          inputs.reduce((sum, x) => (sum + (x[n] as number)) % q, 0),
        );
        const sum = new Uint32Array(d);
        for (const [k, input] of inputs.entries()) {
          applyMasksInPlace(input, { modulus, salt: SALT, terms: pairwiseTerms(k, K) }, tools);
          addInPlace(sum, input, modulus, tools.kernel);
        }
        expect(sum).toEqual(expected);
      }),
    );
  });

  it('of a shard are the same words as of the whole vector', () => {
    const tools = makeTools();
    for (const modulus of MODULI) {
      const whole = expand(fixedSeed(3), modulus, 1000, tools);
      const shard = new Uint32Array(600);
      const terms = [{ seed: new Secret(fixedSeed(3)), sign: 1 as const }];
      applyMasksInPlace(shard, { modulus, salt: SALT, terms, firstWord: 400 }, tools);
      expect(shard).toEqual(whole.subarray(400));
    }
  });

  it('leave nothing of themselves in the scratch of the kernel', () => {
    const tools = makeTools();
    expand(fixedSeed(4), RING_32, 100, tools);
    // Of the wasm kernel this is all its memory: the addend as well.
    expect(new Uint8Array(tools.kernel.accumulator.buffer).every((byte) => byte === 0)).toBe(true);
  });

  it('added and then subtracted give the vector back, in the field and in rings', () => {
    const tools = makeTools();
    for (const modulus of MODULI) {
      const mask = expand(fixedSeed(5), modulus, 500, tools);
      const vector = expand(fixedSeed(6), modulus, 500, tools);
      const before = vector.slice();
      addInPlace(vector, mask, modulus, tools.kernel);
      expect(vector).not.toEqual(before);
      subtractInPlace(vector, mask, modulus, tools.kernel);
      expect(vector).toEqual(before);
    }
  });
});

describe('a mask plan', () => {
  it('is rejected if the shard does not start at a whole AES block', () => {
    const plan = { modulus: RING_32, salt: SALT, terms: [], firstWord: 8 };
    expect(() => applyMasksInPlace(new Uint32Array(4), plan, plainTools())).toThrow('multiple of 16');
  });

  it('is rejected if a seed does not have 32 bytes', () => {
    const terms = [{ seed: new Secret(new Uint8Array(31)), sign: 1 as const }];
    expect(() => applyMasksInPlace(new Uint32Array(4), { modulus: RING_32, salt: SALT, terms }, plainTools())).toThrow(
      '32 bytes',
    );
  });

  it('gives other masks for another salt: a seed that returns in another buffer does not repeat', () => {
    const terms = [{ seed: new Secret(fixedSeed(7)), sign: 1 as const }];
    const first = new Uint32Array(8);
    const second = new Uint32Array(8);
    applyMasksInPlace(first, { modulus: RING_32, salt: fixedSeed(1), terms }, plainTools());
    applyMasksInPlace(second, { modulus: RING_32, salt: fixedSeed(2), terms }, plainTools());
    expect(first).not.toEqual(second);
  });
});

describe('vector sums', () => {
  it('refuse vectors of different lengths', () => {
    expect(() => addInPlace(new Uint32Array(2), new Uint32Array(3), RING_32, plainTools().kernel)).toThrow('2 and 3');
  });

  it('refuse an addend outside the field', () => {
    const addend = Uint32Array.of(0, 0xffff_fffb);
    expect(() => addInPlace(new Uint32Array(2), addend, FIELD, plainTools().kernel)).toThrow('4294967291');
  });
});

function expand(seed: Uint8Array, modulus: Modulus, length: number, tools: MaskTools<Keystream>): Uint32Array {
  const mask = new Uint32Array(length);
  applyMasksInPlace(mask, { modulus, salt: SALT, terms: [{ seed: new Secret(seed), sign: 1 }] }, tools);
  return mask;
}

/** The seeds of position k of K: s_ik subtracted for i < k, s_kj added for j > k. */
function pairwiseTerms(k: number, K: number): MaskTerm[] {
  const seedOf = (i: number, j: number): Secret => new Secret(fixedSeed(16 * i + j + 1));
  return Array.from({ length: K }, (_, other) => other)
    .filter((other) => other !== k)
    .map((other) => (other < k ? { seed: seedOf(other, k), sign: -1 } : { seed: seedOf(k, other), sign: 1 }));
}
