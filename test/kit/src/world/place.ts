/** A folder for a world: in memory where the system has such a place, because every answer of a service waits for its disk. */
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const IN_MEMORY = '/dev/shm';

export function worldFolder(): string {
  return mkdtempSync(join(existsSync(IN_MEMORY) ? IN_MEMORY : tmpdir(), 'basa-world-'));
}
