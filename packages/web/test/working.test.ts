/** The first sentence of Watch: whether a task gets on, and if not, why. */
import type { LiveBatch } from '@basa/protocol/internal/http/live.ts';
import { expect, it } from 'vitest';
import { type Progress, workingText } from '../src/web/watch/figures.ts';

const IDLE = { places: 9, used: 0, underWay: 0, waiting: 0, waitingBatches: 0 };
const versions = [{ version: 11, at: 0, accepted: 8, dropped: 0 }];
const filling = (accepted: number, version = 11): readonly LiveBatch[] => [
  { ctx: '', status: 'filling', version, accepted, bufferSize: 10, minimum: 8 } as LiveBatch,
];
const task = (more: Partial<Progress>): Progress =>
  ({ admission: IDLE, batches: [], mode: 'one-shot', state: 'running', versions, ...more }) as Progress;

it.each<[Partial<Progress>, boolean, string]>([
  [
    { batches: filling(7) },
    false,
    'It is waiting for devices: 7 of at least 8 updates for version 12; 1 more device needed.',
  ],
  [{ batches: filling(8) }, false, 'It is waiting for devices: none is training for version 12.'],
  [{ batches: filling(7, 10) }, false, 'It is waiting for devices: none is training for version 12.'],
  [{}, false, 'It is waiting for devices: none is training for version 12.'],
  [
    { batches: filling(6), admission: { ...IDLE, underWay: 2 } },
    true,
    'Yes: 2 devices are training; 6 of at least 8 updates for version 12; 2 more devices needed.',
  ],
  [{ admission: { ...IDLE, underWay: 1 } }, true, 'Yes: 1 device is training.'],
  [{ admission: { ...IDLE, waitingBatches: 1 } }, true, 'Yes: 1 batch is being opened.'],
  [{ versions: [] }, false, 'Not yet: the task is waiting for its first model.'],
  [{ state: 'paused', batches: filling(7) }, false, 'No: the task is paused. Its operator can resume it.'],
  [{ state: 'finished', why: 'it reached its target' }, true, 'The task is finished: it reached its target.'],
  [{ windows: [] }, true, 'Yes: the task is running.'],
])('of %o it says whether it works: %s, and: %s', (more, isWorking, text) => {
  expect(workingText(task(more))).toEqual({ isWorking, text });
});
