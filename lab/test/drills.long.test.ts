/** The drills as operators type them. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { FROM_SOURCE, ROOT } from '@basa/testkit/root.ts';
import { expect, it } from 'vitest';

async function drill(name: string): Promise<Readonly<Record<string, unknown>>> {
  const words = [...FROM_SOURCE, join(ROOT, 'lab/src/main.ts'), 'drill', name, '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: ROOT, maxBuffer: 2 ** 24 });
  const last = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Record<string, Record<string, unknown>>;
  return last[name] ?? {};
}

it.each(['restore', 'rotation'])('the drill %s loses nothing and counts nothing twice', async (name) => {
  const report = await drill(name);
  expect(report).toMatchObject({ lost: 0, doubled: 0, stuck: 0, problems: [] });
  expect(report['acknowledged']).toBeGreaterThan(0);
});
