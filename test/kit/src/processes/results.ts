/** What services under trial have done, for checks from outside: final batches of the audit files of authorities, and decoded models. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AUDIT_FILE, readAuthorityConfig } from '@basa/authority';
import type { TestProcesses } from './test-processes.ts';

/** A batch that enough authorities voted for. All names are in hex. */
export interface AuditedBatch {
  readonly ctx: string;
  readonly task: string;
  readonly uploads: readonly AuditedUpload[];
}

interface AuditedUpload {
  readonly name: string;
  readonly user: string;
  readonly joinTag: string;
  /** The name of the model that it was trained on. */
  readonly model: string;
}

export type AuditedBatches = ReadonlyMap<string, AuditedBatch>;

/** One that was away misses some batches; each has those that it released. */
export function finalBatches(basa: TestProcesses): AuditedBatches {
  const lines = basa.authorities.flatMap((name) => {
    const { dataFolder } = readAuthorityConfig(basa.placesOf(name));
    const path = join(dataFolder, AUDIT_FILE);
    return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
  });
  const all = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as AuditedBatch & { kind: string });
  return new Map(all.filter(({ kind, task }) => kind === 'final' && task === basa.task).map((one) => [one.ctx, one]));
}

/** The version that each of these batches is a part of, according to the server. */
export async function versionsOf(basa: TestProcesses, batches: AuditedBatches): Promise<ReadonlyMap<string, number>> {
  const versions = new Map<string, number>();
  for (const ctx of batches.keys()) {
    const includedIn = await basa.server.batch(ctx).then(
      (state) => state.includedIn,
      () => undefined,
    );
    if (includedIn !== undefined) versions.set(ctx, includedIn);
  }
  return versions;
}

/** The number of times that each coordinate of the one-hot updates was counted, by version, then by coordinate. Every sum must be made of whole updates. */
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
