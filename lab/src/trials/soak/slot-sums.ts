/** Buffers of slots in a soak: how they end, and whether each version is the sum of the slots that the server says are in it. */
import { countsByVersion } from '@basa/testkit/processes/sums.ts';
import type { SoakWork } from './device.ts';
import type { SoakSums } from './soak-sums.ts';

/** The number of buffers that may be open at the same time, with a slot for each device. */
const MAX_LIVING = 100;

export class SlotSums implements SoakSums {
  readonly #work: SoakWork;
  readonly #known = new Map<string, string>();

  constructor(work: SoakWork) {
    this.#work = work;
  }

  /** The sums of all ended buffers in which devices had a slot. */
  async endings(): Promise<readonly string[]> {
    const { processes, given } = this.#work;
    for (const ctx of new Set(given.slice(-10 * MAX_LIVING).map((one) => one.ctx))) {
      if (this.#known.has(ctx)) continue;
      const status = await processes.server.buffer(ctx).then(
        (buffer) => buffer.status,
        () => undefined, // it is being restarted
      );
      if (status === 'included' || status === 'quarantined' || status === 'aborted') this.#known.set(ctx, status);
    }
    return [...this.#known.values()];
  }

  /** By the coordinates that the devices of the slots gave. */
  async inexact(): Promise<readonly number[]> {
    const { processes, given } = this.#work;
    const counts = await countsByVersion(processes);
    const wrong: number[] = [];
    // Versions made in the meantime are left out.
    const versions = await processes.server.versions(processes.task);
    for (const { version, sums } of versions.filter((one) => one.version > 0 && one.version < counts.length)) {
      const expected = new Int32Array(processes.policy.dimension);
      for (const ctx of sums) {
        const { accepted } = await processes.server.buffer(ctx);
        // A slot is listed twice if its device continued with it after a service was down.
        const places = new Map(given.filter((one) => one.ctx === ctx).map(({ slot, place }) => [slot, place]));
        for (const slot of accepted) {
          const place = places.get(slot);
          if (place !== undefined) expected[place] = (expected[place] ?? 0) + 1;
        }
      }
      const isSame = counts[version]?.every((count, place) => count === expected[place]) ?? false;
      if (!isSame) wrong.push(version);
    }
    return wrong;
  }
}
