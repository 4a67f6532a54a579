/** Data folders that earlier versions wrote: what of 0.2 is read and what is refused; those of 0.3 are migrated, taken back, and go on. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority, readAuthorityConfig, verifyLog } from '@basa/authority';
import { BasaClient } from '@basa/client/node';
import { AuthorityOperator, hashOfToken, ServerOperator } from '@basa/client/operator';
import { fromHex } from '@basa/masking';
import { nodeSuite } from '@basa/runtime/node';
import { readServerConfig, startServer } from '@basa/server';
import { basaHere, lastLine } from '@basa/testkit/programs/basa.ts';
import { ROOT } from '@basa/testkit/root.ts';
import { until } from '@basa/testkit/services/test-services.ts';
import { afterEach, describe, expect, it } from 'vitest';

let folder = '';
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The folders of a version, unpacked. */
function unpack(version: string): void {
  folder = mkdtempSync(join(tmpdir(), 'basa-folders-'));
  execFileSync('tar', ['-C', folder, '-xzf', join(ROOT, `test/fixtures/data-${version}.tar.gz`)]);
}

const KEY = '0'.repeat(64);
const TOKEN = 'token-of-the-operator';
const OPERATORS = JSON.stringify([
  { tokenHash: hashOfToken((bytes) => nodeSuite.sha256(bytes), TOKEN), roles: ['operator', 'auditor'] },
]);

function settingsOf(service: 'server' | 'authority', more: Readonly<Record<string, string>> = {}): readonly string[] {
  const own: Record<string, string> =
    service === 'server'
      ? { authorityUrl: 'http://127.0.0.1:9', authorityKey: KEY, tickMs: '100' }
      : { keyFile: join(folder, 'authority.key'), witnessFile: join(folder, 'authority.witness') };
  const common = { dataFolder: join(folder, service), port: '0', operators: OPERATORS, logLevel: 'error' };
  return Object.entries({ ...common, ...own, ...more }).map(([key, value]) => `${key}=${value}`);
}

function migrate(service: 'server' | 'authority', ...words: readonly string[]) {
  const set = settingsOf(service).flatMap((setting) => ['--set', setting]);
  return basaHere(['migrate', service, ...set, ...words]);
}

/** Of every file, by its path. */
function hashes(service: string): Readonly<Record<string, string>> {
  const files = readdirSync(join(folder, service), { recursive: true, encoding: 'utf8' }).filter(
    (path) => statSync(join(folder, service, path)).isFile() && !/basa\.lock|-shm$/.test(path),
  );
  const hashOf = (path: string) =>
    createHash('sha256')
      .update(readFileSync(join(folder, service, path)))
      .digest('hex');
  return Object.fromEntries(files.sort().map((path) => [path, hashOf(path)]));
}

describe('of 0.2', () => {
  it.each([
    ['server', 'has format 9, but this version reads only formats from 13'],
    ['authority', 'has format 2, but this version reads only formats from 3'],
  ] as const)('the folder of a %s is refused with what to do, and not changed', async (service, sentence) => {
    unpack('0.2');
    const before = hashes(service);
    const { code, errors } = await migrate(service);
    expect(code).toBe(3);
    expect(errors).toContain(
      `${sentence}. Nothing was changed; start the version that wrote it, or create a new task from its model`,
    );
    const places = { file: undefined, environment: {}, settings: settingsOf(service) };
    const starting =
      service === 'server' ? startServer(readServerConfig(places)) : createAuthority(readAuthorityConfig(places));
    await expect(starting).rejects.toThrow(sentence);
    expect(hashes(service)).toEqual(before);
  });

  it('the model is read without its server, as 0.2 exported it', async () => {
    unpack('0.2');
    const before = hashes('server');
    const out = join(folder, 'saved.safetensors');
    const ended = await basaHere(['migrate', 'model', '--from', join(folder, 'server'), '--out', out, '--json']);
    expect(lastLine(ended.out)).toMatchObject({ version: 1, parameters: 15 });
    expect(readFileSync(out)).toEqual(readFileSync(join(folder, 'newest.safetensors')));
    expect(hashes('server')).toEqual(before);
  });

  it('a folder of a device is refused, and keeps its content', async () => {
    unpack('0.2');
    const identity = join(folder, 'device');
    const [before, url] = [hashes('device'), 'http://127.0.0.1:9'];
    const connecting = BasaClient.connect({ server: url, authority: url, authorityKey: KEY, task: KEY, identity });
    await expect(connecting).rejects.toThrow('the store has layouts of version 4, and this program reads 6');
    expect(hashes('device')).toMatchObject(before);
  });
});

describe('of 0.3', () => {
  it('a format that is older is tried, migrated, and taken back in place', async () => {
    unpack('0.3');
    expect((await migrate('server', '--to', '13')).out).toBe('format 14 -> 13\n');
    const before = hashes('server');
    const tried = await migrate('server', '--dry-run');
    expect(tried.out).toContain(
      'format 13 -> 14: the migration would work; nothing was changed\n  ALTER TABLE models ADD COLUMN r2',
    );
    expect(hashes('server')).toEqual(before);
    expect(lastLine((await migrate('server', '--json')).out)).toMatchObject({ from: 13, to: 14, isDryRun: false });
    expect((await migrate('server')).out).toContain('the database has format 14 already: nothing to do');
    for (const [to, why] of [
      ['12', 'this version has formats 13 to 14'],
      ['15', 'this version has formats 13 to 14'],
    ] as const)
      expect((await migrate('server', '--to', to)).errors).toContain(
        `the database cannot be changed to format ${to}: ${why}`,
      );
  });

  it.each(['13', '14'])('task, log and devices go on with a server of format %s', async (format) => {
    unpack('0.3');
    await migrate('server', '--to', format);
    const about = JSON.parse(readFileSync(join(folder, 'about.json'), 'utf8')) as {
      readonly task: string;
      readonly authorityKey: string;
      readonly dimension: number;
    };
    const { task, authorityKey, dimension } = about;
    const places = (settings: readonly string[]) => ({ file: undefined, environment: {}, settings });
    const authority = await createAuthority(readAuthorityConfig(places(settingsOf('authority'))));
    const { url: authorityUrl } = authority;
    const settings = settingsOf('server', { authorityUrl, authorityKey });
    const server = await startServer(readServerConfig(places(settings)));
    try {
      const services = { server: server.url, authority: authorityUrl, authorityKey, task };
      const devices = ['device-1', 'device-2'].map(async (name, place) => {
        const client = await BasaClient.connect({ ...services, identity: join(folder, name) });
        const delta = new Float32Array(dimension);
        delta[place + 2] = 1;
        const result = await client.contribute(delta, { trainedOn: (await client.model()).version });
        await client.close();
        return result.kind;
      });
      expect(await Promise.all(devices)).toEqual(['accepted', 'accepted']);
      const operator = new ServerOperator({ url: server.url, token: TOKEN });
      await until(async () => (await operator.task(task)).version === 2);
      const parameters = await operator.parameters(task, 2);
      expect(Array.from(parameters.slice(0, 4), (value) => Math.round(-2 * value))).toEqual([1, 1, 1, 1]);
      const [log = new Uint8Array()] = await new AuthorityOperator({ url: authorityUrl, token: TOKEN }).logs();
      expect(verifyLog(log, fromHex(authorityKey) ?? new Uint8Array())).toMatchObject({
        problems: [],
        doubleIssues: 0,
      });
    } finally {
      await server.close();
      await authority.close();
    }
  });
});
