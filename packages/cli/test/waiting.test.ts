/** What is told while nothing happens. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { basaHere } from '@basa/testkit/programs/basa.ts';
import { start } from '@basa/testkit/programs/basa-process.ts';
import { afterAll, expect, it } from 'vitest';
import { gatheringWords } from '../src/tasks/tasks.ts';

const folder = mkdtempSync(join(tmpdir(), 'basa-waiting-'));
afterAll(() => rmSync(folder, { recursive: true }));

it.each([
  [7, 0, '7 of at least 8 updates for version 12; 1 more device needed'],
  [1, 2, '1 of at least 8 updates for version 12; 7 more devices needed (2 devices at work)'],
  [8, 1, '8 of at least 8 updates for version 12 (1 device at work)'],
])(
  '`task show` with %i updates and %i devices at work, even when places have ended',
  async (gathered, underWay, words) => {
    const admission = { places: 24, used: underWay, underWay, waiting: 0, waitingBatches: 0 };
    expect(await gatheringWords({ admission, gathered, version: 11 }, 8)).toBe(words);
  },
);

const NOWHERE = {
  BASA_SERVER: 'http://127.0.0.1:9',
  BASA_AUTHORITY: 'http://127.0.0.1:9',
  BASA_AUTHORITY_KEY: 'ab'.repeat(32),
  BASA_TASK: 'cd'.repeat(32),
};

it('a device that starts waits for its services, and ends at once if a script asks for it', async () => {
  const device = start(['client', '--identity', join(folder, 'patient')], NOWHERE);
  await device.said('trying again in 1.0 s');
  device.child.kill('SIGINT');
  expect((await device.ended).code).toBe(130);
  const script = await basaHere(['client', '--identity', join(folder, 'hasty'), '--exit-on-error'], NOWHERE);
  expect([script.code, script.out]).toEqual([8, expect.not.stringContaining('trying again')]);
});
