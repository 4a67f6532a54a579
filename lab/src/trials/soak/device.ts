/** A device of the soak test. It is honest, drops out, repeats messages, or lies. */
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '@basa/client/internal/connect.ts';
import { type BasaClient, inMemoryStoreForTests, nodeOutside, ProblemError, UnreachableError } from '@basa/client/node';
import type { RandomStream } from '@basa/learning';
import { toHex } from '@basa/masking';
import { userIdOf } from '@basa/protocol';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import type { TestProcesses } from '@basa/testkit/processes/test-processes.ts';

export interface Given {
  readonly ctx: string;
  readonly slot: number;
  readonly place: number;
}

/** One-shot: the update that a device offered. The authorities say whether it is in a batch. */
export interface Offered {
  readonly user: string;
  readonly version: number;
  readonly place: number;
  readonly isLie: boolean;
}

export interface Tally {
  accepted: number;
  rejected: number;
  droppedOut: number;
  duplicates: number;
  lies: number;
  suspendedHonest: number;
  suspendedLiars: number;
}

export function emptyTally(): Tally {
  const answers = { accepted: 0, rejected: 0, droppedOut: 0, duplicates: 0 };
  return { ...answers, lies: 0, suspendedHonest: 0, suspendedLiars: 0 };
}

export interface SoakWork {
  readonly processes: TestProcesses;
  readonly chance: RandomStream;
  readonly given: Given[];
  readonly offered: Offered[];
  readonly tally: Tally;
  readonly latencies: number[];
  readonly signal: AbortSignal;
}

const DROP_OUTS = 0.05;
const DUPLICATES = 0.01;
const RETRY = { attempts: 5, firstWaitMs: 50, longestWaitMs: 500 };
const PAUSE_MS = 100;
const MAX_LATE = 100;

export class SoakDevice {
  readonly #work: SoakWork;
  readonly #isLiar: boolean;
  readonly #signer = createNodeSigner(nodeRandomBytes(32));
  readonly #user = toHex(userIdOf(nodeSuite, this.#signer.publicKey));
  /** For a whole contribution: a repeated upload must have the same bytes. Otherwise it is unknown which bytes were accepted. */
  #isLying = false;
  #wasSuspended = false;

  constructor(work: SoakWork, isLiar: boolean) {
    this.#work = work;
    this.#isLiar = isLiar;
  }

  /** Contributes until the soak test ends, and finishes a contribution that has started. */
  async live(token: string): Promise<void> {
    const client = await this.#again(() => this.#connect(token));
    while (!this.#work.signal.aborted) await this.#contribute(client);
    await client.close();
  }

  /** Services may be down, so a request without an answer is repeated; after the end, only for some time. */
  async #again<Result>(work: () => Promise<Result>): Promise<Result> {
    for (let late = 0; ; ) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof UnreachableError) && !(error instanceof ProblemError)) throw error;
        if (this.#work.signal.aborted && ++late > MAX_LATE) throw error;
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  }

  /** A liar masks something else than it promised in about every second contribution: no number in its sum can be trusted. */
  #connect(token: string): Promise<BasaClient> {
    const { processes } = this.#work;
    const real = nodeOutside();
    const lie: typeof real.mask = async (vector, plan) => {
      await real.mask(vector, plan);
      if (this.#isLying) vector[1] = ((vector[1] ?? 0) + 1) >>> 0;
    };
    return connect(this.#isLiar ? { ...real, mask: lie } : real, inMemoryStoreForTests(this.#signer), {
      ...processes.services,
      token,
      retry: RETRY,
    });
  }

  async #contribute(client: BasaClient): Promise<void> {
    const { processes, chance, tally, given, offered, latencies } = this.#work;
    const place = Math.floor(chance.unit() * processes.policy.dimension);
    const delta = new Float32Array(processes.policy.dimension);
    delta[place] = 1 - chance.unit() / 1e5; // a different update for each device, and 1 after quantising
    const { version } = await this.#again(() => client.model());
    this.#isLying = this.#isLiar && chance.unit() < 0.5;
    if (this.#isLying) tally.lies++;
    offered.push({ user: this.#user, version, place, isLie: this.#isLying });
    const leaving = new AbortController();
    const steps = processes.policy.oneShot === undefined ? (['key', 'mask'] as const) : (['mask', 'upload'] as const);
    const leavesAt = chance.unit() < DROP_OUTS ? steps[chance.unit() < 0.5 ? 0 : 1] : undefined;
    const forgets = [
      client.on('progress', ({ step }) => step === leavesAt && leaving.abort()),
      // Every slot it had, not those acknowledged: whether an upload that was cut off is in a sum, the server tells.
      client.on('slotted', (seat) => given.push({ ...seat, place })),
    ];
    const began = performance.now();
    try {
      const { signal } = leaving;
      const result = await this.#again(() => client.contribute(delta, { trainedOn: version, signal }));
      if (result.kind === 'rejected') {
        tally.rejected++;
        if (result.reason === 'suspended') this.#suspended();
        // A device that dropped out twice waits until a lease is over, and a suspect until it may sit down.
        await sleep(result.retryAfterMs ?? 0, undefined, { signal: this.#work.signal }).catch(() => undefined);
        return;
      }
      latencies.push(performance.now() - began);
      tally.accepted++;
      if (chance.unit() < DUPLICATES) await this.#repeat(client, delta, version);
    } catch (error) {
      if (!leaving.signal.aborted) throw error;
      await client.discard();
      tally.droppedOut++;
    } finally {
      for (const forget of forgets) forget();
    }
  }

  /** Each device is counted once. */
  #suspended(): void {
    if (!this.#wasSuspended) this.#work.tally[this.#isLiar ? 'suspendedLiars' : 'suspendedHonest']++;
    this.#wasSuspended = true;
  }

  /** The same update once more: it is refused, or goes elsewhere by the authority's word. */
  async #repeat(client: BasaClient, delta: Float32Array, trainedOn: number): Promise<void> {
    this.#work.tally.duplicates++;
    await this.#again(() => client.contribute(delta, { trainedOn }));
  }
}
