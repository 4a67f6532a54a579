/** Makes the keys of a buffer: a few in the calling thread, many in a separate thread, so that the main thread can answer requests. */
import { ENGINE } from '@basa/protocol';
import { createWorkerPool, type WorkerPool, workerModule } from '@basa/runtime/node';
import type { EpochKeys } from './engines.ts';
import { type KeysAsked, type KeysMade, type KeyTask, makeKeys } from './work/make-keys.ts';

/** This many slot keys take about two milliseconds, in which no other request is answered; one key of CP-ABE takes longer. */
const FEW_SLOT_KEYS = 16;

export class KeyThread {
  readonly #onKey: (seconds: number) => void;
  #pool: WorkerPool<KeyTask, KeysMade> | undefined;

  /** `onKey` is called with the time that a key of a close took in the thread. */
  constructor(onKey: (seconds: number) => void = () => {}) {
    this.#onKey = onKey;
  }

  /** `masterKey` is called if a thread makes the keys. */
  async make(
    keys: EpochKeys,
    { engine, masterKey }: { readonly engine: number; masterKey(): Uint8Array },
    asked: KeysAsked,
  ): Promise<KeysMade> {
    if (!isLong(engine, asked.kind, asked.source)) return makeKeys(keys, asked);
    const secret = masterKey();
    const pool = this.#thread();
    const begun = performance.now();
    try {
      const made = await pool.run({ engine, masterKey: secret, asked });
      const seconds = (performance.now() - begun) / 1000 / made.length;
      if (asked.kind === 'closed') for (const _ of made) this.#onKey(seconds);
      return made;
    } finally {
      secret.fill(0);
    }
  }

  /** Starts the thread early for a buffer whose close will take long. */
  expect(engine: number, buffer: { readonly bufferSize: number }): void {
    if (isLong(engine, 'closed', buffer)) this.#thread();
  }

  async close(): Promise<void> {
    await this.#pool?.close();
  }

  #thread(): WorkerPool<KeyTask, KeysMade> {
    const module = workerModule(import.meta.url, './work/key-worker');
    this.#pool ??= createWorkerPool<KeyTask, KeysMade>({ ...module, size: 1, isUnheld: true });
    return this.#pool;
  }
}

/** CP-ABE has no list. */
function isLong(engine: number, kind: KeysAsked['kind'], { bufferSize }: { readonly bufferSize: number }): boolean {
  return engine === ENGINE.slotKeys ? bufferSize > FEW_SLOT_KEYS : kind === 'closed';
}
