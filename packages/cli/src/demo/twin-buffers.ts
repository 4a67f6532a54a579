/** Finds the updates of the fleet that made each version, from the records of the server and of the fleet. */
import type { ServerOperator, VersionState } from '@basa/client/operator';
import type { ModeChoice } from '../flags/modes.ts';
import type { AcceptedNews } from './fleet-messages.ts';

export interface DemoBooks {
  readonly task: string;
  readonly mode: ModeChoice;
  readonly versions: readonly VersionState[];
  /** All acceptances that the fleet reported. */
  readonly accepted: readonly AcceptedNews[];
}

/** The accepted updates of a sum. */
export type TwinSum = readonly AcceptedNews[];

/** Returns the sums of each version. The first version has no sums and is left out. */
export async function twinVersions(server: ServerOperator, books: DemoBooks): Promise<readonly (readonly TwinSum[])[]> {
  const sums = await sumsOf(server, books);
  return books.versions.slice(1).map(({ sums: names, accepted }) => {
    const found = names.map((ctx) => sums.get(ctx) ?? []);
    const known = found.flat().length;
    if (known === accepted) return found;
    throw new Error(`a version of ${accepted} updates, of which the fleet knows ${known}`);
  });
}

/** By the name of a buffer, which devices of paper mode know, or of a batch, of which the server tells. */
async function sumsOf(
  server: ServerOperator,
  { task, mode, accepted }: DemoBooks,
): Promise<ReadonlyMap<string, TwinSum>> {
  const sums = new Map<string, AcceptedNews[]>();
  for (const news of accepted) {
    const ctx = mode === 'paper' ? news.ctx : ((await server.shot(task, news.ctx)).ctx ?? '');
    sums.set(ctx, [...(sums.get(ctx) ?? []), news]);
  }
  return sums;
}
