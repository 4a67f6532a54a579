/**
 * Which folders are known to survive a power cut: a folder's name lies in the one above, which has to be flushed as well,
 * by whoever counts on it, not only by whoever made it.
 */
import { open } from 'node:fs/promises';
import { dirname, sep } from 'node:path';

export class DurableFolders {
  readonly #root: string;
  readonly #known = new Set<string>();

  /** The root itself is there for good. */
  constructor(root: string) {
    this.#root = root;
  }

  /** The names in this folder, and the folder itself, survive from now on. */
  async flush(folder: string): Promise<void> {
    const unknown: string[] = [];
    for (let at = folder; at !== this.#root && !this.#known.has(at); at = dirname(at)) unknown.push(at);
    // Side by side, so that the file system may write them together.
    await Promise.all([...new Set([folder, ...unknown.map((one) => dirname(one))])].map(flushFolder));
    for (const one of unknown) this.#known.add(one);
  }

  /** It is removed, with everything below. */
  forget(folder: string): void {
    for (const one of this.#known) if (one === folder || one.startsWith(folder + sep)) this.#known.delete(one);
  }
}

async function flushFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
