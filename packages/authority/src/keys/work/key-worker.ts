/** The thread that makes keys of an authority, so that the main thread can answer. It keeps no master key between two tasks. */
import { createMclGroup, type Group } from '@basa/abe';
import { serveWorker } from '@basa/runtime/node';
import { masterKeysOf } from '../engines.ts';
import { type KeysMade, type KeyTask, makeKeys } from './make-keys.ts';

/** One instance for the thread. */
let loading: Promise<Group> | undefined;

serveWorker<KeyTask, KeysMade>(async ({ engine, masterKey, asked }) => {
  loading ??= createMclGroup();
  const keys = masterKeysOf(engine)?.open(await loading, masterKey);
  masterKey.fill(0);
  if (keys === undefined) throw new RangeError(`there is no engine ${engine}`);
  try {
    return makeKeys(keys, asked);
  } finally {
    keys.wipe();
  }
});
