/** Reads final batches from the audit files of authorities, for checks from outside. */
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
