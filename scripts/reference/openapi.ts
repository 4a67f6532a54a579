/** The OpenAPI documents of the services, as they serve them, with every route that can be mounted. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority } from '@basa/authority';
import { nodeRandomBytes } from '@basa/runtime/node';
import { startServer } from '@basa/server';

export async function authorityDocument(): Promise<string> {
  const root = mkdtempSync(join(tmpdir(), 'basa-openapi-'));
  const keyFile = join(root, 'key');
  writeFileSync(keyFile, nodeRandomBytes(32));
  const authority = await createAuthority({
    dataFolder: join(root, 'data'),
    secret: { keyFile },
    unsafePaperMode: true,
  });
  try {
    return await documentOf(authority.url);
  } finally {
    await authority.close();
    rmSync(root, { recursive: true });
  }
}

export async function serverDocument(): Promise<string> {
  const root = mkdtempSync(join(tmpdir(), 'basa-openapi-'));
  const server = await startServer({
    dataFolder: root,
    authorities: [{ url: 'http://127.0.0.1:1', publicKey: new Uint8Array(32) }], // it is not asked
    listen: { host: '127.0.0.1', port: 0 },
    unsafePaperMode: true,
  });
  try {
    return await documentOf(server.url);
  } finally {
    await server.close();
    rmSync(root, { recursive: true });
  }
}

/** A service on a busy machine may put a request off: it is made again. */
async function documentOf(url: string): Promise<string> {
  for (;;) {
    const answer = await fetch(`${url}/v1/openapi.json`);
    const document: unknown = await answer.json();
    if (answer.ok) return `${JSON.stringify(document, null, 2)}\n`;
    if (answer.status !== 503) throw new Error(JSON.stringify(document));
  }
}
