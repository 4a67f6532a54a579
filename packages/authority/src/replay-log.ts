/** Reads the log from disk and checks its hash chain; a damaged one is refused with a sentence. */
import { DecodeError, equalBytes } from '@basa/masking';
import type { AuthorityRecord } from '@basa/protocol';
import { decodeAuthorityRecord, EMPTY_LOG_HASH, nextLogHash } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { StartError } from '@basa/service';
import type { AuthorityStore } from './store.ts';

const PAGE = 1000;

/** Its records one after the other, each with its number and the hash of the log up to it. */
export function* replayLog(
  store: AuthorityStore,
): Generator<{ readonly entry: AuthorityRecord; readonly sequence: number; readonly hash: Uint8Array }> {
  let [sequence, hash] = [0, EMPTY_LOG_HASH];
  for (;;) {
    const page = store.records(sequence + 1, PAGE);
    for (const stored of page) {
      sequence++;
      const entry = decoded(stored.bytes, sequence);
      hash = nextLogHash(nodeSuite, hash, entry);
      if (!equalBytes(hash, stored.hash)) throw damaged(sequence, 'its hash is another');
      yield { entry, sequence, hash };
    }
    if (page.length < PAGE) return;
  }
}

function decoded(bytes: Uint8Array, sequence: number): AuthorityRecord {
  try {
    return decodeAuthorityRecord(bytes);
  } catch (error) {
    if (error instanceof DecodeError) throw damaged(sequence, error.message);
    throw error;
  }
}

function damaged(sequence: number, what: string): StartError {
  const sentence = `record ${sequence} of the log is damaged (${what})`;
  return new StartError('dataFolder', `${sentence}; nothing was changed: restore the newest backup of the folder`);
}
