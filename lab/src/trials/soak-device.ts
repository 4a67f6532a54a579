/** A device of the soak test. It is honest, drops out, repeats messages, or lies. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type BasaClient, nodeOutside } from '@basa/client/node';
import type { RandomStream } from '@basa/learning';
import { toHex } from '@basa/masking';
import { userIdOf } from '@basa/protocol/internal/wire/devices.ts';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import type { TestProcesses } from '@basa/testkit/processes/test-processes.ts';
import { isPassing, sdkDevice } from './sdk-device.ts';

/** The update that a device offered. The authorities say whether it is in a batch. */
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
}

export function emptyTally(): Tally {
  return { accepted: 0, rejected: 0, droppedOut: 0, duplicates: 0, lies: 0 };
}

export interface SoakWork {
  readonly processes: TestProcesses;
  readonly chance: RandomStream;
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
        if (!isPassing(error)) throw error;
        if (this.#work.signal.aborted && ++late > MAX_LATE) throw error;
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  }

  /**
   * A liar changes a number of about every second contribution: a guard, for which the authorities refuse it, or one in the middle, which
   * spoils the sum.
   */
  #connect(token: string): Promise<BasaClient> {
    const { processes } = this.#work;
    const real = nodeOutside();
    const lie: typeof real.mask = async (vector, plan) => {
      await real.mask(vector, plan);
      const place = this.#work.chance.unit() < 0.5 ? 1 : vector.length >> 1;
      if (this.#isLying) vector[place] = ((vector[place] ?? 0) + 2 ** 31) >>> 0;
    };
    const outside = this.#isLiar ? { ...real, mask: lie } : real;
    return sdkDevice(processes.services, token, { outside, signer: this.#signer, retry: RETRY });
  }

  async #contribute(client: BasaClient): Promise<void> {
    const { processes, chance, tally, offered, latencies } = this.#work;
    const place = Math.floor(chance.unit() * processes.policy.dimension);
    const delta = new Float32Array(processes.policy.dimension);
    delta[place] = 1 - chance.unit() / 1e5; // a different update for each device, and 1 after quantising
    const { version } = await this.#again(() => client.model());
    this.#isLying = this.#isLiar && chance.unit() < 0.5;
    if (this.#isLying) tally.lies++;
    offered.push({ user: this.#user, version, place, isLie: this.#isLying });
    const leaving = new AbortController();
    const leavesAt = chance.unit() < DROP_OUTS ? (chance.unit() < 0.5 ? 'mask' : 'upload') : undefined;
    const forget = client.on('progress', ({ step }) => step === leavesAt && leaving.abort());
    const began = performance.now();
    try {
      const { signal } = leaving;
      const result = await this.#again(() => client.contribute(delta, { trainedOn: version, signal }));
      if (result.kind === 'rejected') {
        tally.rejected++;
        // A device that dropped out twice waits until a lease is over.
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
      forget();
    }
  }

  /** The same update once more: it is refused. */
  async #repeat(client: BasaClient, delta: Float32Array, trainedOn: number): Promise<void> {
    this.#work.tally.duplicates++;
    await this.#again(() => client.contribute(delta, { trainedOn }));
  }
}
