/** The version of this program. */
import { readFile } from 'node:fs/promises';

export async function ownVersion(): Promise<string> {
  const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}

export async function versionText(): Promise<string> {
  return `basa ${await ownVersion()}, Node ${process.versions.node}, ${process.platform} ${process.arch}`;
}
