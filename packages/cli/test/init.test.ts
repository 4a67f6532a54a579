/** `basa init`, and what it says comes next. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@basa/service/free-port';
import { basaHere, lastLine } from '@basa/testkit/programs/basa.ts';
import { start } from '@basa/testkit/programs/basa-process.ts';
import { afterAll, describe, expect, it } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'basa-init-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('basa init', () => {
  it('writes the files that both services need, and the printed commands work', async () => {
    const made = join(folder, 'made');
    const ports = [await freePort(), await freePort()].map(String);
    const flags = ['--server-port', ports[0] ?? '', '--authority-port', ports[1] ?? ''];
    const { code, out, errors } = await basaHere(['init', made, ...flags, '--json']);
    expect(code).toBe(0);
    for (const file of ['authority.key', 'authority.token', 'server.token', 'server.json', 'authority.json'])
      expect(statSync(join(made, file)).mode & 0o077).toBe(0);
    const services = ['authority', 'server'].map((name) => {
      expect(errors).toContain(`basa ${name} --config ${join(made, `${name}.json`)}`);
      return start([name, '--config', join(made, `${name}.json`)]);
    });
    try {
      await Promise.all(services.map(({ said }) => said('listening at')));
      const { server, authority } = lastLine(out) as Record<string, string>;
      const [serverToken = '', authorityToken = ''] = ['server', 'authority'].map((name) => {
        expect(errors).toContain(`_TOKEN=$(cat ${join(made, `${name}.token`)})`);
        return readFileSync(join(made, `${name}.token`), 'utf8').trim();
      });
      const environment = {
        BASA_SERVER: server ?? '',
        BASA_AUTHORITY: authority ?? '',
        BASA_OPERATOR_TOKEN: serverToken,
        BASA_AUTHORITY_TOKEN: authorityToken,
      };
      // A server that sees its operator's token could otherwise enrol devices of its own.
      const stolen = { ...environment, BASA_AUTHORITY_TOKEN: serverToken };
      expect((await basaHere(['task', 'create', '--name', 'stolen', '--buffer', '3'], stolen)).code).not.toBe(0);
      const created = await basaHere(['task', 'create', '--name', 'first', '--buffer', '3', '--json'], environment);
      expect(created.code).toBe(0);
      const enrolled = await basaHere(['keys', 'enroll', '--task', 'first', '--count', '3', '--json'], environment);
      expect(lastLine(enrolled.out)['tokens']).toHaveLength(3);
      expect((await basaHere(['device', 'list'], environment)).out).toContain('no device is enrolled');
    } finally {
      for (const { child } of services) child.kill('SIGTERM');
      await Promise.all(services.map(({ ended }) => ended));
    }
  });

  it('does not change a folder that is not empty', async () => {
    writeFileSync(join(folder, 'mine'), '');
    const { code, errors } = await basaHere(['init', folder]);
    expect([code, errors]).toEqual([
      2,
      expect.stringContaining('is not empty; name a folder that is empty or does not exist yet'),
    ]);
  });

  it('writes valid addresses for an IPv6 host', async () => {
    for (const [n, host] of ['::1', '[::1]'].entries()) {
      const made = join(folder, `v6-${n}`);
      const { out } = await basaHere(['init', made, '--host', host, '--json']);
      expect(lastLine(out)).toMatchObject({ server: 'http://[::1]:7800', authority: 'http://[::1]:7801' });
      expect(JSON.parse(readFileSync(join(made, 'server.json'), 'utf8'))).toMatchObject({ host: '::1' });
    }
  });

  it('explains how to use your own certificate, but only with TLS', async () => {
    const [cert, key] = ['cert.pem', 'key.pem'].map((name) => join(folder, name)) as [string, string];
    const tls = await basaHere(['init', join(folder, 'tls'), '--host', 'a.test', '--tls-cert', cert, '--tls-key', key]);
    expect([tls.code, tls.out]).toEqual([0, expect.stringContaining('NODE_EXTRA_CA_CERTS')]);
    expect((await basaHere(['init', join(folder, 'plain')])).out).not.toContain('NODE_EXTRA_CA_CERTS');
  });

  it('writes no configuration with which keys could be read on the way', async () => {
    const { code, errors } = await basaHere(['init', join(folder, 'open'), '--host', 'basa.example.org']);
    expect([code, errors]).toEqual([2, expect.stringContaining('add --tls-cert and --tls-key')]);
  });
});
