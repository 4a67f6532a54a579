/** Judges the end of every update from outside: by the answers to clients, the statements of authorities and the contents of models. */
import { verifyLog } from '@basa/authority';
import { fromHex } from '@basa/masking';
import {
  AUTHORITY_PATH,
  agreedOutcome,
  type Ctx,
  type JoinTag,
  judgeOutcome,
  type OutcomeOf,
  outcomeCodec,
  SERVER_PATH,
} from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { batchesOfLogs, buffersOfLogs } from '@basa/testkit/processes/authority-log.ts';
import { countsByVersion } from '@basa/testkit/processes/sums.ts';
import type { AuthorityName, TestProcesses } from '@basa/testkit/processes/test-processes.ts';
import type { Ended, Ending, Evidence, Retired } from './ending.ts';
import type { Acknowledged } from './fleet.ts';
import { batchProblems, shotEndingOf, stuckShots } from './shot-verdict.ts';

export interface Verdict extends Readonly<Record<Ending, number>> {
  readonly acknowledged: number;
  readonly doubled: number;
  readonly keysTwice: number;
  readonly stuck: number;
  readonly versions: number;
  /** One-shot: how often each reason to leave an update out was given, in words. */
  readonly leftOutFor: string;
  /** The problems, in words. */
  readonly problems: readonly string[];
}

const ENDED = ['included', 'quarantined', 'aborted', 'unknown'];

export async function judge(basa: TestProcesses, told: readonly Acknowledged[], retired?: Retired): Promise<Verdict> {
  const own = await basa.authority.logs();
  const logs = [...own, ...(retired?.logs ?? [])];
  const keys = basa.authorityKey.split(',').map((key) => fromHex(key) ?? new Uint8Array());
  const reports = own.map((log, n) => verifyLog(log, keys[n] ?? new Uint8Array()));
  const buffers = buffersOfLogs(logs, basa.task);
  const { versions } = buffers;
  const evidence: Evidence = { batches: batchesOfLogs(logs), counts: await countsByVersion(basa), versions };
  const found = reports.flatMap(({ problems }, n) => problems.map((problem) => `${basa.authorities[n]}: ${problem}`));
  const shared = [...buffers.holders].filter(([, users]) => users.size > 1);
  for (const [slot] of shared) found.push(`authorities gave keys of one slot to several users: ${slot}`);
  const endings: Record<Ending, number> = {
    included: 0,
    excluded: 0,
    aborted: 0,
    quarantined: 0,
    expired: 0,
    discarded: 0,
    unknown: 0,
    lost: 0,
  };
  const once = new Map(told.map((one) => [one.joinTag, one]));
  const reasons = new Map<string, number>();
  const ask = basa.policy.oneShot === undefined ? endingOf : shotEndingOf;
  for (const one of once.values()) {
    const { ending, facts, why } = await ask(basa, evidence, one, retired);
    endings[ending]++;
    if (why !== undefined) reasons.set(why, (reasons.get(why) ?? 0) + 1);
    if (ending === 'lost') found.push(`lost: the update at ${one.place}, slot ${one.slot} of ${one.ctx}: ${facts}`);
  }
  const doubled = [...doubledPlaces(basa.policy.dimension, evidence.counts), ...batchProblems(evidence)];
  const stuck = await stuckNames(basa, told);
  found.push(...doubled);
  for (const name of stuck) found.push(`stuck: ${name}`);
  return {
    acknowledged: once.size,
    ...endings,
    doubled: doubled.length,
    keysTwice: reports.reduce((sum, { doubleIssues }) => sum + doubleIssues, shared.length),
    stuck: stuck.length,
    versions: evidence.counts.length - 1,
    leftOutFor: [...reasons].map(([why, count]) => `${why} ${count}`).join(', '),
    problems: found,
  };
}

/** Buffers, or one-shot uploads, that have not come to an end. */
export function stuckNames(basa: TestProcesses, told: readonly Acknowledged[]): Promise<readonly string[]> {
  return basa.policy.oneShot === undefined ? stuckBuffers(basa) : stuckShots(basa, told);
}

