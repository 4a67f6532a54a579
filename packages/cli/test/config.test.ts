/** Configuration as an operator looks at it, and the doctor. */

import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { basaHere as basa, lastLine } from '@basa/testkit/programs/basa.ts';
import { start } from '@basa/testkit/programs/basa-process.ts';
import { startIssuer } from '@basa/testkit/services/issuer.ts';
import { TEST_TLS } from '@basa/testkit/services/tls.ts';
import { afterAll, describe, expect, it } from 'vitest';
import { tlsFindings } from '../src/operate/findings.ts';

const folder = mkdtempSync(join(tmpdir(), 'basa-cli-config-'));
afterAll(() => rmSync(folder, { recursive: true }));

const KEY = 'ab'.repeat(32);
const file = (name: string, config: object): string => {
  writeFileSync(join(folder, name), JSON.stringify(config));
  return join(folder, name);
};
const server = { dataFolder: join(folder, 'server'), port: 0, authorityUrl: 'http://127.0.0.1:9', authorityKey: KEY };

describe('basa config', () => {
  it('print explains every key of a service, and gives a file with all of them', async () => {
    const key = join(folder, 'key');
    writeFileSync(key, new Uint8Array(32), { mode: 0o600 });
    for (const service of ['server', 'authority']) {
      const printed = lastLine((await basa(['config', 'print', service, '--json'])).out);
      const own = { dataFolder: join(folder, service), ...(service === 'authority' ? { keyFile: key } : server) };
      const config = file(`${service}-all.json`, { ...printed, ...own });
      expect((await basa(['config', 'check', service, '--config', config])).code).toBe(0);
    }
    const words = await basa(['config', 'print', 'server']);
    expect(words.out).toContain('authorityKey (required)');
    expect(words.out).toContain('BASA_SERVER_KEEP_MODELS');
  });

  it.each(['server', 'authority'])('check fits 100 columns, whatever the values: %s', async (service) => {
    const key = join(folder, 'key-100');
    writeFileSync(key, new Uint8Array(32), { mode: 0o600 });
    const long = join(folder, 'a-folder-with-a-name-that-is-longer-than-most'.repeat(2));
    const config = file('long.json', {
      dataFolder: long,
      port: 0,
      ...(service === 'server' ? { authorityUrl: 'http://127.0.0.1:9', authorityKey: KEY } : { keyFile: key }),
    });
    const { out } = await basa(['config', 'check', service, '--config', config]);
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100);
    expect(out.replaceAll(/\n +/g, '')).toContain(long);
    expect(out).toMatch(/^tickMs +500 +default$|^port +0 +/m);
  });

  it('says in which line and column a file is no JSON', async () => {
    const broken = join(folder, 'broken.json');
    writeFileSync(broken, '{\n  "port": 7800,\n  "host": localhost\n}\n');
    const { code, errors } = await basa(['config', 'check', 'server', '--config', broken]);
    expect([code, errors]).toEqual([
      2,
      expect.stringMatching(/broken\.json cannot be read as JSON: .*line 3, column 11/),
    ]);
  });

  it('check shows the source of each value, hides secrets, and warns', async () => {
    const environment = {
      BASA_SERVER_DATABASE_URL: 'postgres://me:hunter2@db/x',
      BASA_SERVER_SIGNING_KEY: 'cd'.repeat(32),
      BASA_SERVER_HOST: '0.0.0.0',
    };
    const config = file('server.json', { ...server, tokensFolder: folder });
    const args = ['config', 'check', 'server', '--config', config, '--set', 'port=7800', '--json'];
    const { code, out, errors } = await basa(args, environment);
    expect(code).toBe(0);
    expect(`${out}${errors}`).not.toMatch(/hunter2|cdcd/);
    const { settings, warnings } = lastLine(out) as { settings: object[]; warnings: string[] };
    for (const setting of [
      { key: 'authorityKey', value: KEY, from: config },
      { key: 'host', value: '0.0.0.0', from: 'BASA_SERVER_HOST' },
      { key: 'port', value: 7800, from: '--set' },
      { key: 'tickMs', value: 500, from: 'default' },
      { key: 'databaseUrl', value: 'set', from: 'BASA_SERVER_DATABASE_URL' },
    ])
      expect(settings).toContainEqual(setting);
    expect(warnings.join('\n')).toMatch(
      /without TLS.*authorityUrl is on this machine.*anyone who can reach the server can enrol/s,
    );
  });

  it.each([
    [['server', '--set', 'port=99999'], 'port must be <= 65535'],
    [['server', '--set', 'dataFolder=x'], 'authorityKey is missing'],
    [['authority', '--set', 'port=0', '--set', 'dataFolder=x'], 'set exactly one of passphrase'],
    [['authority', '--set', 'passphrase=x'], 'passphrase is a secret'],
    [['nothing'], 'there is no service "nothing"; choose server or authority'],
  ])('check %j ends with code 2 and names the key', async (args, sentence) => {
    const { code, errors } = await basa(['config', 'check', ...args]);
    expect([code, errors]).toEqual([2, expect.stringContaining(sentence)]);
  });
});

