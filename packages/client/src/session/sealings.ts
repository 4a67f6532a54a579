/**
 * Returns the sealing of a buffer for the engine of its task. Slot keys need only the suite. CP-ABE needs a public key and a library. The
 * key comes with the descriptor and stays the same for a whole key epoch. The library is loaded when a task uses it.
 */
import type { CachedSealing, EncryptionPool, Group } from '@basa/abe';
import {
  equalBytes,
  type KeyResult,
  type KeyWork,
  type RandomBytes,
  type SeedSealing,
  type Suite,
} from '@basa/masking';
import {
  type AsyncX25519,
  agreeOnKeys,
  attributeSealing,
  type BufferSealing,
  type Descriptor,
  doSealing,
  ENGINE,
  type SealingResult,
  type SealingWork,
  slotSealing,
  slotWork,
} from '@basa/protocol';
import { RefusedError } from '../errors.ts';

interface Current {
  readonly key: Uint8Array;
  readonly sealing: CachedSealing;
  readonly pool: EncryptionPool;
}

interface Tools {
  readonly suite: Suite;
  readonly randomBytes: RandomBytes;
  readonly x25519?: AsyncX25519;
}

interface Pairing {
  readonly library: typeof import('./pairing.ts');
  readonly group: Group;
}

/** One instance of mcl per thread is enough. */
let loading: Promise<Pairing> | undefined;

async function load(): Promise<Pairing> {
  const library = await import('./pairing.ts');
  const group = await library.createMclGroup();
  library.warmUpPairing(group); // a cold process is several times slower
  return { library, group };
}

export class Sealings {
  readonly #tools: Tools;
  readonly #pairing: Pairing | undefined;
  readonly #slotWork: ((work: SealingWork) => Promise<SealingResult>) | undefined;
  #current: Current | undefined;

  private constructor(tools: Tools, pairing: Pairing | undefined) {
    this.#tools = tools;
    this.#pairing = pairing;
    this.#slotWork = tools.x25519 && slotWork(tools.suite, tools.x25519);
  }

  /** Loads the library that the engine needs. */
  static async load(tools: Tools, engine: number): Promise<Sealings> {
    if (engine === ENGINE.cpAbe) loading ??= load();
    return new Sealings(tools, engine === ENGINE.cpAbe ? await loading : undefined);
  }

  /** Throws a `DecodeError` for an invalid key. */
  of({ engine, parts }: Pick<Descriptor, 'engine' | 'parts'>): BufferSealing {
    if (engine === ENGINE.slotKeys) return slotSealing(this.#tools.suite, parts.length);
    return attributeSealing(this.#tools.suite, this.attributes(parts[0]?.sealingKey ?? new Uint8Array()));
  }

  /** Seals and opens for a buffer, synchronously or with the platform's asynchronous X25519. */
  async work(descriptor: Pick<Descriptor, 'engine' | 'parts'>, work: SealingWork): Promise<SealingResult> {
    if (descriptor.engine === ENGINE.slotKeys && this.#slotWork !== undefined) return this.#slotWork(work);
    try {
      return doSealing(this.of(descriptor), work);
    } finally {
      this.#current?.sealing.forget(); // the key of the slot has opened everything it will
    }
  }

  /** One-shot: key agreements, synchronous or with the platform's asynchronous X25519. */
  async keys(work: readonly KeyWork[]): Promise<readonly KeyResult[]> {
    const { suite, x25519 } = this.#tools;
    return await agreeOnKeys(x25519 ?? { key: (secret) => suite.x25519(secret) }, work);
  }

  /** CP-ABE with attributes only, as in `paper` mode. */
  attributes(publicKey: Uint8Array): SeedSealing {
    const current = this.#current;
    if (current !== undefined && equalBytes(current.key, publicKey)) return current.sealing;
    const next = this.#make(publicKey);
    this.destroy();
    this.#current = next;
    return next.sealing;
  }

  /** Makes one more part of a future encryption; returns false if enough are ready, or if no key is known yet. */
  prepareOne(wanted: number): boolean {
    const pool = this.#current?.pool;
    if (pool === undefined || pool.size >= wanted) return false;
    pool.prepare(1);
    return true;
  }

  /** Wipes the prepared parts, and forgets the last key. */
  destroy(): void {
    this.#current?.pool.destroy();
    this.#current?.sealing.destroy();
    this.#current = undefined;
  }

  #make(key: Uint8Array): Current {
    if (this.#pairing === undefined) throw new RefusedError('unsafe-engine');
    const { library, group } = this.#pairing;
    const tools = { ...this.#tools, group };
    const publicKey = library.decodePublicKey(key, group);
    const pool = new library.EncryptionPool(publicKey, tools);
    return { key, pool, sealing: library.abeSealing({ ...tools, publicKey, pool }) };
  }
}
