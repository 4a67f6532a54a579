/** The OpenAPI documents of the services, as they serve them: docs/openapi holds the same text. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority } from '@basa/authority';
import { nodeRandomBytes } from '@basa/runtime/node';

/** Each document by its name, with every route that can be mounted. */
export const OPENAPI_DOCUMENTS = { authority: authorityDocument } as const;

async function authorityDocument(): Promise<string> {
  const root = mkdtempSync(join(tmpdir(), 'basa-openapi-'));
  const keyFile = join(root, 'key');
  writeFileSync(keyFile, nodeRandomBytes(32));
  const authority = await createAuthority({
    dataFolder: join(root, 'data'),
    secret: { keyFile },
    unsafePaperMode: true,
  });
  try {
    return textOf(await (await fetch(`${authority.url}/v1/openapi.json`)).json());
  } finally {
    await authority.close();
    rmSync(root, { recursive: true });
  }
}

function textOf(document: unknown): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}
