/** The processes that `basa` starts end with it, in any way it ends. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { start } from '@basa/testkit/programs/basa-process.ts';
import { FROM_SOURCE, ROOT } from '@basa/testkit/root.ts';
import { afterAll, describe, expect, it } from 'vitest';
import { startersOf } from '../src/shell/process.ts';

const folder = mkdtempSync(join(tmpdir(), 'basa-processes-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** However slow the machine is: the test's own limit ends this. */
async function untilGone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await sleep(100);
  }
}

const parentOf = (pid: number): number => Number(execFileSync('ps', ['-o', 'ppid=', '-p', String(pid)]));

const pidOf = (data: string): number => {
  const { pid } = JSON.parse(readFileSync(join(data, 'basa.pid'), 'utf8')) as { pid: number };
  return pid;
};

describe('the services of `basa dev` end', () => {
  it.concurrent.each(['SIGHUP', 'SIGKILL'] as const)('when it gets %s', async (signal) => {
    const data = join(folder, signal);
    const ports = ['--server-port', '0', '--authority-port', '0'];
    const dev = start(['dev', '--folder', data, '--devices', '0', ...ports]);
    await dev.said('Ctrl-C stops everything');
    const pids = ['authority', 'server'].map((name) => pidOf(join(data, name)));
    dev.child.kill(signal);
    await dev.ended;
    await Promise.all(pids.map(untilGone));
  });
});

it('a service ends if its parent ended while it was loading', async () => {
  const config = join(folder, 'authority.json');
  writeFileSync(config, JSON.stringify({ dataFolder: join(folder, 'orphan'), port: 0 }));
  const orphan = start(['authority', '--config', config], {
    BASA_AUTHORITY_PASSPHRASE: 'a passphrase',
    BASA_STOP_WITH_PARENT: '1',
  });
  orphan.child.stdin?.end();
  const { errors } = await orphan.ended;
  expect(errors).not.toContain('    at ');
});

it('a service stops in order when its terminal is closed', async () => {
  const config = join(folder, 'closed.json');
  writeFileSync(config, JSON.stringify({ dataFolder: join(folder, 'closed'), port: 0 }));
  const service = start(['authority', '--config', config], { BASA_AUTHORITY_PASSPHRASE: 'a passphrase' });
  await service.said('listening at');
  service.child.kill('SIGHUP');
  expect(await service.ended).toMatchObject({ code: 0, errors: '' });
});

it.each([
  ['the shell of npm', 'SIGKILL', 1],
  ['npm', 'SIGKILL', 2],
  ['npm', 'SIGTERM', 2],
] as const)('basa ends when %s got %s', async (name, signal, above) => {
  const data = join(folder, `${name}-${signal}`);
  const config = `${data}.json`;
  writeFileSync(config, JSON.stringify({ dataFolder: data, port: 0 }));
  const starter = spawn('npm', ['run', '--silent', 'basa', '--', 'authority', '--config', config], {
    cwd: ROOT,
    env: { ...process.env, NODE_OPTIONS: '', BASA_AUTHORITY_PASSPHRASE: 'a passphrase' },
  });
  let said = '';
  // The pipe stays open: who writes to one that nobody reads ends for that reason, and perhaps at once.
  for await (const chunk of starter.stdout.iterator({ destroyOnReturn: false })) {
    said += chunk;
    if (said.includes('listening at')) break;
  }
  starter.stdout.resume();
  const pid = pidOf(data);
  const chain = startersOf(parentOf(pid), { npm_command: 'run-script' });
  expect([chain.length, chain.at(-1)]).toEqual([2, starter.pid]);
  process.kill(chain[above - 1] as number, signal);
  await untilGone(pid);
});

it('a PostgreSQL that was started here ends with the process that started it', async () => {
  const program = `import { startLocalPostgres } from '@basa/testkit/processes/local-postgres.ts';
    const { pid } = await startLocalPostgres({ folder: ${JSON.stringify(mkdtempSync(join(tmpdir(), 'basa-pg-')))} });
    console.log(pid);`;
  const flags = [...FROM_SOURCE, '--input-type=module', '-e', program];
  const starter = spawn(process.execPath, flags, { cwd: fileURLToPath(new URL('..', import.meta.url)) });
  const [said] = (await once(starter.stdout, 'data')) as [Buffer];
  starter.kill('SIGKILL');
  await untilGone(Number(said.toString()));
});
