/** The authority as a process of its own: configuration, signals, exit codes, and a kill that loses nothing. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fromHex } from '@basa/masking';
import { AUTHORITY_PATH } from '@basa/protocol';
import { EXIT } from '@basa/service';
import { bundleProcesses } from '@basa/testkit/processes/bundle.ts';
import { afterEach, describe, expect, it } from 'vitest';
import type { Authority } from '../src/index.ts';
import { cleanUp, freshHome, OPERATORS, time } from './homes.ts';
import { shotScene } from './one-shot/shot-world.ts';

afterEach(cleanUp);
const bundle = await bundleProcesses();

/** A process with this configuration in its environment; the clock of these tests is the real one here. */
function spawnAuthority(config: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [bundle.file('authority')], { env: { ...process.env, ...config } });
  const said = { out: '', err: '' };
  child.stdout.on('data', (text) => {
    said.out += text;
  });
  child.stderr.on('data', (text) => {
    said.err += text;
  });
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  return { child, said, ended };
}

function configOf(home: { readonly dataFolder: string; readonly keyFile: string }): Record<string, string> {
  return {
    BASA_AUTHORITY_DATA_FOLDER: home.dataFolder,
    BASA_AUTHORITY_KEY_FILE: home.keyFile,
    BASA_AUTHORITY_PORT: '0',
    BASA_AUTHORITY_OPERATORS: JSON.stringify(OPERATORS),
    BASA_AUTHORITY_LOG_LEVEL: '"silent"',
  };
}

/** The process once it listens, as the parties of the tests ask it. */
async function listening(process: ReturnType<typeof spawnAuthority>): Promise<Authority> {
  while (!process.said.out.includes('listening at')) {
    await Promise.race([once(process.child.stdout, 'data'), process.ended]);
    if (process.child.exitCode !== null) throw new Error(process.said.err);
  }
  const url = /listening at (\S+)/.exec(process.said.out)?.[1] ?? '';
  const { publicKey } = await (await fetch(url + AUTHORITY_PATH.about)).json();
  return { url, publicKey: fromHex(publicKey) } as Authority;
}

describe('the process', () => {
  it('loses nothing when it is killed, and stops cleanly on request', async () => {
    const home = freshHome();
    const [before, real] = [time.now, Date.now()];
    time.now = real;
    try {
      const first = spawnAuthority(configOf(home));
      const authority = await listening(first);
      const { world, epochs, uploads } = await shotScene(authority, 2);
      await world.inspected(authority, uploads, epochs);
      const request = world.voteRequest(world.batchOf(uploads));
      const answer = await world.vote(authority, request);
      expect(answer.status).toBe(200);
      first.child.kill('SIGKILL');
      await first.ended;

      const second = spawnAuthority(configOf(home));
      const again = await listening(second);
      expect(again.publicKey).toEqual(authority.publicKey);
      await world.inspected(again, uploads, epochs);
      expect((await world.vote(again, request)).bytes).toEqual(answer.bytes);
      second.child.kill('SIGTERM');
      expect(await second.ended).toBe(EXIT.stopped);
      expect(second.said.out).toContain('authority: stopped');
    } finally {
      time.now = before;
    }
  });

  it.each([
    ['no data folder', { BASA_AUTHORITY_DATA_FOLDER: undefined }, EXIT.configuration, 'dataFolder is missing'],
    ['no secret', { BASA_AUTHORITY_KEY_FILE: undefined }, EXIT.configuration, 'set exactly one of passphrase'],
    ['a port that is no number', { BASA_AUTHORITY_PORT: '"x"' }, EXIT.configuration, 'port must be'],
    ['a key file that is not there', { BASA_AUTHORITY_KEY_FILE: '/nowhere' }, EXIT.keys, 'the key file cannot be read'],
    [
      'a TLS key that is not there',
      { BASA_AUTHORITY_TLS_KEY_FILE: '/nowhere', BASA_AUTHORITY_TLS_CERT_FILE: '/nowhere' },
      EXIT.configuration,
      'tlsKeyFile: /nowhere does not exist; create the file, or change its path',
    ],
    [
      'half of TLS',
      { BASA_AUTHORITY_TLS_KEY_FILE: '/x' },
      EXIT.configuration,
      'tlsKeyFile and tlsCertFile need each other',
    ],
  ])('%s is one line and an exit code', async (_, change, code, sentence) => {
    const changed = Object.entries({ ...configOf(freshHome()), ...change }).filter(([, value]) => value !== undefined);
    const { said, ended } = spawnAuthority(Object.fromEntries(changed) as Record<string, string>);
    expect([await ended, said.err.split('\n').length]).toEqual([code, 2]);
    expect(said.err).toMatch(/^authority: /);
    expect(said.err).toContain(sentence);
  });

  it('a busy port is one line and an exit code', async () => {
    const busy = createServer().listen(0, '127.0.0.1');
    await once(busy, 'listening');
    const port = String((busy.address() as AddressInfo).port);
    const { said, ended } = spawnAuthority({ ...configOf(freshHome()), BASA_AUTHORITY_PORT: port });
    expect([await ended, said.err]).toEqual([
      EXIT.address,
      `authority: port ${port} of 127.0.0.1 is in use; stop the program that uses it, or choose another port (basa dev: --server-port, --authority-port)\n`,
    ]);
    busy.close();
  });
});
