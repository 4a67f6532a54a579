/** SHA-256 of a body that comes in blocks. Short bodies are hashed here, long bodies in another thread. */
import { createHash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { workerModule } from '@basa/runtime/node';
import type { HashAnswer, HashQuestion } from './work/hasher.ts';

export interface BodyHash {
  /** The block is free for reuse when the promise is fulfilled. */
  update(block: Uint8Array): Promise<void>;
  digest(): Promise<Uint8Array>;
  /** The digest is no longer needed. */
  forget(): void;
}

/** A block goes to the thread and back in less time than this many bytes take. */
const LONG_BYTES = 512 * 1024;

export class BodyHashing {
  #thread: HashThread | undefined;

  /** `bytes`: the declared length of the body. The thread is started for the first long one. */
  begin(bytes: number): BodyHash {
    if (!(bytes >= LONG_BYTES)) return hashHere();
    if (this.#thread === undefined || this.#thread.hasEnded) this.#thread = new HashThread();
    return this.#thread.begin();
  }

  async close(): Promise<void> {
    await this.#thread?.close();
  }
}

function hashHere(): BodyHash {
  const hash = createHash('sha256');
  return {
    async update(block) {
      hash.update(block);
    },
    digest: async () => hash.digest(),
    forget: () => undefined,
  };
}

interface Asked {
  resolve(answer: HashAnswer): void;
  reject(error: Error): void;
}

class HashThread {
  readonly #worker: Worker;
  /** Answers come in the order of the requests. */
  readonly #asked: Asked[] = [];
  #end: Error | undefined;
  #bodies = 0;

  constructor() {
    const { script, execArgv } = workerModule(import.meta.url, './work/hasher');
    this.#worker = new Worker(script, { ...(execArgv !== undefined && { execArgv: [...execArgv] }) });
    this.#worker.unref();
    this.#worker.on('message', (answer: HashAnswer) => this.#asked.shift()?.resolve(answer));
    this.#worker.on('error', (error: Error) => this.#fail(error));
    this.#worker.on('exit', () => this.#fail(new Error('the thread that hashes has ended')));
  }

  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  begin(): BodyHash {
    const body = this.#bodies++;
    return {
      update: async (block) => void (await this.#ask({ body, block })),
      digest: async () => (await this.#ask({ body, end: 'digest' })) ?? new Uint8Array(),
      forget: () => void this.#ask({ body, end: 'forget' }).catch(() => undefined),
    };
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #ask(question: HashQuestion): Promise<HashAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#end !== undefined) return reject(this.#end);
      this.#asked.push({ resolve, reject });
      this.#worker.postMessage(question);
    });
  }

  #fail(error: Error): void {
    this.#end ??= error;
    for (const { reject } of this.#asked.splice(0)) reject(this.#end);
  }
}
