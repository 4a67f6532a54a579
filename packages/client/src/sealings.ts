/** The sealing of a buffer: engine and public key come with its descriptor, and stay the same for a whole key epoch. */
import type { CachedSealing, Group } from '@basa/abe';
import {
  abeSealing,
  createMclGroup,
  decodeIdentityPublicKey,
  decodePublicKey,
  EncryptionPool,
  identitySealing,
  warmUpPairing,
} from '@basa/abe';
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
  readonly group: Group;
}

/** One instance of mcl a thread is enough. */
let loading: Promise<Group> | undefined;

function sharedGroup(): Promise<Group> {
  loading ??= createMclGroup().then((group) => {
    warmUpPairing(group);
    return group;
  });
  return loading;
}

export class Sealings {
  readonly #tools: Tools;
  #current: Current | undefined;

  private constructor(tools: Tools) {
    this.#tools = tools;
  }

  /** Loads mcl and brings it up to speed: a cold process is several times slower. */
  static async load(tools: Omit<Tools, 'group'>): Promise<Sealings> {
    const { suite, randomBytes } = tools;
    return new Sealings({ suite, randomBytes, group: await sharedGroup() });
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
    const { group } = this.#tools;
    if (engine === ENGINE.cpAbe) {
      const publicKey = decodePublicKey(key, group);
      const pool = new EncryptionPool(publicKey, this.#tools);
      return { engine, key, pool, sealing: abeSealing({ ...this.#tools, publicKey, pool }) };
    }
    if (engine === ENGINE.identityKem) {
      const publicKey = decodeIdentityPublicKey(key, group);
      return { engine, key, pool: undefined, sealing: identitySealing({ ...this.#tools, publicKey }) };
    }
    throw new RefusedError('unsafe-engine');
  }
}
