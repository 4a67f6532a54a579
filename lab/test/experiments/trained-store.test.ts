/** Finished trainings on the disk: what a cut-off run leaves behind is read again, to the last whole line. */
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Trained } from '@basa/simulator/virtual-time';
import { afterAll, expect, it } from 'vitest';
import { TrainedStore } from '../../src/experiments/training/trained-store.ts';

const root = mkdtempSync(join(tmpdir(), 'basa-trained-'));
afterAll(() => rmSync(root, { recursive: true }));

const trained = (wholeAccuracy: number): Trained => ({
  accuracy: [[1, 0.5]],
  reached: 1,
  wholeAccuracy,
  samples: 10,
  clipped: 0,
  partySums: 0,
});

it('a last line that was cut off is dropped, and the next training begins a line of its own', () => {
  const file = join(root, 'torn.jsonl');
  new TrainedStore(file).put('a', trained(0.1));
  appendFileSync(file, JSON.stringify({ name: 'b', trained: trained(0.2) }).slice(0, 25));
  const again = new TrainedStore(file);
  expect(again.get('a')).toEqual(trained(0.1));
  expect(again.get('b')).toBeUndefined();
  again.put('c', trained(0.3));
  const third = new TrainedStore(file);
  expect([third.get('a'), third.get('b'), third.get('c')]).toEqual([trained(0.1), undefined, trained(0.3)]);
  expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(3);
});

it('letters of several bytes before the cut do not shift it', () => {
  const file = join(root, 'letters.jsonl');
  writeFileSync(file, `${JSON.stringify({ name: 'β–é', trained: trained(0.4) })}\n{"name":"é`);
  expect(new TrainedStore(file).get('β–é')).toEqual(trained(0.4));
  expect(new TrainedStore(file).get('β–é')).toEqual(trained(0.4));
});
