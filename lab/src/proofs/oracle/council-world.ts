/**
 * A filled buffer of several authorities, some of which may be the server's own, and the knowledge of the server with
 * the keys it gets. Every decision of the honest ones, and every opening of a seed, is made by the real core.
 */
import {
  AttributeAuthority,
  authorityMessages,
  type CloseAnswer,
  type CloseRequest,
  type Ctx,
  closeRequestOf,
  closingOf,
  type Endorsement,
  endorse,
  listedSlots,
  type PartKey,
  type Refused,
  type ReleasedKey,
  registrationOf,
  type SealedParts,
  type SecureBuffer,
  type Slot,
  type UploadHeader,
  type UserRecord,
  voteCodec,
} from '@basa/protocol';
import { type Federation, type FederationAuthority, type FederationDevice, granted, type Step } from '@basa/simulator';
import { type Combination, learnedCombinations, type MaskedRow } from '../../attacks/solve.ts';
import { symbolicFederation } from '../world/symbolic-federation.ts';

export interface CouncilShape {
  readonly authorities: number;
  readonly threshold: number;
  /** The number of authorities that collude with the server: the first ones. */
  readonly colluding: number;
}

const SLOTS = 4;
const MINIMUM = 2;

export function councilFederation({ authorities, threshold }: CouncilShape): Federation {
  const council = { authorities, threshold, unsafeThreshold: true };
  return symbolicFederation({ bufferSize: SLOTS, minimum: MINIMUM, dimension: 4, engine: 'slot keys', council });
}

/** A buffer whose users each come as far as the course says; frozen. */
export function filledBuffer(world: Federation, colluding: number, course: readonly Step[]): CouncilWorld {
  const devices = course.map(() => world.device());
  for (const [n, step] of course.entries()) granted((devices[n] as FederationDevice).contribute(step));
  const { ctx } = devices[0] as FederationDevice;
  granted(world.server.freeze(ctx, 'stalled'));
  return new CouncilWorld(world, colluding, ctx, devices);
}

/** The server's material: keys of slots' edges, and pads of self seeds, by slot. */
export class Pool {
  readonly edges: PartKey[][] = Array.from({ length: SLOTS }, () => []);
  readonly selves: PartKey[][] = Array.from({ length: SLOTS }, () => []);

  add(authority: number, keys: readonly ReleasedKey[]): void {
    for (const { slot, role, key } of keys)
      (role === 'edge' ? this.edges : this.selves)[slot]?.push({ authority, key });
  }
}

export class CouncilWorld {
  readonly federation: Federation;
  readonly #colluding: number;
  readonly #ctx: Ctx;
  readonly #buffer: SecureBuffer;
  readonly #request: CloseRequest;
  readonly #devices: readonly FederationDevice[];

  constructor(federation: Federation, colluding: number, ctx: Ctx, devices: readonly FederationDevice[]) {
    const { server } = federation;
    this.federation = federation;
    this.#colluding = colluding;
    this.#ctx = ctx;
    this.#buffer = server.buffer(ctx);
    this.#request = granted(closeRequestOf(server.ports, this.#buffer));
    this.#devices = devices;
  }

  get ctx(): Ctx {
    return this.#ctx;
  }

  get accepted(): readonly number[] {
    return this.#request.accepted;
  }

  get minimum(): number {
    return MINIMUM;
  }

