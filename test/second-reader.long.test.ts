/** The whole of the second reader: all its scenarios against processes, and the conformance kit against it. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { FROM_SOURCE, ROOT } from '@basa/testkit/root.ts';
import { expect, it } from 'vitest';

async function lastLine(...args: string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT, maxBuffer: 2 ** 26 });
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
}

it('every scenario holds, with both engines, several authorities and drop-outs', async () => {
  expect(await lastLine('examples/second-reader/run.mjs', '--json')).toMatchObject({ held: 12, failed: 0 });
});

it('passes the conformance kit', async () => {
  const kit = [...FROM_SOURCE, 'packages/cli/src/main.ts', 'conformance', 'client', '--json'];
  const client = [process.execPath, 'examples/second-reader/client.mjs'];
  expect(await lastLine(...kit, '--', ...client)).toMatchObject({ failed: 0 });
});
