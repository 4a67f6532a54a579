/** The newest version of a task that each device has an update in, from the server's facts about its buffers. */
import type { ServerOperator } from '@basa/client/operator';

/** Older versions are not requested, because each takes a request. */
export const MAX_VERSIONS = 100;

export interface LastContribution {
  readonly version: number;
  readonly at: number;
}

/** By user. A device without an entry was in none of the newest versions, or the server does not record their members. */
export async function lastContributions(
  server: ServerOperator,
  task: string,
  devices: number,
): Promise<ReadonlyMap<string, LastContribution>> {
  const last = new Map<string, LastContribution>();
  const versions = await server.versions(task).catch(notThere);
  for (const { version, at, sums } of (versions ?? []).slice(-MAX_VERSIONS).reverse()) {
    if (version === 0 || last.size >= devices) break;
    for (const user of (await Promise.all(sums.map((ctx) => usersIn(server, ctx)))).flat())
      if (!last.has(user)) last.set(user, { version, at });
  }
  return last;
}

async function usersIn(server: ServerOperator, ctx: string): Promise<readonly string[]> {
  return (await server.batch(ctx).catch(notThere))?.users ?? [];
}

/** A task of another server, or a batch whose facts were removed. */
function notThere(error: Error): undefined {
  if (error.name === 'ProblemError' && (error as Error & { status?: number }).status === 404) return undefined;
  throw error;
}
