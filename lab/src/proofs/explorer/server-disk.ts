/** The disk of an exploration's server: loaded into the federation's server, and saved from it again. */
import { toHex } from '@basa/masking';
import type { BufferRecord, SecureBuffer, Slot } from '@basa/protocol';
import type { FederationServer } from '@basa/simulator';
import type { ExploredWorld } from './explored-world.ts';

export interface StoredBuffer {
  readonly records: readonly BufferRecord[];
  /** Bodies by slot: they are stored before the record that relies on them. */
  readonly bodies: ReadonlyMap<number, Uint8Array>;
}

export interface OpenedSum {
  readonly buffer: number;
  readonly version: number;
  readonly sum: readonly number[];
}

export interface ServerLocal {
  readonly buffers: readonly StoredBuffer[];
  /** Sums that were opened and stored before the hash of their model is logged, and sums that were applied. */
  readonly drafts: readonly OpenedSum[];
  readonly models: readonly OpenedSum[];
  readonly forgot: number;
}

export class ServerDisk {
  readonly #server: FederationServer;
  readonly #buffers: ExploredWorld['buffers'];

  constructor({ federation, buffers }: ExploredWorld) {
    this.#server = federation.server;
    this.#buffers = buffers;
  }

  ctx(at: number): SecureBuffer['ctx'] {
    return (this.#buffers[at] as ExploredWorld['buffers'][number]).ctx;
  }

  /** Returns the buffer of the running server. */
  buffer(at: number): SecureBuffer {
    return this.#server.buffer(this.ctx(at));
  }

  records(at: number): readonly BufferRecord[] {
    return this.#server.stored.get(toHex(this.ctx(at)))?.records ?? [];
  }

  /** Starts the server from this disk. */
  load(local: ServerLocal): void {
    this.#server.bodies.clear();
    for (const [at, { ctx, descriptor, slotKeys }] of this.#buffers.entries()) {
      const { records, bodies } = local.buffers[at] as StoredBuffer;
      this.#server.stored.set(toHex(ctx), { descriptor, slotKeys, records: [...records] });
      for (const [slot, body] of bodies) this.#server.keepBody(ctx, slot as Slot, body);
    }
    this.#server.restart();
  }

  /** Records that did not change stay the same object. */
  save(before: ServerLocal): ServerLocal {
    const buffers = this.#buffers.map(({ ctx }, at): StoredBuffer => {
      const known = before.buffers[at];
      const records = this.records(at);
      if (known !== undefined && known.records.length === records.length) return known;
      return { records: [...records], bodies: this.#server.bodiesOf(ctx) };
    });
    return { ...before, buffers };
  }
}
