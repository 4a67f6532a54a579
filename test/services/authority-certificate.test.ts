/** A server whose authority has a certificate that nobody vouches for. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from '@basa/server';
import { TEST_TLS } from '@basa/testkit/services/tls.ts';
import { expect, it } from 'vitest';

it('reports this with the remedy in its log at the start', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'basa-certificate-'));
  const authority = createServer(TEST_TLS, (_, answer) => answer.end('{}')).listen(0, '127.0.0.1');
  await new Promise((resolve) => authority.once('listening', resolve));
  const url = `https://localhost:${(authority.address() as AddressInfo).port}`;
  const lines: string[] = [];
  const server = await startServer({
    dataFolder: folder,
    authorities: [{ url, publicKey: new Uint8Array(32) }],
    listen: { host: '127.0.0.1', port: 0 },
    log: { level: 'info', stream: { write: (line) => void lines.push(line) } },
  });
  await expect.poll(() => lines.join('')).toContain(`the authority ${url} has a certificate that is not trusted`);
  expect(lines.join('')).toContain('set the variable NODE_EXTRA_CA_CERTS to the PEM file');
  await server.close();
  authority.close();
  rmSync(folder, { recursive: true });
});
