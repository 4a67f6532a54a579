/**
 * What a server learns with some of the authorities on its side. It tells every honest authority another set to vote for, and another
 * close to release by; those that collude sign whatever it asks for, and all their keys are its own. Every decision of the honest ones,
 * and every opening of a seed, is made by the real core.
 */
import type { RandomWords } from '@basa/masking';
import type {
  AuthorityRecord,
  CloseRequest,
  Ctx,
  Endorsement,
  PartKey,
  SealedParts,
  SecureBuffer,
  Slot,
  UploadHeader,
  UserRecord,
} from '@basa/protocol';
import {
  AttributeAuthority,
  authorityMessages,
  closeRequestOf,
  closingOf,
  ENGINE,
  endorse,
  isRefused,
  joined,
  listedSlots,
  registrationOf,
  slotKeyIssuer,
  slotSealing,
  voteCodec,
} from '@basa/protocol';
import type { FederationAuthority, FederationDevice, Sealings, Step } from '@basa/simulator';
import { Federation, granted } from '@basa/simulator';
import { signerOf, unsafeSymbolicTools } from '../explorer/symbolic-tools.ts';
import type { Combination, MaskedRow } from './solve.ts';
import { describeCombination, isSpannedBy, learnedCombinations } from './solve.ts';

export interface CouncilShape {
  readonly authorities: number;
  readonly threshold: number;
  /** How many of them collude with the server: the first ones. */
  readonly colluding: number;
}

export interface CouncilVerdict {
  readonly schedules: number;
  /** Schedules in which an honest authority released keys. */
  readonly closed: number;
  /** Schedules in which the sum of the closed set was found, as it should be. */
  readonly sums: number;
  readonly leaks: number;
  /** Of the first leak: which schedule it was, and what was learned. */
  readonly first?: { readonly schedule: number; readonly learned: readonly string[] };
}

const SLOTS = 4;
const MINIMUM = 2;

/** How far the user of each slot comes. */
const COURSES: readonly (readonly Step[])[] = [
  ['upload', 'upload', 'upload', 'upload'],
  ['upload', 'upload', 'upload', 'key'],
  ['upload', 'key', 'upload', 'upload'],
  ['key', 'upload', 'upload', 'upload'],
  ['upload', 'upload', 'deposit', 'upload'],
];

export function judgeCouncil(shape: CouncilShape, schedules: number, randomWords: RandomWords): CouncilVerdict {
  const worlds = COURSES.map((course) => new CouncilWorld(shape, course));
  let [closed, sums, leaks] = [0, 0, 0];
  let first: CouncilVerdict['first'];
  for (let schedule = 0; schedule < schedules; schedule++) {
    const world = worlds[schedule % worlds.length] as CouncilWorld;
    const { learned, allowed } = world.play(drawsOf(randomWords));
    if (allowed.length > 0) closed++;
    if (allowed.length > 0 && isSpannedBy(allowed, learned)) sums++;
    if (isSpannedBy(learned, allowed)) continue;
    leaks++;
    first ??= { schedule, learned: learned.map((one) => describeCombination(one, (symbol) => `x${symbol}`)) };
  }
  return { schedules, closed, sums, leaks, ...(first && { first }) };
}

/** Picks one of so many. */
type Draw = (count: number) => number;

function drawsOf(randomWords: RandomWords): Draw {
  const word = new Uint32Array(1);
  return (count) => {
    randomWords(word);
    return (word[0] as number) % count;
  };
}

/** What the server may compute with: keys of slots' edges, and pads of self seeds, by slot. */
interface Pool {
  readonly edges: PartKey[][];
  readonly selves: PartKey[][];
}

/** One filled buffer, which is closed anew in every schedule. */
class CouncilWorld {
  readonly #world: Federation;
  readonly #shape: CouncilShape;
  readonly #ctx: Ctx;
  readonly #buffer: SecureBuffer;
  readonly #request: CloseRequest;
  readonly #sets: readonly (readonly number[])[];
  readonly #records: readonly (readonly AuthorityRecord[])[];

