/** Checks the batches of a soak test: each version is the sum of the updates in its batches, and contains no lie. */
import { type AuditedBatch, finalBatches, versionsOf } from '@basa/testkit/processes/audits.ts';
import { countsByVersion } from '@basa/testkit/processes/sums.ts';
import type { SoakWork } from './device.ts';

export class ShotSums {
  readonly #work: SoakWork;
  readonly #endings: string[] = [];

  constructor(work: SoakWork) {
    this.#work = work;
  }

  /** Every batch that ends is a version; a spoilt one is a version without updates. */
  async endings(): Promise<readonly string[]> {
    const { server, task } = this.#work.processes;
    const made = await server.versions(task, this.#endings.length + 1).catch(() => []); // it is being restarted
    this.#endings.push(...made.map(({ accepted }) => (accepted === 0 ? 'quarantined' : 'included')));
    return this.#endings;
  }

  /** Versions that are not the sum of the updates listed for them. A spoilt batch leaves a version without updates. */
  async inexact(): Promise<readonly number[]> {
    const { processes } = this.#work;
    const counts = await countsByVersion(processes);
    const final = finalBatches(processes);
    const versions = await versionsOf(processes, final);
    const members = new Map<number, (AuditedBatch | undefined)[]>();
    for (const [ctx, version] of versions) members.set(version, [...(members.get(version) ?? []), final.get(ctx)]);
    return [...members].flatMap(([version, batches]) => {
      const counted = counts[version];
      if (version === 0 || counted === undefined) return []; // made meanwhile
      const isSpoilt = counted.every((count) => count === 0);
      return isSpoilt || this.#isSumOf(batches, counted) ? [] : [version];
    });
  }

  /** A device that dropped out before anything left it may have offered another update on the same version: one of them is in the sum. */
  #isSumOf(batches: readonly (AuditedBatch | undefined)[], counted: Int32Array): boolean {
    const left = counted.slice();
    const uploads = batches.flatMap((batch) => batch?.uploads ?? []);
    const isEach = uploads.every(({ user }) => {
      const own = this.#work.offered.filter((one) => one.user === user && !one.isLie);
      const found = own.find(({ place }) => (left[place] ?? 0) > 0);
      if (found !== undefined) left[found.place] = (left[found.place] ?? 0) - 1;
      return found !== undefined;
    });
    return !batches.includes(undefined) && isEach && left.every((count) => count === 0);
  }
}