async function endingOf(
  basa: TestProcesses,
  { versions, counts }: Evidence,
  { place, ctx, joinTag }: Acknowledged,
  retired: Retired | undefined,
): Promise<Ended> {
  const commitment = { ctx: fromHex(ctx) as Ctx, joinTag: fromHex(joinTag) as JoinTag };
  const now = await outcomesOf(basa.urls, basa.authorities, ctx);
  const isKnown = agreedOutcome(nodeSuite, basa.policy, commitment.ctx, now)?.status !== 'unknown';
  // A successor does not have the records of its predecessor.
  const [council, outcomes] =
    isKnown || retired === undefined
      ? [basa.policy, now]
      : [retired.policy, await outcomesOf(basa.urls, retired.names, ctx)];
  const verdict = judgeOutcome({ suite: nodeSuite, council }, commitment, outcomes).kind;
  const isAborted = agreedOutcome(nodeSuite, council, commitment.ctx, outcomes)?.status === 'aborted';
  const version = versions.get(ctx);
  const counted = version === undefined ? 0 : (counts[version]?.[place] ?? 0);
  const fate = await fateOf(basa, ctx, joinTag);
  const said = outcomes.map(({ outcome }) => outcome.status).join(', ');
  const facts = `${verdict} by ${said}; ${counted} times in version ${version}; the server says ${fate}`;
  const told =
    verdict === 'free' ? (isAborted ? 'aborted' : 'excluded') : version === undefined ? 'quarantined' : verdict;
  if (retired !== undefined && !isKnown && fate === 'unknown' && counted === 0 && version === undefined)
    return { ending: 'unknown', facts };
  const isSo = verdict !== 'refused' && fate === told && counted === (told === 'included' ? 1 : 0);
  return { ending: isSo ? (told as Ending) : 'lost', facts };
}

/** The outcome of the buffer according to each authority. */
function outcomesOf(
  urls: TestProcesses['urls'],
  authorities: readonly AuthorityName[],
  ctx: string,
): Promise<readonly OutcomeOf[]> {
  return Promise.all(
    authorities.map(async (name, authority) => {
      const response = await fetch(new URL(AUTHORITY_PATH.outcome(ctx), urls[name]));
      return { authority, outcome: outcomeCodec.decode(new Uint8Array(await response.arrayBuffer())) };
    }),
  );
}

/** The server's word, which must be that of the authorities. */
async function fateOf({ urls }: TestProcesses, ctx: string, joinTag: string): Promise<string | undefined> {
  const response = await fetch(new URL(SERVER_PATH.fate(ctx, joinTag), urls.server));
  return ((await response.json()) as { readonly fate?: string }).fate;
}

/** Coordinates that more than one update, or less than none, went into. */
function doubledPlaces(dimension: number, counts: readonly Int32Array[]): readonly string[] {
  const places = Array.from({ length: dimension }, (_, place) => place).filter((place) => {
    const each = counts.map((version) => version[place] ?? 0);
    return each.some((count) => count < 0) || each.reduce((sum, count) => sum + count, 0) > 1;
  });
  return places.map((place) => `counted twice: the update at ${place}`);
}

/**
 * Buffers that were drawn and have not ended, at the server or at an authority. An authority may have a buffer that the server does not
 * know, because of a crash. An authority that was down may not know that the others closed a buffer.
 */
async function stuckBuffers(basa: TestProcesses): Promise<readonly string[]> {
  const { drawn } = buffersOfLogs(await basa.authority.logs());
  const stuck: string[] = [];
  for (const ctx of drawn.keys()) {
    const status = await statusAt(basa, ctx);
    const isOpen = async (): Promise<boolean> =>
      (await outcomesOf(basa.urls, basa.authorities, ctx)).some(({ outcome }) => outcome.status === 'open');
    if (status === undefined ? await isOpen() : !ENDED.includes(status)) stuck.push(ctx);
  }
  return stuck;
}

/** Undefined for a buffer that the server does not know. */
async function statusAt({ urls, token }: TestProcesses, ctx: string): Promise<string | undefined> {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(new URL(SERVER_PATH.buffer(ctx), urls.server), { headers });
  return response.status === 404 ? undefined : ((await response.json()) as { readonly status: string }).status;
}
