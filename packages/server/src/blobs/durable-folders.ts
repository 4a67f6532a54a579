/**
 * The folders that are known to survive a power cut. The name of a folder is stored in its parent, so the parent must be flushed too. Every
 * process that relies on the folder must do this, not only the process that made it.
 */
import { open } from 'node:fs/promises';
import { dirname, sep } from 'node:path';
import { groupFlush } from '@basa/service/durable-names';

export class DurableFolders {
  readonly #root: string;
  readonly #known = new Set<string>();
  /** Many uploads add files to one folder at the same time, and share its flush. */
  readonly #flushes = new Map<string, () => Promise<void>>();

  /** The root itself exists permanently. */
  constructor(root: string) {
    this.#root = root;
  }

  /** The names in this folder, and the folder itself, survive from now on. */
  async flush(folder: string): Promise<void> {
    const unknown: string[] = [];
    for (let at = folder; at !== this.#root && !this.#known.has(at); at = dirname(at)) unknown.push(at);
    // In parallel, so that the file system may write them together.
    await Promise.all([...new Set([folder, ...unknown.map((one) => dirname(one))])].map((one) => this.#flush(one)));
    for (const one of unknown) this.#known.add(one);
  }

  /** The folder is removed, with everything below. */
  forget(folder: string): void {
    for (const names of [this.#known, this.#flushes])
      for (const one of names.keys()) if (one === folder || one.startsWith(folder + sep)) names.delete(one);
  }

  #flush(folder: string): Promise<void> {
    const flush = this.#flushes.get(folder) ?? groupFlush(() => flushFolder(folder));
    this.#flushes.set(folder, flush);
    return flush();
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
