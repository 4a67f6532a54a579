/** What holds and what does not, over everything that was run into a folder. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Outcome } from './outcome.ts';

export interface Claim {
  readonly study: string;
  readonly claim: string;
  readonly holds: boolean;
}

/** Written beside the report, so that it can be told without the results themselves. */
export function claimsOf(outcomes: readonly Outcome[]): readonly Claim[] {
  return outcomes.flatMap(({ experiment, orderings }) =>
    orderings.map(({ claim, holds }) => ({ study: experiment, claim, holds })),
  );
}

/** Undefined where nothing was run into the folder. */
export function readClaims(folder: string): readonly Claim[] | undefined {
  const file = join(folder, 'claims.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as readonly Claim[]) : undefined;
}
