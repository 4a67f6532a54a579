/** The thread that makes keys of an authority, so that the main thread can answer. It keeps no master key between two tasks. */
import { serveWorker } from '@basa/runtime/node';
import { masterKeysOf } from '../engines.ts';
import { type KeysMade, type KeyTask, makeKeys } from './make-keys.ts';

serveWorker<KeyTask, KeysMade>(async ({ engine, masterKey, asked }) => {
  const keys = (await masterKeysOf(engine))?.open(masterKey);
  masterKey.fill(0);
  if (keys === undefined) throw new RangeError(`there is no engine ${engine}`);
  try {
    return makeKeys(keys, asked);
  } finally {
    keys.wipe();
  }
});
