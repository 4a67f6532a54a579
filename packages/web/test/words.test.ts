/** The texts of pages about uploads, batches and attacks. */

import { type Modulus, RING_32, ring } from '@basa/masking';
import type { LiveBatch } from '@basa/protocol/internal/http/live.ts';
import { nodeRandomBytes } from '@basa/runtime/node';
import { ATTACK_WORDS, ATTACKS, findingText, resultText } from '@basa/simulator/attacks';
import { describe, expect, it } from 'vitest';
import { byteEvenness } from '../src/web/join/uniformity.ts';
import { conclusionOf } from '../src/web/play/conclusion.ts';
import { chance, digits, isEven } from '../src/web/shared/format.ts';
import { scoreWords } from '../src/web/shared/state.ts';
import { batchLine, goalText, queueText, totalsText } from '../src/web/watch/figures.ts';

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

it('numbers have three digits that count', () => {
  expect([0.28507232666015625, 12, 12345.6, 0].map(digits)).toEqual(['0.285', '12', '12300', '0']);
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

  it('are told by their result: what is learned, what is broken, or that only sums are', () => {
    const nothing = { findings: [], isSumWrong: false, hasSum: false };
    expect(resultText(nothing)).toBe('the server learns nothing');
    expect(resultText({ ...nothing, hasSum: true })).toBe('the server learns only the sum of a whole group');
    expect(resultText({ ...nothing, isSumWrong: true })).toBe('the sum is wrong');
    expect(resultText({ ...nothing, findings: ['x of U0', 'a device is in a batch twice'] })).toBe(
      'the server learns the update of U0; a device is in a batch twice',
    );
  });

  it('are told with updates in the place of x', () => {
    expect(findingText('x of U0 + x of U2')).toBe('the sum of the update of U0 and the update of U2');
    expect(findingText('x of Ua - x of Ub')).toBe('the difference between the update of Ua and the update of Ub');
  });
});

describe('batches in one line', () => {
  const batch = (status: LiveBatch['status'], accepted: number): LiveBatch => ({
    ctx: '',
    status,
    version: 0,
    bufferSize: 10,
    minimum: 8,
    accepted,
  });

  it('are counted, with how full the oldest is and how many are being opened', () => {
    const filling = Array.from({ length: 21 }, (_, n) => batch('filling', n === 0 ? 9 : 2));
    expect(batchLine(filling)).toBe('21 open batches, the oldest with 9 of 10 updates');
    expect(batchLine([batch('frozen', 8), batch('granted', 8)])).toBe('No batch is open; 2 are being opened');
    expect(batchLine([batch('frozen', 8), batch('filling', 3)])).toBe(
      '1 open batch, with 3 of 10 updates; 1 is being opened',
    );
    expect(batchLine([])).toBe('No batch is open');
  });
});

describe('places and batches', () => {
  const admission = { places: 14, used: 4, underWay: 3, waiting: 0, waitingBatches: 0 };
  const batches = [{ bufferSize: 10 } as LiveBatch];

  it('are two limits, and the page says what each is for', () => {
    expect(totalsText({ admission, batches })).toBe(
      '4 of 14 places are taken: a device needs one to train, and may keep it until its update is in a sum. A batch collects finished updates, up to 10 for one sum.',
    );
    expect(totalsText({ admission, batches: [] })).not.toContain('batch');
  });

  it('queueing is said in words, with who waits now and how often somebody had to', () => {
    const said = queueText({ admission, refusals: { 'no-place': 124, 'too-stale': 2 } });
    expect(said).toMatch(/^3 devices are training, and none is waiting for a place\. Since .* 124 times to wait/);
    const busy = { ...admission, waiting: 2, waitingBatches: 1 };
    expect(queueText({ admission: busy, refusals: {} })).toBe(
      '3 devices are training, and 2 are waiting for a place. 1 closed batch waits to be opened.',
    );
  });
});

describe('the target of a task', () => {
  it('is an R2 if the task predicts numbers', () => {
    expect(goalText({ r2: 0.5 }, { stop: { r2: 0.9 } })).toBe('Target 0.900. The task ends at the target.');
    expect(scoreWords({ name: 'r2', value: 0.5 })).toBe('an R2 of 0.500');
    expect(scoreWords({ name: 'f1', value: 0.83456 })).toBe('f1 0.8346');
  });

  it('is said whether the task ends there or only aims at it', () => {
    expect(goalText({ accuracy: 0.5 }, { stop: { accuracy: 0.99 } })).toBe(
      'Target 99.0 %. The task ends at the target.',
    );
    expect(goalText({ accuracy: 0.9 }, { stop: { version: 40 }, target: 0.88 })).toBe(
      'Target 88.0 %, reached. The task ends at version 40.',
    );
    expect(goalText({}, { stop: {} })).toBe('No target. The task ends when its operator finishes it.');
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
    const early = { time: 10, paper: lane(1, 0.1), oneShot: lane(40, 0.6) };
    expect(conclusionOf([early], 64)).toMatch(/^Waiting/);
    const late = { time: 90, paper: lane(10, 0.5, 60), oneShot: lane(85, 0.9, 2) };
    const said = conclusionOf([early, late], 64);
    expect(said).toContain('85 versions in one-shot mode and 10 with the paper’s protocol: 8.5 times as many');
    expect(said).toContain(
      '60 of them have finished training and wait for their turn with the paper’s protocol, 2 in one-shot mode',
    );
    expect(said).toContain('90.0 % of the test digits right in one-shot mode and 50.0 % with the paper’s protocol');
    expect(said).toContain('that accuracy after 10 s');
  });

  it('says so where one-shot mode is not ahead', () => {
    const said = conclusionOf([{ time: 90, paper: lane(10, 0.5), oneShot: lane(9, 0.4) }], 64);
    expect(said).toContain('fewer');
    expect(said).not.toContain('that accuracy after');
  });
});
