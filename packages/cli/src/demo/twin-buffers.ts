/** Finds the updates of the fleet that made each version, from the records of the server and of the fleet. */
import type { ServerOperator, VersionState } from '@basa/client/operator';
import type { AcceptedNews } from './fleet-messages.ts';
import type { TwinBuffer } from './plain-twin.ts';

export interface DemoBooks {
  readonly task: string;
  readonly versions: readonly VersionState[];
  /** All acceptances that the fleet reported. */
  readonly accepted: readonly AcceptedNews[];
}

/** Returns the sums of each version. The first version has no sums and is left out. */
export async function twinVersions(
  server: ServerOperator,
  books: DemoBooks,
): Promise<readonly (readonly TwinBuffer[])[]> {
  const sumOf = await batches(server, books);
  return Promise.all(
    books.versions.slice(1).map(async ({ sums, accepted }) => {
      const found = await Promise.all(sums.map(sumOf));
      const known = found.reduce((count, { updates }) => count + updates.length, 0);
      if (known === accepted) return found;
      throw new Error(`a version of ${accepted} updates, of which the fleet knows ${known}`);
    }),
  );
}

type SumOf = (ctx: string) => Promise<TwinBuffer>;

/** The server gives the batch of each upload. All updates of a batch are trained on one version. */
async function batches(server: ServerOperator, { task, accepted }: DemoBooks): Promise<SumOf> {
  const found = new Map<string, AcceptedNews[]>();
  for (const news of accepted) {
    const { ctx = '' } = await server.shot(task, news.ctx);
    found.set(ctx, [...(found.get(ctx) ?? []), news]);
  }
  return async (ctx) => {
    const updates = found.get(ctx) ?? [];
    return { version: updates[0]?.trainedOn ?? 0, updates };
  };
}
