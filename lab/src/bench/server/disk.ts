/** The limit of durable uploads: the same bytes in new files, written and flushed, with nothing else around them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFileBlobs } from '@basa/server/internal/blobs/files.ts';
import { WriteBehind } from '@basa/server/internal/blobs/write-behind.ts';
import { type Load, timed } from './load.ts';

/** `buffered` writes through the page cache; `direct` writes the server's blocks without it. */
export async function loadDisk(
  bodies: readonly Uint8Array[],
  atOnce: number,
  how: 'buffered' | 'direct',
): Promise<Load> {
  const folder = mkdtempSync(join(tmpdir(), 'basa-disk-'));
  const blobs = await openFileBlobs(folder);
  let files = 0;
  const writeBuffered = async (body: Uint8Array): Promise<void> => {
    const file = await open(join(folder, String(files++)), 'w');
    await file.writeFile(body);
    await file.datasync();
    await file.close();
  };
  const writeDirect = async (body: Uint8Array): Promise<void> => {
    const staging = await blobs.stage(String(files++));
    const behind = new WriteBehind(staging);
    await behind.add(body);
    await behind.end();
    await staging.flush();
    await staging.close();
  };
  try {
    return await timed(bodies, atOnce, how === 'direct' ? writeDirect : writeBuffered);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