  /** Fresh cores of the honest authorities, by index, in their state when the buffer was filled. */
  honestCores(): ReadonlyMap<number, AttributeAuthority> {
    const honest = this.federation.authorities.slice(this.#colluding);
    return new Map(honest.map(({ index, ports, records }) => [index, AttributeAuthority.restore(ports, records)]));
  }

  /** Returns the authority's answer to a close with this set and these votes. */
  asked(core: AttributeAuthority, set: readonly number[], votes: readonly Endorsement[]): CloseAnswer | Refused {
    const { records, answer, decidedAt } = core.close(this.#closeWith(set, votes), this.federation.now);
    core.apply(records, decidedAt);
    return answer;
  }

  #closeWith(set: readonly number[], votes: readonly Endorsement[]): CloseRequest {
    const { ctx, deposits, headers } = this.#request;
    const accepted = set as readonly Slot[];
    const own = accepted.map((slot) => headers.find((header) => header.slot === slot) as UploadHeader);
    const body = { ctx, deposits, accepted, headers: own, votes };
    const { closeRequest } = authorityMessages(SLOTS);
    return { ...body, signature: this.federation.server.ports.signer.sign(closeRequest.statement(body)) };
  }

  /** Of the authorities that collude. */
  boughtVotes(set: readonly number[]): Endorsement[] {
    const { policy, task, server } = this.federation;
    const { suite } = server.ports;
    const request = this.#closeWith(set, []);
    const { hash: closing } = closingOf(suite, request, listedSlots(suite, request));
    return this.#colluders.flatMap(
      ({ ports }) => endorse(voteCodec, policy, ports.signer, { task, ctx: this.#ctx, closing }).endorsements,
    );
  }

  get #colluders(): readonly FederationAuthority[] {
    return this.federation.authorities.slice(0, this.#colluding);
  }

  /** Everything that the colluding authorities could ever give. */
  ownPool(): Pool {
    const { descriptor } = this.#buffer;
    const pool = new Pool();
    for (const { index, ports } of this.#colluders) {
      const part = descriptor.parts.find(({ authority }) => authority === index);
      const issuer = part && ports.issuerFor({ engine: descriptor.engine, sealingKey: part.sealingKey });
      if (part === undefined || issuer === undefined) continue;
      const { task, bufferSize } = descriptor;
      const keys = issuer.keysOf({ ctx: this.#ctx, authority: index, source: { task, bufferSize, offer: part.offer } });
      for (let slot = 0; slot < SLOTS; slot++)
        pool.edges[slot]?.push({ authority: index, key: keys.edge(slot as Slot) });
      for (const { slot, selfName } of this.#request.headers) {
        const key = keys.self(this.#registrationOf(slot), selfName);
        if (key !== undefined) pool.selves[slot]?.push({ authority: index, key });
      }
    }
    return pool;
  }

  #registrationOf(slot: number) {
    const { ticket } = this.#buffer.slots[slot] as SecureBuffer['slots'][number];
    return registrationOf(this.federation.server.ports.suite, ticket);
  }

  /** The combinations of the uploads that can be computed. */
  learnedWith(pool: Pool): readonly Combination[] {
    return learnedCombinations(this.#rows(pool));
  }

  /** The masked vectors, without the masks whose seed opens with the material in the pool. */
  #rows({ edges, selves }: Pool): readonly MaskedRow[] {
    const { sealing } = this.federation.sealings;
    const deposits = this.federation.server.deposits(this.#ctx);
    const opens = (
      holder: number,
      sealed: Uint8Array | undefined,
      role: 'edge' | 'backup',
      sealer: number,
    ): boolean => {
      const { joinTag } = (this.#buffer.slots[sealer] as SecureBuffer['slots'][number]).ticket;
      const open = sealing.edgeOpener(this.#buffer, holder as Slot, edges[holder] ?? []);
      return sealed !== undefined && open?.(sealed, { role, joinTag }) !== undefined;
    };
    const known = new Set<number>();
    for (const { slot } of this.#request.headers) {
      const parts = this.#partsOf(slot);
      if (sealing.openSelf(this.#buffer, this.#registrationOf(slot), parts.self, selves[slot] ?? []) !== undefined)
        known.add(selfMask(slot));
      for (let i = 0; i < slot; i++) if (opens(i, parts.backups[i], 'backup', slot)) known.add(edgeMask(i, slot));
    }
    for (const [i, deposit] of deposits.entries())
      for (let j = i + 1; j < SLOTS; j++)
        if (opens(j, deposit.entries[j - 1]?.sealed, 'edge', i)) known.add(edgeMask(i, j));
    return this.#request.headers.map(({ slot }) => {
      const masks = new Map<number, number>([[selfMask(slot), 1]]);
      for (let i = 0; i < slot; i++) masks.set(edgeMask(i, slot), -1);
      for (let j = slot + 1; j < SLOTS; j++) masks.set(edgeMask(slot, j), 1);
      return {
        inputs: new Map([[slot as number, 1]]),
        masks: new Map([...masks].filter(([mask]) => !known.has(mask))),
      };
    });
  }

  #partsOf(slot: number): SealedParts {
    const frozen = this.#devices[slot]?.records.find(
      (record): record is Extract<UserRecord, { kind: 'frozen' }> => record.kind === 'frozen',
    );
    if (frozen === undefined) throw new Error(`slot ${slot} has no upload`);
    return frozen.parts;
  }
}

function selfMask(slot: number): number {
  return 100 + slot;
}

function edgeMask(from: number, to: number): number {
  return 200 + from * SLOTS + to;
}

export function subsetsOf(slots: readonly number[]): readonly (readonly number[])[] {
  return Array.from({ length: 2 ** slots.length }, (_, bits) => slots.filter((__, n) => (bits >> n) & 1));
}
