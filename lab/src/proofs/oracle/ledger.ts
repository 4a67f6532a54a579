/** The adversary's records of one buffer: deposits as it can describe them, and uploads, accepted or not. */
import {
  type CloseRequest,
  type Ctx,
  closeRequestOf,
  type Deposit,
  type DepositAnswer,
  type Refused,
  type SecureBuffer,
  type Ticket,
} from '@basa/protocol';
import type { FederationServer } from '@basa/simulator';
import type { SentUpload, WatchedDevice } from './watched-device.ts';

/** A deposit as the server can describe it: the message, and the tag it claims to have. */
export interface Source {
  readonly deposit: Deposit;
  readonly joinTag: Ticket['joinTag'];
  readonly user: WatchedDevice['user'];
  /** The seeds it sealed to later slots, with proofs, once they were requested. */
  outbox?: { readonly slot: number; readonly entries: DepositAnswer['inbox'] };
}

export class Ledger {
  readonly ctx: Ctx;
  readonly sources: Source[] = [];
  /** Uploads by the tag of their sender, accepted or not. */
  readonly uploads: SentUpload[] = [];
  readonly #server: FederationServer;

  constructor(server: FederationServer, ctx: Ctx) {
    this.#server = server;
    this.ctx = ctx;
  }

  get buffer(): SecureBuffer {
    return this.#server.buffer(this.ctx);
  }

  freeze(): void {
    this.#server.freeze(this.ctx, 'stalled');
  }

  closeRequest(): CloseRequest | Refused {
    return closeRequestOf(this.#server.ports, this.buffer);
  }

  get uploadedSlots(): readonly number[] {
    return this.uploads.map(({ header }) => header.slot).sort((a, b) => a - b);
  }
}
