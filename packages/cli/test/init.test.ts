/** `basa init`, and what it says comes next. */
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Running } from '@basa/testkit/processes/start.ts';
import { basaHere, lastLine } from '@basa/testkit/programs/basa.ts';
import { basa, start } from '@basa/testkit/programs/basa-process.ts';
import { afterAll, describe, expect, it } from 'vitest';

const folder = fs.mkdtempSync(join(tmpdir(), 'basa-init-'));
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));
const KEY = 'ab'.repeat(32);
const AUTHORITY = ['--authority', 'http://127.0.0.1:7801', '--authority-key', KEY];

const tokenIn = (made: string, name: string): string => fs.readFileSync(join(made, `${name}.token`), 'utf8').trim();

/** While both services run, each at a port that is free: those of the files may be taken when the test runs. */
async function whileRunning(
  authority: readonly string[],
  server: readonly string[],
  use: (at: { readonly BASA_AUTHORITY: string; readonly BASA_SERVER: string }) => Promise<void>,
): Promise<void> {
  const running: Running[] = [];
  const begin = async (...typed: readonly string[]): Promise<string> => {
    const service = start([...typed, '--set', 'port=0']);
    running.push(service);
    return /^\w+: listening at (\S+)$/m.exec(await service.said(': listening at http'))?.[1] ?? '';
  };
  try {
    const BASA_AUTHORITY = await begin(...authority);
    const BASA_SERVER = await begin(...server, '--set', `authorityUrl=${BASA_AUTHORITY}`);
    await use({ BASA_AUTHORITY, BASA_SERVER });
  } finally {
    for (const { child } of running) child.kill('SIGTERM');
    await Promise.all(running.map(({ ended }) => ended));
  }
}

