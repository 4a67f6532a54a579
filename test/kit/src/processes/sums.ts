/** Decodes models: the number of times that each coordinate of the one-hot updates was counted in each version. */
import type { TestProcesses } from './test-processes.ts';

/** By version, then by coordinate. Every sum must be made of whole updates. */
export async function countsByVersion({ server, task }: TestProcesses): Promise<readonly Int32Array[]> {
  const versions = [...(await server.versions(task))].sort((a, b) => a.version - b.version);
  let before = await server.parameters(task, 0);
  const counts = [new Int32Array(before.length)];
  for (const { version, accepted } of versions.slice(1)) {
    const after = await server.parameters(task, version);
    // w goes down by the mean: 1 / accepted for each update that counted.
    counts.push(Int32Array.from(after, (value, place) => Math.round(((before[place] ?? 0) - value) * accepted)));
    before = after;
  }
  return counts;
}
