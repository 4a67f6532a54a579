/** The promises that must hold in every state of a one-shot world, and in those in which nothing more can happen. */
import { ShotTrace } from '../../../attacks/one-shot/shot-trace.ts';
import type { Facts, SeenUpload } from './facts.ts';

/**
 * The number of votes that make a batch final, the number of them that the server has anyway, and the minimum of
 * devices in it.
 */
export interface FinalRules {
  readonly threshold: number;
  readonly colluding: number;
  readonly minimum: number;
}

/** Batches that enough authorities voted for, by name. */
export function finalBatches(
  facts: Facts,
  names: readonly string[],
  { threshold, colluding }: FinalRules,
): ReadonlyMap<string, readonly string[]> {
  const voters = new Map<string, number>();
  for (const name of names) {
    const [kind, , ctx = ''] = name.split(':');
    if (kind === 'vote') voters.set(ctx, (voters.get(ctx) ?? colluding) + 1);
  }
  const final = [...voters].filter(([, count]) => count >= threshold);
  return new Map(final.map(([ctx]) => [ctx, facts.batches.get(ctx) ?? []]));
}

/** No update is used twice or after it was declared expired, and nothing can be computed but the sums of final batches. */
export function factsProblem(facts: Facts, names: readonly string[], rules: FinalRules): string | undefined {
  const final = finalBatches(facts, names, rules);
  const listed = [...final.values()].flat();
  const wrong = names.find((name) => name.startsWith('wrong:'));
  if (wrong !== undefined) return wrong.slice('wrong:'.length);
  if (new Set(listed).size < listed.length) return 'two final batches share an upload';
  const updates = listed.flatMap((name) => facts.uploads.get(name)?.update ?? []);
  if (new Set(updates).size < updates.length) return 'one update is in two final batches';
  if (listed.some((name) => names.includes(`freed:${name}`)))
    return 'an update that was called expired is in a final batch';
  const [leak] = traceOf(facts, names, final, rules).judge().leaked;
  return leak === undefined ? undefined : `the server computes ${leak}`;
}

function traceOf(
  facts: Facts,
  names: readonly string[],
  final: ReadonlyMap<string, readonly string[]>,
  { minimum }: FinalRules,
): ShotTrace {
  const trace = new ShotTrace();
  const symbols = new Map<string, number>();
  const inputOf = (update: string): number => {
    const symbol = symbols.get(update) ?? trace.newInput(`update ${symbols.size}`);
    symbols.set(update, symbol);
    return symbol;
  };
  for (const name of names) {
    const seen = name.startsWith('up:') ? facts.uploads.get(name.slice(3)) : undefined;
    for (const seed of seen?.opened ?? []) trace.knows(seed);
    if (seen?.update !== undefined) trace.sawMasked(inputOf(seen.update), seen.expansions);
    const sum = facts.sums.get(name);
    if (sum !== undefined) trace.sawSum(sum);
  }
  for (const [name, uploads] of final) {
    const seen = uploads.flatMap((upload) => facts.uploads.get(upload) ?? []);
    const inputs = seen.flatMap(({ update }) => (update === undefined ? [] : [inputOf(update)]));
    trace.final({ name, inputs, isEnough: devicesIn(seen) >= minimum });
  }
  return trace;
}

function devicesIn(seen: readonly SeenUpload[]): number {
  return new Set(seen.map(({ device }) => device)).size;
}
