// Writes a file that others may read and write at the same time: it is there whole, or not there.
import { randomUUID } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';

/** Threads of one process have one process id: each draft needs a name of its own, and the last one's stays. */
export function keepWhole(file, text, rename = renameSync) {
  const draft = new URL(`${file.href}.${randomUUID()}`);
  writeFileSync(draft, text);
  rename(draft, file);
}
