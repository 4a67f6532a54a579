/** A device that was written from the wire-format page alone fills buffers of our services; no code of ours is in it. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { House, OPERATOR_TOKEN } from '@basa/testkit/services/house.ts';
import { expect, it } from 'vitest';

const folder = fileURLToPath(new URL('../examples/second-reader/', import.meta.url));

async function lastLine(script: string, ...args: string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, [`${folder}${script}`, ...args]);
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
}

it('fills buffers of our services, a drop-out among them, and the models are the means of the plain updates', async () => {
  const house = await House.open({});
  try {
    const where = ['--server', house.server.url, '--authority', house.authority.url, '--token', OPERATOR_TOKEN];
    const said = await lastLine('run.mjs', ...where, '--only', 'slot keys, K = 3', '--json');
    expect(said).toMatchObject({
      scenarios: [
        { sums: [{ accepted: [0, 1, 2] }, { accepted: [0, 1, 2] }] },
        { sums: [{ accepted: [0, 2] }] },
        { sums: [{ meanAge: 0 }, { accepted: [0, 1, 2] }] },
      ],
      failed: 0,
    });
  } finally {
    await house.close();
  }
});

it('makes what the vectors say and refuses what they spoil', async () => {
  expect(await lastLine('vectors.mjs')).toEqual({ held: 342, failed: 0 });
});

it('imports no package of ours', () => {
  for (const name of readdirSync(folder)) {
    const imported = [...readFileSync(`${folder}${name}`, 'utf8').matchAll(/from '([^']+)'/g)].map(([, from]) => from);
    expect(imported.filter((from) => !/^(node:|\.\/|@noble\/curves\/)/.test(from ?? ''))).toEqual([]);
  }
});
