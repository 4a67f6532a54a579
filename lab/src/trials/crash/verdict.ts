/** Judges the end of every update from outside: by the answers to clients, the audit files of authorities and the contents of models. */
import { finalBatches, versionsOf } from '@basa/testkit/processes/audits.ts';
import { countsByVersion } from '@basa/testkit/processes/sums.ts';
import type { TestProcesses } from '@basa/testkit/processes/test-processes.ts';
import type { Ending, Evidence } from './ending.ts';
import type { Acknowledged } from './fleet.ts';
import { batchProblems, endingOf, stuckUploads } from './shot-verdict.ts';

export interface Verdict extends Readonly<Record<Ending, number>> {
  readonly acknowledged: number;
  readonly doubled: number;
  readonly stuck: number;
  readonly versions: number;
  /** How often each reason to leave an update out was given, in words. */
  readonly leftOutFor: string;
  /** The problems, in words. */
  readonly problems: readonly string[];
}

export async function judge(basa: TestProcesses, told: readonly Acknowledged[]): Promise<Verdict> {
  const final = finalBatches(basa);
  const versions = await versionsOf(basa, final);
  const evidence: Evidence = { final, counts: await countsByVersion(basa), versions };
  const found: string[] = [];
  const endings: Record<Ending, number> = { included: 0, quarantined: 0, discarded: 0, lost: 0 };
  const once = new Map(told.map((one) => [one.joinTag, one]));
  const reasons = new Map<string, number>();
  for (const one of once.values()) {
    const { ending, facts, why } = await endingOf(basa, evidence, one);
    endings[ending]++;
    if (why !== undefined) reasons.set(why, (reasons.get(why) ?? 0) + 1);
    if (ending === 'lost') found.push(`lost: the update at ${one.place}, upload ${one.ctx}: ${facts}`);
  }
  const doubled = [...doubledPlaces(basa.policy.dimension, evidence.counts), ...batchProblems(evidence)];
  const stuck = await stuckUploads(basa, told);
  found.push(...doubled);
  for (const name of stuck) found.push(`stuck: ${name}`);
  return {
    acknowledged: once.size,
    ...endings,
    doubled: doubled.length,
    stuck: stuck.length,
    versions: evidence.counts.length - 1,
    leftOutFor: [...reasons].map(([why, count]) => `${why} ${count}`).join(', '),
    problems: found,
  };
}

/** Coordinates that more than one update, or less than none, went into. */
function doubledPlaces(dimension: number, counts: readonly Int32Array[]): readonly string[] {
  const places = Array.from({ length: dimension }, (_, place) => place).filter((place) => {
    const each = counts.map((version) => version[place] ?? 0);
    return each.some((count) => count < 0) || each.reduce((sum, count) => sum + count, 0) > 1;
  });
  return places.map((place) => `counted twice: the update at ${place}`);
}