  constructor(shape: CouncilShape, course: readonly Step[]) {
    const { authorities, threshold } = shape;
    const tools = unsafeSymbolicTools();
    const environment = { tools, createSigner: signerOf, randomWords: countedWords };
    const council = { authorities, threshold, unsafeThreshold: true };
    const sealings = symbolicSealings(authorities);
    this.#shape = shape;
    this.#world = new Federation(environment, { bufferSize: SLOTS, minimum: MINIMUM, dimension: 4, sealings, council });
    const devices = course.map(() => this.#world.device());
    for (const [n, step] of course.entries()) granted((devices[n] as FederationDevice).contribute(step));
    this.#ctx = (devices[0] as FederationDevice).ctx;
    const { server } = this.#world;
    granted(server.freeze(this.#ctx, 'stalled'));
    this.#buffer = server.buffer(this.#ctx);
    this.#request = granted(closeRequestOf(server.ports, this.#buffer));
    this.#sets = subsetsOf(this.#request.accepted).filter((set) => set.length >= MINIMUM);
    this.#records = this.#world.authorities.map(({ records }) => records);
  }

  play(draw: Draw): { readonly learned: readonly Combination[]; readonly allowed: readonly Combination[] } {
    const { authorities } = this.#world;
    const cores = authorities.map(({ ports }, n) =>
      n < this.#shape.colluding ? undefined : AttributeAuthority.restore(ports, this.#records[n] ?? []),
    );
    const requests = this.#sets.map((set) => this.#closeWith(set, []));
    const votes = this.#sets.map((_, set) => this.#boughtVotes(requests[set] as CloseRequest));
    for (const core of cores) {
      const set = draw(this.#sets.length);
      const answer = core && this.#asked(core, requests[set] as CloseRequest);
      if (answer !== undefined) votes[set]?.push(...answer.vote.endorsements);
    }
    const pool = this.#ownPool();
    const allowed: Combination[] = [];
    for (let attempt = 0; attempt < 2; attempt++) {
      for (const [n, core] of cores.entries()) {
        if (core === undefined) continue;
        const set = draw(this.#sets.length);
        const request = this.#closeWith(this.#sets[set] ?? [], joined(votes[set] ?? []));
        const answer = this.#asked(core, request);
        for (const { slot, role, key } of answer?.keys ?? [])
          (role === 'edge' ? pool.edges : pool.selves)[slot]?.push({ authority: n, key });
        // One close is final; whatever else comes out is a leak.
        if (answer?.outcome.status === 'closed' && allowed.length === 0)
          allowed.push(new Map(answer.outcome.accepted.map(({ slot }) => [slot as number, 1])));
      }
    }
    return { learned: learnedCombinations(this.#rows(pool)), allowed };
  }

  #asked(core: AttributeAuthority, request: CloseRequest) {
    const { records, answer, decidedAt } = core.close(request, this.#world.now);
    core.apply(records, decidedAt);
    return isRefused(answer) ? undefined : answer;
  }

  #closeWith(set: readonly number[], votes: readonly Endorsement[]): CloseRequest {
    const { ctx, deposits, headers } = this.#request;
    const accepted = set as readonly Slot[];
    const own = accepted.map((slot) => headers.find((header) => header.slot === slot) as UploadHeader);
    const body = { ctx, deposits, accepted, headers: own, votes };
    const { closeRequest } = authorityMessages(SLOTS);
    return { ...body, signature: this.#world.server.ports.signer.sign(closeRequest.statement(body)) };
  }

  /** Of the authorities that collude. */
  #boughtVotes(request: CloseRequest): Endorsement[] {
    const { policy, task, server } = this.#world;
    const { suite } = server.ports;
    const { hash: closing } = closingOf(suite, request, listedSlots(suite, request));
    return this.#colluders.flatMap(
      ({ ports }) => endorse(voteCodec, policy, ports.signer, { task, ctx: this.#ctx, closing }).endorsements,
    );
  }

  get #colluders(): readonly FederationAuthority[] {
    return this.#world.authorities.slice(0, this.#shape.colluding);
  }

  /** All that the colluding authorities could ever give. */
  #ownPool(): Pool {
    const { descriptor } = this.#buffer;
    const pool: Pool = {
      edges: Array.from({ length: SLOTS }, () => []),
      selves: Array.from({ length: SLOTS }, () => []),
    };
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
    return registrationOf(this.#world.server.ports.suite, ticket);
  }

  /** The masked vectors, without the masks whose seed opens with what is in the pool. */
  #rows({ edges, selves }: Pool): readonly MaskedRow[] {
    const { sealing } = this.#world.sealings;
    const deposits = this.#world.server.deposits(this.#ctx);
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
    const frozen = this.#world.devices[slot]?.records.find(
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

function subsetsOf(slots: readonly number[]): readonly (readonly number[])[] {
  return Array.from({ length: 2 ** slots.length }, (_, bits) => slots.filter((__, n) => (bits >> n) & 1));
}

function symbolicSealings(authorities: number): Sealings {
  const { suite } = unsafeSymbolicTools();
  const [issuer, ...otherIssuers] = Array.from({ length: authorities }, (_, n) =>
    slotKeyIssuer(suite, new Uint8Array(32).fill(7 + n)),
  );
  if (issuer === undefined) throw new RangeError('a council has somebody in it');
  return { engine: ENGINE.slotKeys, issuer, otherIssuers, sealing: slotSealing(suite, authorities) };
}

/** Words that never repeat. */
function countedWords(seed: number): RandomWords {
  let next = seed << 20;
  return (words) => {
    for (let n = 0; n < words.length; n++) words[n] = next++;
    return words;
  };
}
