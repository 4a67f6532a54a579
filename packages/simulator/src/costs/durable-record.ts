/** Makes a small record durable: the wall-clock time of one synced write in the folder for temporary files. */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Sampled, summary } from './sampling.ts';

const SAMPLES = 40;

export function durableRecord(): Sampled {
  const folder = mkdtempSync(join(tmpdir(), 'basa-costs-'));
  const file = openSync(join(folder, 'records'), 'w');
  try {
    const record = new Uint8Array(512);
    return summary(
      Array.from({ length: SAMPLES }, () => {
        const began = performance.now();
        writeSync(file, record);
        fdatasyncSync(file);
        return performance.now() - began;
      }),
    );
  } finally {
    closeSync(file);
    rmSync(folder, { recursive: true });
  }
}