describe('basa doctor', () => {
  const doctor = async (config: string) => (await basa(['doctor', 'server', '--config', config])).out;

  it('checks only this machine if no service is named', async () => {
    const { code, out } = await basa(['doctor']);
    expect([code, out]).toEqual([0, expect.stringContaining('ok    node: v')]);
  });

  it('gives advice on an authority with another key and another time, and on a port that is in use', async () => {
    const other = createServer((_, response) =>
      response.end(JSON.stringify({ publicKey: KEY, time: Date.now() - 3_600_000 })),
    ).listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    const found = async (more: object) => {
      const config = file('doctor.json', { ...server, authorityUrl: `http://127.0.0.1:${port}`, ...more });
      const { code, out } = await basa(['doctor', 'server', '--config', config, '--json']);
      const { findings } = lastLine(out) as { findings: { check: string; state: string }[] };
      return { code, failed: findings.filter(({ state }) => state === 'failed').map(({ check }) => check) };
    };
    try {
      expect(await found({})).toEqual({ code: 1, failed: ['clock of the authority'] });
      expect(await found({ authorityKey: 'ee'.repeat(32) })).toEqual({ code: 1, failed: ['authority'] });
      expect(await found({ authorityUrl: 'http://127.0.0.1:9' })).toEqual({ code: 1, failed: ['authority'] });
      expect(await found({ port: 'x' })).toEqual({ code: 1, failed: ['configuration'] });
      const config = file('doctor.json', { ...server, port: 'x' });
      const out = await doctor(config);
      expect(out).toContain('FAIL  configuration: port must be');
      expect(out).toMatch(/\n1 problem:\n1\. configuration: port must be .*\n {3}follow this advice/);
    } finally {
      other.close();
    }
  });

  it('asks the issuer of sign-ins, and says if it is another or does not answer', async () => {
    const issuer = await startIssuer({});
    const known = { audience: 'basa', clientId: 'basa', roles: { staff: ['operator'] } };
    const found = async (address: string) =>
      doctor(file('oidc.json', { ...server, oidc: { ...known, issuer: address } }));
    expect(await found(issuer.url)).toContain(`ok    sign-in: ${issuer.url} answers`);
    expect(await found(`${issuer.url}/`)).toContain('describes another issuer');
    await issuer.close();
    expect(await found(issuer.url)).toContain(`FAIL  sign-in: ${issuer.url} does not answer`);
    const wrong = await found('http://login.example.org');
    expect(wrong).toContain('FAIL  configuration: oidc: the address http://login.example.org must begin with https://');
  });

  it('looks at the certificate: its pair, its names and its dates', async () => {
    for (const [name, text] of Object.entries(TEST_TLS)) writeFileSync(join(folder, name), text, { mode: 0o600 });
    const pair = { tlsKeyFile: join(folder, 'key'), tlsCertFile: join(folder, 'cert') };
    const other = join(folder, 'other.key');
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    writeFileSync(other, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
    const day = 86_400_000;
    const end = Date.parse(new X509Certificate(TEST_TLS.cert).validTo);
    const found = async (more: object, now?: number) =>
      (await tlsFindings({ host: 'localhost', ...pair, ...more }, now)).map(({ state, says }) => `${state} ${says}`);
    expect(await found({})).toEqual([expect.stringMatching(/^fine it ends on 2126-10-22, in \d{5} days$/)]);
    expect(await found({}, end - 5 * day)).toEqual([expect.stringMatching(/^warning .* in 5 days$/)]);
    expect(await found({}, end + day)).toEqual([expect.stringMatching(/^failed it ended on /)]);
    expect(await found({}, 0)).toEqual([expect.stringMatching(/^failed it begins on /)]);
    expect(await found({ tlsKeyFile: other })).toEqual([expect.stringContaining('is not the key of')]);
    expect((await found({ host: '0.0.0.0', hosts: ['a.test'] }))[0]).toBe('warning it is not for a.test');
    expect(await tlsFindings({ host: 'localhost' })).toEqual([]);
    const config = file('pair.json', { ...server, host: 'localhost', ...pair, tlsKeyFile: other });
    const { errors } = await basa(['config', 'check', 'server', '--config', config]);
    expect(errors).toContain('warning: certificate: ');
    expect(await doctor(config)).toContain('FAIL  certificate: ');
  });

  it('only reads: a data folder without blobs stays without', async () => {
    const config = file('reads.json', { ...server, dataFolder: join(folder, 'reads') });
    const running = start(['server', '--config', config]);
    await running.said('listening at');
    running.child.kill('SIGTERM');
    await running.ended;
    rmSync(join(folder, 'reads/blobs'), { recursive: true });
    // SQLite itself keeps two files beside a database that is read.
    const files = () => readdirSync(join(folder, 'reads')).filter((name) => !/-(?:shm|wal)$/.test(name));
    const before = files();
    const out = await doctor(config);
    expect(out).toContain('ok    blobs: all blobs that the records name exist');
    expect(files()).toEqual(before);
  });

  it('recognises a service and an authority with a self-signed certificate', async () => {
    const self = createTlsServer(TEST_TLS, (_, response) => response.end('{}')).listen(0, '127.0.0.1');
    await new Promise((resolve) => self.once('listening', resolve));
    const { port } = self.address() as AddressInfo;
    for (const [name, text] of Object.entries(TEST_TLS)) writeFileSync(join(folder, name), text, { mode: 0o600 });
    const tls = { tlsKeyFile: join(folder, 'key'), tlsCertFile: join(folder, 'cert') };
    const config = file('tls.json', { ...server, ...tls, port, authorityUrl: `https://127.0.0.1:${port}` });
    const out = await doctor(config);
    self.close();
    expect(out).toContain(`ok    port: the service is running at 127.0.0.1:${port}`);
    expect(out).toContain(`the certificate of https://127.0.0.1:${port} is not trusted`);
    expect(out).toContain('set the variable NODE_EXTRA_CA_CERTS to the PEM file');
    expect(out).not.toContain('start the authority');
  });

  it('knows a port that another program holds', async () => {
    const other = createServer((_, response) => response.writeHead(404).end()).listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    const out = await doctor(file('port.json', { ...server, port }));
    other.close();
    expect(out).toContain(`FAIL  port: 127.0.0.1:${port} cannot be used (EADDRINUSE)`);
  });
});
