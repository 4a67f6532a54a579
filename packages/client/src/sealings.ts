/** The sealing of a buffer: engine and public key come with its descriptor, and stay the same for a whole key epoch. */
import type { CachedSealing, EncryptionPool, Group } from '@basa/abe';
import type { RandomBytes, SeedSealing, Suite } from '@basa/masking';
import { equalBytes } from '@basa/masking';
import { ENGINE } from '@basa/protocol';
import { RefusedError } from './errors.ts';

interface Current {
  readonly engine: number;
  readonly key: Uint8Array;
  readonly sealing: CachedSealing;
  readonly pool: EncryptionPool | undefined;
}

interface Tools {
  readonly suite: Suite;
  readonly randomBytes: RandomBytes;
  readonly pairing: Pairing;
  readonly group: Group;
}

type Pairing = typeof import('./pairing.ts');

/** One instance of mcl a thread is enough. */
let loading: Promise<Pick<Tools, 'pairing' | 'group'>> | undefined;

async function load(): Promise<Pick<Tools, 'pairing' | 'group'>> {
  const pairing = await import('./pairing.ts');
  const group = await pairing.createMclGroup();
  pairing.warmUpPairing(group);
  return { pairing, group };
}

export class Sealings {
  readonly #tools: Tools;
  #current: Current | undefined;

  private constructor(tools: Tools) {
    this.#tools = tools;
  }

  /** Loads mcl and brings it up to speed: a cold process is several times slower. */
  static async load({ suite, randomBytes }: Pick<Tools, 'suite' | 'randomBytes'>): Promise<Sealings> {
    loading ??= load();
    return new Sealings({ suite, randomBytes, ...(await loading) });
  }

  /** Throws a `DecodeError` for a key that is none. */
  of({ engine, sealingKey }: { readonly engine: number; readonly sealingKey: Uint8Array }): SeedSealing {
    const current = this.#current;
    if (current?.engine === engine && equalBytes(current.key, sealingKey)) return current.sealing;
    const next = this.#make(engine, sealingKey);
    this.destroy();
    this.#current = next;
    return next.sealing;
  }

  /** Makes one more part of a coming encryption; false where enough lie ready, or no key is known yet. */
  prepareOne(wanted: number): boolean {
    const pool = this.#current?.pool;
    if (pool === undefined || pool.size >= wanted) return false;
    pool.prepare(1);
    return true;
  }

  /** Wipes what was prepared, and forgets the last key. */
  destroy(): void {
    this.#current?.pool?.destroy();
    this.#current?.sealing.destroy();
    this.#current = undefined;
  }

  #make(engine: number, key: Uint8Array): Current {
    const { group, pairing } = this.#tools;
    if (engine === ENGINE.cpAbe) {
      const publicKey = pairing.decodePublicKey(key, group);
      const pool = new pairing.EncryptionPool(publicKey, this.#tools);
      return { engine, key, pool, sealing: pairing.abeSealing({ ...this.#tools, publicKey, pool }) };
    }
    if (engine === ENGINE.identityKem) {
      const publicKey = pairing.decodeIdentityPublicKey(key, group);
      return { engine, key, pool: undefined, sealing: pairing.identitySealing({ ...this.#tools, publicKey }) };
    }
    throw new RefusedError('unsafe-engine');
  }
}
