/** The whole of the second reader: all its scenarios against processes, and the conformance kit against it. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

async function lastLine(...args: string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, maxBuffer: 2 ** 26 });
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
}

it('every scenario holds, with both engines, several authorities and drop-outs', async () => {
  expect(await lastLine('examples/second-reader/run.mjs', '--json')).toMatchObject({ held: 12, failed: 0 });
});

it('passes the conformance kit', async () => {
  const kit = [
    '--import',
    'tsx',
    '--conditions=@basa/source',
    'packages/cli/src/main.ts',
    'conformance',
    'client',
    '--json',
  ];
  const client = [process.execPath, 'examples/second-reader/client.mjs'];
  expect(await lastLine(...kit, '--', ...client)).toMatchObject({ failed: 0 });
});
