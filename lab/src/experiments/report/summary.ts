/** The verdict on every claim, over everything that was run into a folder. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Outcome } from './outcome.ts';
import type { Verdict } from './verdict.ts';

export interface Claim {
  readonly study: string;
  readonly claim: string;
  readonly source: string;
  readonly verdict: Verdict;
}

/** Written beside the report, so that it can be told without the results themselves. */
export function claimsOf(outcomes: readonly Outcome[]): readonly Claim[] {
  return outcomes.flatMap(({ experiment, orderings }) =>
    orderings.map(({ claim, source, verdict }) => ({ study: experiment, claim, source, verdict })),
  );
}

/** Undefined where nothing was run into the folder. */
export function readClaims(folder: string): readonly Claim[] | undefined {
  const file = join(folder, 'claims.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as readonly Claim[]) : undefined;
}