describe('basa init', () => {
  it('writes the files of one side only, and the printed commands work', async () => {
    const [mine, theirs] = [join(folder, 'mine-to-run'), join(folder, 'theirs-to-run')];
    const authority = await basaHere(['init', 'authority', theirs, '--port', '7811', '--json']);
    expect(authority.code).toBe(0);
    const { authority: authorityUrl = '', authorityKey = '' } = lastLine(authority.out) as Record<string, string>;
    const at = ['--authority', authorityUrl, '--authority-key', authorityKey];
    const server = await basaHere(['init', 'server', mine, '--port', '7810', ...at, '--json']);
    expect([server.code, authorityUrl, lastLine(server.out)['server']]).toEqual([
      ...[0, 'http://127.0.0.1:7811', 'http://127.0.0.1:7810'],
    ]);
    for (const file of ['authority.json', 'authority.key', 'owner.token', 'tasks.token'])
      expect([fs.statSync(join(theirs, file)).mode & 0o077, fs.existsSync(join(mine, file))]).toEqual([0, false]);
    for (const file of ['server.json', 'operator.token'])
      expect([fs.statSync(join(mine, file)).mode & 0o077, fs.existsSync(join(theirs, file))]).toEqual([0, false]);
    expect(authority.errors).toContain('Never hand out owner.token, authority.key or authority-data');
    expect(server.errors).toContain('Never hand out operator.token');
    const [its, own] = [join(theirs, 'authority.json'), join(mine, 'server.json')];
    await whileRunning(['authority', '--config', its], ['server', '--config', own], async (places) => {
      const environment = { ...places, BASA_OPERATOR_TOKEN: tokenIn(mine, 'operator') };
      const asOperator = { ...environment, BASA_AUTHORITY_TOKEN: tokenIn(theirs, 'tasks') };
      const asOwner = { ...environment, BASA_AUTHORITY_TOKEN: tokenIn(theirs, 'owner') };
      // A server that sees its operator's token cannot use it at the authority.
      const stolen = { ...environment, BASA_AUTHORITY_TOKEN: tokenIn(mine, 'operator') };
      const create = ['task', 'create', '--name', 'first', '--buffer', '3', '--json'];
      for (const wrong of [stolen, asOwner]) expect((await basaHere(create, wrong)).code).not.toBe(0);
      expect((await basaHere(create, asOperator)).code).toBe(0);
      expect((await basaHere(['device', 'list'], asOwner)).out).toContain('no device is enrolled');
    });
  });

  it('without a side makes both on this machine, and the printed commands lead to a task with devices', async () => {
    const here = join(folder, 'one-machine');
    fs.mkdirSync(here);
    const { code, out, errors } = await basa(['init'], {}, here);
    expect([code, errors]).toEqual([0, '']);
    expect(fs.readdirSync(here).sort()).toEqual(['basa-authority', 'basa-server']);
    expect(fs.readdirSync(join(here, 'basa-server'))).not.toContain('owner.token');
    expect(out).toContain('let independent parties run them');
    // Tokens go into the environment: everybody on the machine sees the words of a command.
    const typed = [...out.matchAll(/`\S.*? ((?:authority|server|task|keys) .*)`|export (\w+)=\$\(cat (.*)\)/g)];
    expect(out).not.toMatch(/--(?:authority-)?token/);
    const [[, authority = ''] = [], [, server = ''] = [], ...lines] = typed;
    await whileRunning(authority.split(' '), server.split(' '), async (places) => {
      const BASA_AUTHORITY_KEY = /BASA_AUTHORITY_KEY=(\w+)/.exec(out)?.[1] ?? '';
      const environment: Record<string, string> = { ...places, BASA_AUTHORITY_KEY };
      for (const [, command, variable = '', file = ''] of lines) {
        if (command === undefined) environment[variable] = fs.readFileSync(file, 'utf8').trim();
        else
          expect(await basa(command.split(' '), environment, here)).toMatchObject({
            code: 0,
            errors: expect.any(String),
          });
      }
      expect(lines).toHaveLength(6);
    });
  });

  it('names the side that is missing, and what a server needs', async () => {
    const neither = await basaHere(['init', join(folder, 'neither')]);
    expect([neither.code, neither.errors]).toEqual([2, expect.stringContaining('choose server or authority')]);
    const alone = await basaHere(['init', 'server', join(folder, 'alone')]);
    expect([alone.code, alone.errors]).toEqual([
      2,
      expect.stringContaining('a server needs --authority and --authority-key'),
    ]);
    expect(fs.existsSync(join(folder, 'alone'))).toBe(false);
  });

  it('does not change a folder that is not empty', async () => {
    fs.writeFileSync(join(folder, 'mine'), '');
    const { code, errors } = await basaHere(['init', 'authority', folder]);
    expect([code, errors]).toEqual([
      2,
      expect.stringContaining('is not empty; name a folder that is empty or does not exist yet'),
    ]);
  });

  it('writes valid addresses for an IPv6 host', async () => {
    for (const [n, host] of ['::1', '[::1]'].entries()) {
      const made = join(folder, `v6-${n}`);
      const { out } = await basaHere(['init', 'server', made, '--host', host, ...AUTHORITY, '--json']);
      expect(lastLine(out)).toMatchObject({ server: 'http://[::1]:7800' });
      expect(JSON.parse(fs.readFileSync(join(made, 'server.json'), 'utf8'))).toMatchObject({ host: '::1' });
    }
  });

  it('explains how to use your own certificate, but only with TLS', async () => {
    const [cert, key] = ['cert.pem', 'key.pem'].map((name) => join(folder, name)) as [string, string];
    const flags = ['--host', 'a.test', '--tls-cert', cert, '--tls-key', key];
    fs.writeFileSync(cert, '');
    const missing = await basaHere(['init', 'server', join(folder, 'tls'), ...AUTHORITY, ...flags]);
    expect([missing.code, missing.errors]).toEqual([2, expect.stringContaining(`${key} does not exist`)]);
    expect(fs.existsSync(join(folder, 'tls'))).toBe(false);
    fs.writeFileSync(key, '');
    const tls = await basaHere(['init', 'server', join(folder, 'tls'), ...AUTHORITY, ...flags]);
    expect([tls.code, tls.out]).toEqual([0, expect.stringContaining('NODE_EXTRA_CA_CERTS')]);
    const plain = await basaHere(['init', 'server', join(folder, 'plain'), ...AUTHORITY]);
    expect(plain.out).not.toContain('NODE_EXTRA_CA_CERTS');
  });

  it('writes no configuration with which keys could be read on the way', async () => {
    const { code, errors } = await basaHere(['init', 'authority', join(folder, 'open'), '--host', 'basa.example.org']);
    expect([code, errors]).toEqual([2, expect.stringContaining('add --tls-cert and --tls-key')]);
  });
});
