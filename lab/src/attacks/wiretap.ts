/** The traffic that the adversary's server sees: deposits, inboxes and uploads, with every sealed seed in them. */
import { toHex, unpackVector } from '@basa/masking';
import {
  authorityMessages,
  type Ctx,
  type Deposit,
  type EdgeUse,
  type InboxEntry,
  joinTagOf,
  readSealedParts,
  registrationOf,
  type Slot,
  type Ticket,
  type UploadHeader,
  unframeHeader,
  uploadLayout,
  userIdOf,
} from '@basa/protocol';
import type { Federation } from '@basa/simulator';
import type { Adversary } from './adversary.ts';

export class Wiretap {
  /** Headers of the uploads that were seen, by join tag. */
  readonly headers = new Map<string, UploadHeader>();
  readonly #world: Federation;
  readonly #adversary: Adversary;
  readonly #deposits = new Map<string, Deposit>();
  /** Inboxes by the view they give: the header of a user names the one it took. */
  readonly #told = new Map<string, readonly InboxEntry[]>();

  constructor(world: Federation, adversary: Adversary) {
    this.#world = world;
    this.#adversary = adversary;
  }

  seeInbox({ view }: Ticket, inbox: readonly InboxEntry[]): void {
    this.#told.set(toHex(view), inbox);
  }

  seeDeposit(deposit: Deposit): void {
    const { suite } = this.#world.environment.tools;
    const { ctx, nonce, entries } = deposit;
    const joinTag = joinTagOf(suite, { ctx, user: userIdOf(suite, deposit.certificate.deviceKey), nonce });
    this.#deposits.set(toHex(joinTag), deposit);
    for (const [n, { commitment, sealed }] of entries.entries())
      this.#seeEdge(ctx, n + 1, { role: 'edge', joinTag }, commitment, sealed);
  }

  #seeEdge(ctx: Ctx, slot: number, use: EdgeUse, commitment: Uint8Array, sealed: Uint8Array): void {
    const { server, sealings } = this.#world;
    const buffer = server.buffer(ctx);
    this.#adversary.seeCiphertext({
      seed: toHex(commitment),
      sealed,
      open: (key) => sealings.sealing.edgeOpener(buffer, slot as Slot, [{ authority: 0, key }])?.(sealed, use),
    });
  }

  /** Opens it as the kind that the upload's own receipt states. */
  #seeSelf(header: UploadHeader, sealed: Uint8Array): void {
    const { environment, server, sealings } = this.#world;
    const buffer = server.buffer(header.ctx);
    const registration = registrationOf(environment.tools.suite, header.receipt);
    this.#adversary.seeCiphertext({
      seed: selfName(header),
      sealed,
      open: (key) => sealings.sealing.openSelf(buffer, registration, sealed, [{ authority: 0, key }])?.seed,
    });
  }

  /** y, the self seed and the backups, as far as they arrived. Seeds are named by their commitments. */
  seeUpload(bytes: Uint8Array): void {
    const { policy, sealings } = this.#world;
    const { header: headerBytes, bodyStart } = unframeHeader(bytes, 4096);
    const header = authorityMessages(policy.bufferSize).uploadHeader.decode(headerBytes);
    const { ctx, slot, joinTag, voids } = header;
    this.headers.set(toHex(joinTag), header);
    const body = bytes.slice(bodyStart);
    const layout = uploadLayout(policy, header, sealings.sealing);
    const inbox = this.#told.get(toHex(header.view)) ?? [];
    const entries = this.#deposits.get(toHex(joinTag))?.entries ?? [];
    const opened = inbox.flatMap((entry, i) => (voids.includes(i as typeof slot) ? [] : [{ ...entry, i }]));
    const elements = Math.min(layout.elements, Math.floor(body.length / 4));
    const unpacked = unpackVector(body.subarray(0, 4 * elements), elements, policy.modulus);
    if (unpacked.kind === 'malformed') throw new Error(unpacked.problem);
    this.#adversary.seeUpload({
      vector: unpacked.vector,
      salt: ctx,
      modulus: policy.modulus,
      terms: [
        { seed: selfName(header), sign: 1 },
        ...opened.map(({ commitment }) => ({ seed: toHex(commitment), sign: -1 as const })),
        ...entries.slice(slot).map(({ commitment }) => ({ seed: toHex(commitment), sign: 1 as const })),
      ],
    });
    if (body.length !== layout.bodyBytes) return;
    const { self, backups } = readSealedParts(body, layout);
    this.#seeSelf(header, self);
    for (const [n, sealed] of backups.entries()) {
      const { commitment, i } = opened[n] as InboxEntry & { i: number };
      this.#seeEdge(ctx, i, { role: 'backup', joinTag }, commitment, sealed);
    }
  }
}

/** The self seed of an upload has no commitment; the upload names it. */
export function selfName({ bodyHash }: { readonly bodyHash: Uint8Array }): string {
  return `self ${toHex(bodyHash)}`;
}
