/** The parts that local services need for web pages: their folder, their origins, and data to train on. */

import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Dataset, encodeDataset, randomStream } from '@basa/learning';
import { freePort } from '@basa/service/free-port';
import { pagesFolder } from '@basa/web';

const SHARES = 12;
const EXAMPLES = 400;

/** The server's port, keys of its configuration, and the origins of its pages, which may call the authority. Undefined if no pages were built. */
export async function localPages(folder: string, serverPort: number, handsOutTokens: boolean) {
  const pages = pagesFolder();
  if (pages === undefined) return undefined;
  const sharesFolder = sharesBelow(folder);
  await mkdir(sharesFolder, { recursive: true });
  // The authority must know the server's address before either of them starts.
  const port = serverPort === 0 ? await freePort() : serverPort;
  return {
    serverPort: port,
    server: { pagesFolder: pages, sharesFolder, ...(handsOutTokens && { tokensFolder: tokensBelow(folder) }) },
    origins: [`http://127.0.0.1:${port}`, `http://localhost:${port}`],
  };
}

/** Writes shares of a training set for tabs that join, each drawn independently. The server reads them when it starts. */
export async function writeShares(
  folder: string,
  { name, shape, classes, inputs, labels, normal }: Dataset,
): Promise<void> {
  await mkdir(sharesBelow(folder), { recursive: true });
  const words = shape.height * shape.width * shape.channels;
  for (let share = 0; share < SHARES; share++) {
    const chance = randomStream(share, 'share');
    const chosen = Array.from({ length: Math.min(EXAMPLES, labels.length) }, () => chance.below(labels.length));
    const picked = inputs.slice(0, chosen.length * words);
    for (const [n, index] of chosen.entries())
      picked.set(inputs.subarray(index * words, (index + 1) * words), n * words);
    const part = {
      name: `${name}, share ${share}`,
      shape,
      classes,
      inputs: picked,
      labels: Int32Array.from(chosen, (index) => labels[index] as number),
      ...(normal !== undefined && { normal }),
    };
    await writeFile(join(sharesBelow(folder), `${String(share).padStart(2, '0')}.safetensors`), encodeDataset(part));
  }
}

/** Writes the tokens that the server gives out in its pages. They replace the remaining tokens. */
export async function offerTokens(folder: string, task: string, tokens: readonly string[]): Promise<void> {
  const offered = join(tokensBelow(folder), task);
  await rm(tokensBelow(folder), { recursive: true, force: true });
  await mkdir(offered, { recursive: true, mode: 0o700 });
  await Promise.all(tokens.map((token) => writeFile(join(offered, token), '', { mode: 0o600 })));
}

interface Pins {
  readonly task: string;
  readonly authorityKey: string;
}

/** The address of the page that joins a task: a device's pins, and its token, after the #, which is sent to no server. */
export function joinLink(serverUrl: string, pins: Pins & { readonly token: string }): string {
  return `${serverUrl}/join.html#${new URLSearchParams({ ...pins })}`;
}

/** The address of the page that watches a task; its link to the page that joins keeps the pins. */
export function watchLink(serverUrl: string, pins: Pins): string {
  return `${serverUrl}/#${new URLSearchParams({ ...pins })}`;
}

function tokensBelow(folder: string): string {
  return join(folder, 'tokens');
}

function sharesBelow(folder: string): string {
  return join(folder, 'shares');
}
