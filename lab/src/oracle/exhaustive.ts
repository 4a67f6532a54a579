/**
 * Every course of three honest devices over the functions of `protocol/src/one-shot`: the server asks honest authorities for any vote and any
 * release in any order, votes are lost, authorities are restored, and epochs end. Equal states are visited once, and each is judged.
 */

import { equalBytes, toHex } from '@basa/masking';
import { isRefused } from '@basa/protocol';
import {
  type Authority,
  type Decision,
  release,
  type Unit,
  type UnitWrite,
  vote,
} from '@basa/protocol/internal/one-shot/authority.ts';
import { endorse, joined } from '@basa/protocol/internal/wire/council.ts';
import { isHolder, oneShotOf, taskParts } from '@basa/protocol/internal/wire/one-shot-policy.ts';
import {
  type Batch,
  type BatchVoteRequest,
  batchCtxOf,
  type Endorsement,
  type Epoch,
  epochEnd,
  epochNameOf,
  type ReleaseRequest,
  type ShotHeader,
  Vote,
} from '@basa/protocol/wire';
import { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { NO_SCHEDULES, type Tally } from './schedules.ts';
import { Trace } from './trace.ts';

export interface ExhaustiveShape {
  readonly count: 1 | 4;
  readonly colluding: readonly number[];
  /** Authorities forget the names that were used, which the oracle must notice. */
  readonly forgets?: boolean;
}

/** By the name that `prove shots --shape` takes. */
export const EXHAUSTIVE: Readonly<Record<string, ExhaustiveShape>> = {
  '1,1,0': { count: 1, colluding: [] },
  '4,3,1': { count: 4, colluding: [1] },
};

const EPOCH_MS = 3_600_000;
const DEVICES = 3;
const POLICY = { bufferSize: 3, minimum: 2 };

/** The units of an authority. */
type Disk = readonly {
  readonly epoch: Epoch;
  readonly name: string;
  readonly statement: Uint8Array;
  readonly writes: readonly Omit<UnitWrite, 'statement'>[];
}[];

interface State {
  /** By the index of the authority. */
  readonly disks: readonly Disk[];
  readonly now: number;
  /** The votes that the server has, as `authority:batch`. */
  readonly votes: ReadonlySet<string>;
  /** The releases that it has, as `authority:batch`. */
  readonly released: ReadonlySet<string>;
}

type Step = (state: State) => State | undefined;

export class Exhaustive {
  readonly #world: ShotWorld;
  readonly #colluding: readonly number[];
  readonly #forgets: boolean;
  readonly #honest: readonly number[];
  readonly #batches: readonly Batch[];
  readonly #headers: ReadonlyMap<string, ShotHeader>;
  readonly #voteRequests: readonly BatchVoteRequest[];
  /** By the batch, then by the authority. */
  readonly #endorsements: readonly (readonly Endorsement[])[];
  readonly #releases = new Map<string, ReleaseRequest>();

  constructor({ count, colluding, forgets = false }: ExhaustiveShape) {
    this.#world = new ShotWorld({ count, ...POLICY });
    this.#colluding = colluding;
    this.#forgets = forgets;
    this.#honest = this.#world.indices.filter((index) => !colluding.includes(index));
    this.#world.contributed(DEVICES - 1);
    // The last device seals to the next epochs.
    this.#world.pass(0.9 * EPOCH_MS);
    this.#world.openEpochs();
    this.#world.contributed(1);
    const { server, policy, task, environment } = this.#world;
    this.#headers = new Map(server.shots.map(({ name, upload }) => [toHex(name), upload.header]));
    this.#batches = LISTS.map((places) => server.batch(places.map((place) => server.shots[place] as never)));
    this.#voteRequests = this.#batches.map((batch) => server.voteRequest(batch));
    this.#endorsements = this.#batches.map((batch) => {
      const body = { task, ctx: batchCtxOf(environment.tools.suite, batch) };
      return this.#world.indices.flatMap(
        (one) => endorse(Vote, policy, this.#world.authority(one).base.ports.signer, body).endorsements,
      );
    });
  }

  /** Stops at the first leak if there is one, and after this many states. */
  run(most = Number.POSITIVE_INFINITY): Tally {
    let tally = NO_SCHEDULES;
    const disks = this.#world.indices.map((index): Disk => {
      const { units } = this.#world.authority(index);
      return [...units.values()].map(({ epoch }) => {
        const { statement } = epochNameOf(this.#world.environment.tools.suite, epoch);
        return { epoch, name: toHex(statement), statement, writes: [] };
      });
    });
    const first: State = { disks, now: this.#world.now, votes: new Set(), released: new Set() };
    const seen = new Set([this.#nameOf(first)]);
    const open: State[] = [first];
    for (let state = open.pop(); state !== undefined; state = open.pop()) {
      tally = this.#judged(tally, state);
      if (tally.leaks.length > 0 || tally.schedules >= most) return tally;
      for (const step of this.#steps()) {
        const next = step(state);
        if (next === undefined || seen.has(this.#nameOf(next))) continue;
        seen.add(this.#nameOf(next));
        open.push(next);
      }
    }
    return tally;
  }

  *#steps(): Generator<Step> {
    for (const index of this.#honest) {
      yield (state) => withDisk(state, index, []); // it is restored: no backup has a unit
      for (const n of LISTS.keys()) {
        yield (state) => this.#voted(state, index, n, true);
        yield (state) => this.#voted(state, index, n, false); // the answer is lost
        yield (state) => this.#release(state, index, n);
      }
    }
    yield (state) => this.#later(state);
  }

  /** The first epochs end, then the second ones. */
  #later(state: State): State | undefined {
    const oneShot = oneShotOf(this.#world.policy);
    const ends = state.disks.flat().map(({ epoch }) => epochEnd(oneShot, epoch));
    if (ends.length === 0) return undefined;
    const now = Math.min(...ends);
    const disks = state.disks.map((disk) => disk.filter(({ epoch }) => epochEnd(oneShot, epoch) > now));
    return { ...state, now, disks };
  }

  #voted(state: State, index: number, n: number, isHeard: boolean): State | undefined {
    const decision = vote(this.#view(state, index), this.#voteRequests[n] as BatchVoteRequest, (upload) =>
      this.#headers.get(toHex(upload)),
    );
    if (isRefused(decision)) return undefined;
    const next = written(state, index, decision);
    return isHeard ? { ...next, votes: new Set([...state.votes, `${index}:${n}`]) } : next;
  }

  #release(state: State, index: number, n: number): State | undefined {
    const { server } = this.#world;
    const votes = this.#world.indices.filter((one) => this.#colluding.includes(one) || state.votes.has(`${one}:${n}`));
    const name = `${n} ${votes.join()}`;
    const endorsements = joined(votes.map((one) => this.#endorsements[n]?.[one] as Endorsement));
    const request =
      this.#releases.get(name) ?? server.releaseRequest(this.#batches[n] as Batch, { votes: endorsements });
    this.#releases.set(name, request);
    const decision = release(this.#view(state, index), request);
    if (isRefused(decision)) return undefined;
    return { ...written(state, index, decision), released: new Set([...state.released, `${index}:${n}`]) };
  }

  #view(state: State, index: number): Authority {
    const { base } = this.#world.authority(index);
    const { task, policy } = this.#world;
    const units = (state.disks[index] as Disk).map((disk) => {
      const unit = unitOf(disk);
      return this.#forgets ? { ...unit, ctxOf: () => undefined } : unit;
    });
    return { ...base.ports, task, policy, index, units, isRevoked: () => false, batchesOf: () => 0 };
  }
  #nameOf({ disks, now, votes, released }: State): string {
    const all = disks.map((disk) =>
      disk.map(({ name, writes }) => [name, ...writes.map(({ kind, ctx }) => kind + toHex(ctx)).sort()]),
    );
    return JSON.stringify([now, all, [...votes].sort(), [...released].sort()]);
  }

  #judged(tally: Tally, state: State): Tally {
    if (state.released.size === 0) return { ...tally, schedules: tally.schedules + 1 };
    const trace = new Trace();
    const parts = taskParts(this.#world.policy);
    const maskOf = (upload: number, part: number): string => `${upload}:${part}`;
    for (let upload = 0; upload < DEVICES; upload++) {
      trace.sawMasked(
        trace.newInput(`x${upload}`),
        parts.map((part) => maskOf(upload, part)),
      );
      for (const part of parts)
        if (this.#colluding.some((index) => isHolder(part, index))) trace.knows(maskOf(upload, part));
    }
    for (const name of state.released) {
      const [index = 0, n = 0] = name.split(':').map(Number);
      const places = LISTS[n] as readonly number[];
      const isAllowed = new Set(places).size === places.length && places.length >= POLICY.minimum;
      trace.released({ name: `${n}`, inputs: places, isAllowed });
      for (const part of parts) if (isHolder(part, index)) trace.sawSum(places.map((place) => maskOf(place, part)));
    }
    const { leaked, sums, sumsFound } = trace.judge();
    const leaks = leaked.length === 0 ? [] : [{ name: this.#nameOf(state), leaked }];
    return {
      schedules: tally.schedules + 1,
      closed: tally.closed + 1,
      sums: tally.sums + sums,
      sumsFound: tally.sumsFound + sumsFound,
      leaks: [...tally.leaks, ...leaks],
    };
  }
}

/** Every list of uploads without regard to its order, one pair in the other order, and one upload twice. */
const LISTS: readonly (readonly number[])[] = [[0], [0, 1], [1, 0], [0, 2], [1, 2], [0, 1, 2], [0, 0]];

function withDisk(state: State, index: number, disk: Disk): State {
  return { ...state, disks: state.disks.map((one, n) => (n === index ? disk : one)) };
}

function written(state: State, index: number, { writes }: Decision): State {
  const disk = (state.disks[index] as Disk).map((unit) => {
    const isThere = ({ kind, ctx }: UnitWrite): boolean =>
      unit.writes.some((write) => write.kind === kind && equalBytes(write.ctx, ctx));
    const own = writes.filter((write) => equalBytes(write.statement, unit.statement) && !isThere(write));
    return { ...unit, writes: [...unit.writes, ...own] };
  });
  return withDisk(state, index, disk);
}

function unitOf({ epoch, statement, writes }: Disk[number]): Unit {
  const found = (used: Uint8Array) => writes.filter(({ names }) => names.some((one) => equalBytes(one, used)));
  return {
    epoch,
    statement,
    ctxOf: (used) => found(used).at(-1)?.ctx,
    isFinal: (ctx) => writes.some((write) => write.kind === 'final' && equalBytes(write.ctx, ctx)),
  };
}
