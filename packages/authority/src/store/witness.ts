/** The witness: the newest head of the log, kept outside the data folder, so that a rolled-back folder is noticed. */
import { readFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { DecodeError, fromHex, toHex } from '@basa/masking';
import { type Head, headCodec } from '@basa/protocol';

export interface Witness {
  /** Undefined if the witness is missing or does not contain a valid head. */
  read(): Head | undefined;
  /** It may lag behind the log but never runs ahead: it is written when the records are durable. One write at a time. */
  write(head: Head): void | Promise<void>;
}

export function fileWitness(path: string): Witness {
  return {
    read() {
      const bytes = fromHex(readText(path).trim());
      if (bytes === undefined) return undefined;
      try {
        return headCodec.decode(bytes);
      } catch (error) {
        if (error instanceof DecodeError) return undefined;
        throw error;
      }
    },
    async write(head) {
      const fresh = `${path}.new`;
      const file = await open(fresh, 'w', 0o600);
      try {
        await file.write(`${toHex(headCodec.encode(head))}\n`);
        await file.datasync(); // otherwise a power cut after the rename could leave an empty file
      } finally {
        await file.close();
      }
      await rename(fresh, path);
    },
  };
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return '';
    throw error;
  }
}
