/** The verdict on every claim of the studies in a folder. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { comparisonText, type Outcome } from './outcome.ts';
import type { Verdict } from './verdict.ts';

export interface Claim {
  readonly study: string;
  readonly claim: string;
  readonly source: string;
  readonly verdict: Verdict;
  /** Both numbers of every comparison, and their ratio. Older results do not have it. */
  readonly seen?: string;
}

/** Written next to the report, so that `summary` does not need the full results. */
export function claimsOf(outcomes: readonly Outcome[]): readonly Claim[] {
  return outcomes.flatMap(({ experiment, orderings }) =>
    orderings.map(({ claim, source, verdict, seen }) => ({
      study: experiment,
      claim,
      source,
      verdict,
      seen: seen.map(comparisonText).join('; '),
    })),
  );
}

/** If several folders have a study, the first one counts. Returns undefined if no folder has results. */
export function readClaims(folders: readonly string[]): readonly Claim[] | undefined {
  const files = folders.map((folder) => join(folder, 'claims.json')).filter(existsSync);
  if (files.length === 0) return undefined;
  const claims: Claim[] = [];
  for (const file of files) {
    const told = new Set(claims.map(({ study }) => study));
    const here = JSON.parse(readFileSync(file, 'utf8')) as readonly Claim[];
    claims.push(...here.filter(({ study }) => !told.has(study)));
  }
  return claims;
}
