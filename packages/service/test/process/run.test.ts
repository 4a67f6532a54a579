/** A service as a process: how it ends, and what it says. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { withExports } from '@basa/testkit/root.ts';
import { expect, it } from 'vitest';
import { EXIT } from '../../src/index.ts';

const SERVICE = fileURLToPath(new URL('../../src/index.ts', import.meta.url));

/** Runs a process whose `start` has this body. */
function run(start: string) {
  const program = `process.exitCode = await runService({ name: 'test', start: async () => { ${start} } });`;
  const child = spawn(process.execPath, withExports('DatabaseUnavailable, runService, StartError', SERVICE, program));
  const said = { out: '', err: '' };
  child.stdout.on('data', (text) => {
    said.out += text;
  });
  child.stderr.on('data', (text) => {
    said.err += text;
  });
  return { child, said };
}

it.each(['SIGTERM', 'SIGINT'] as const)('%s drains and stops it cleanly', async (signal) => {
  const { child, said } = run(`
    const timer = setInterval(() => {}, 1000);
    const drain = async () => console.log('draining');
    return { url: 'http://x', drain, close: async () => { clearInterval(timer); console.log('closing'); } };`);
  await once(child.stdout, 'data');
  child.kill(signal);
  const [code] = await once(child, 'exit');
  expect([code, said.out]).toEqual([EXIT.stopped, 'test: listening at http://x\ndraining\nclosing\ntest: stopped\n']);
});

it('what it expects to go wrong is one line and its exit code', async () => {
  const { child, said } = run(`throw new StartError('keys', 'the passphrase does not open the keys');`);
  const [code] = await once(child, 'exit');
  expect([code, said.err]).toEqual([EXIT.keys, 'test: the passphrase does not open the keys\n']);
});

it('a database that goes away while it starts is one line', async () => {
  const { child, said } = run(`throw new DatabaseUnavailable(new Error('Connection terminated'));`);
  const [code] = await once(child, 'exit');
  expect([code, said.err]).toEqual([
    EXIT.dataFolder,
    'test: the database cannot be used: Connection terminated; check databaseUrl, and that the database is running\n',
  ]);
});

it('a fault shows where it happened', async () => {
  const { child, said } = run(`throw new Error('a fault');`);
  const [code] = await once(child, 'exit');
  expect(code).toBe(EXIT.fault);
  expect(said.err).toContain('at ');
});
