/** What pages say: about uploads, buffers and attacks. */

import { ATTACK_WORDS, findingText } from '@basa/lab/attacks/attack-words.ts';
import { ATTACKS } from '@basa/lab/attacks/registry.ts';
import { type Modulus, RING_32, ring } from '@basa/masking';
import type { LiveBuffer } from '@basa/protocol';
import { nodeRandomBytes } from '@basa/runtime/node';
import { describe, expect, it } from 'vitest';
import { byteEvenness } from '../src/web/join/uniformity.ts';
import { conclusionOf } from '../src/web/play/conclusion.ts';
import { chance, isEven } from '../src/web/shared/format.ts';
import { bufferLine } from '../src/web/watch/buffer-card.ts';

const WORDS = 8000;

function noise(modulus: Modulus): Uint32Array {
  const bytes = nodeRandomBytes(4 * WORDS);
  const bits = modulus.kind === 'ring' ? modulus.bits : 32;
  return new Uint32Array(bytes.buffer, bytes.byteOffset, WORDS).map((word) => word >>> (32 - bits));
}

describe('the evenness of an upload', () => {
  it('is that of the bytes that leave: noise in 20 bits is even although words of it have zeros', () => {
    for (const modulus of [ring(20), ring(12), RING_32]) {
      const { byteCounts, pValue } = byteEvenness(noise(modulus), modulus);
      expect(isEven(pValue)).toBe(true); // by chance not once in a million times
      expect(byteCounts.reduce((sum, value) => sum + value, 0)).toBe((WORDS * (modulus as { bits: number }).bits) / 8);
    }
  });

  it('is refused to an update without a mask', () => {
    const update = Uint32Array.from({ length: WORDS }, (_, k) => k % 200);
    expect(isEven(byteEvenness(update, ring(20)).pValue)).toBe(false);
  });

  it('is told in words', () => {
    expect([0.9, 0.25, 0.0085, 1e-9].map(chance)).toEqual([
      'in almost every try',
      'once in 4 tries',
      'once in 118 tries',
      'less than once in a million tries',
    ]);
  });
});

describe('attacks', () => {
  it('all have a title and a sentence of their own, without the names of the protocol', () => {
    expect(Object.keys(ATTACK_WORDS)).toEqual(ATTACKS.map(({ id }) => id));
    const titles = Object.values(ATTACK_WORDS).map(({ title }) => title);
    expect(new Set(titles).size).toBe(titles.length);
    for (const { title, story } of Object.values(ATTACK_WORDS)) {
      expect(`${title} ${story}`).not.toMatch(/SK_|c_0|k = |q = |U[0-9]|\bEve\b|nonce|quanti/);
      expect(story).toMatch(/^[A-Z].*\.$/);
    }
  });

  it('are told with updates in the place of x', () => {
    expect(findingText('x of U2 on entries 64 to 127')).toBe('the update of U2 on entries 64 to 127');
    expect(findingText('x of Ua - x of Ub')).toBe('the difference between the update of Ua and the update of Ub');
  });
});

describe('buffers in one line', () => {
  const buffer = (status: LiveBuffer['status'], accepted: number): LiveBuffer => ({
    ctx: '',
    status,
    version: 0,
    bufferSize: 10,
    minimum: 8,
    accepted,
    expiry: 0,
    slots: [],
  });

  it('are counted, with how full the oldest is and how many are being opened', () => {
    const filling = Array.from({ length: 21 }, (_, n) => buffer('filling', n === 0 ? 9 : 2));
    expect(bufferLine(filling)).toBe('21 open, oldest 9 of 10');
    expect(bufferLine([buffer('frozen', 8), buffer('granted', 8)])).toBe('none open; 2 are being opened');
    expect(bufferLine([buffer('frozen', 8), buffer('filling', 3)])).toBe('1 open, oldest 3 of 10; 1 is being opened');
    expect(bufferLine([])).toBe('none open');
  });
});

describe('the conclusion of a run', () => {
  const lane = (versions: number, accuracy: number, waiting = 0) => ({
    versions,
    accuracy,
    waiting,
    filled: 0,
    dropped: 0,
    staleness: [],
  });

  it('waits for a few versions of the paper’s, then compares versions, waiting and accuracy', () => {
    const early = { time: 10, paper: lane(1, 0.1), sealed: lane(40, 0.6) };
    expect(conclusionOf([early], 64)).toMatch(/^Wait/);
    const late = { time: 90, paper: lane(10, 0.5, 60), sealed: lane(85, 0.9, 2) };
    const said = conclusionOf([early, late], 64);
    expect(said).toContain('85 versions in sealed mode and 10 in the paper’s: 8.5 times as many');
    expect(said).toContain('60 of them have trained and wait for their turn in the paper’s mode, 2 in sealed mode');
    expect(said).toContain('90.0 % of the test digits right in sealed mode and 50.0 % in the paper’s');
    expect(said).toContain('that good after 10 s');
  });

  it('says so where sealed mode is not ahead', () => {
    const said = conclusionOf([{ time: 90, paper: lane(10, 0.5), sealed: lane(9, 0.4) }], 64);
    expect(said).toContain('fewer');
    expect(said).not.toContain('that good after');
  });
});
