/** Where a run of `npm run lab -- learn` stood, in a file: written under another name and renamed, so that it is never half. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { deserialize, serialize } from 'node:v8';
import type { FedBuffCheckpoint } from '@basa/learning';

export interface LearnCheckpoint {
  /** Task and options: another run's checkpoint is of no use. */
  readonly run: string;
  /** Time spent on it so far. */
  readonly tookMs: number;
  readonly at: FedBuffCheckpoint;
}

/** What the file holds; undefined where there is none yet. */
export function readCheckpoint(file: string, run: string): LearnCheckpoint | undefined {
  if (!existsSync(file)) return undefined;
  const checkpoint = deserialize(readFileSync(file)) as LearnCheckpoint;
  if (checkpoint.run !== run) throw new Error(`${file} belongs to another run: ${checkpoint.run}, not ${run}`);
  return checkpoint;
}

export function writeCheckpoint(file: string, checkpoint: LearnCheckpoint): void {
  writeFileSync(`${file}.part`, serialize(checkpoint));
  renameSync(`${file}.part`, file);
}
