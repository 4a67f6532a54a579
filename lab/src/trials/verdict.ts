/**
 * The end of a trial: what waits is given time, and then the end of every acknowledged update is judged from outside, by the answers to
 * clients, the audit files of authorities and the contents of models.
 */
import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { SERVER_PATH } from '@basa/protocol/http';
import {
  type AuditedBatch,
  type AuditedBatches,
  countsByVersion,
  finalBatches,
  versionsOf,
} from '@basa/testkit/processes/results.ts';
import type { TestProcesses } from '@basa/testkit/processes/test-processes.ts';
import type { Acknowledged } from './fleet.ts';

/** The possible ends of an acknowledged update. `discarded`: in no sum, with the reason that the server recorded. */
type Ending = 'included' | 'quarantined' | 'discarded' | 'lost';

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

/** The evidence of the audit files and the models. */
interface Evidence {
  readonly final: AuditedBatches;
  /** By version, then by coordinate. */
  readonly counts: readonly Int32Array[];
  readonly versions: ReadonlyMap<string, number>;
}

const LOOKS = 1500;
const LOOK_MS = 200;
const QUIET_LOOKS = 25;
const LEFT_OUT = ['refused', 'version-over'];

/** Waits for this number of further versions that have updates in them. */
export async function grown(basa: TestProcesses, versions: number): Promise<void> {
  const made = async (): Promise<number> =>
    (await basa.server.versions(basa.task)).filter(({ accepted }) => accepted > 0).length;
  const enough = (await made()) + versions;
  while ((await made()) < enough) await sleep(LOOK_MS);
}

/** Opens every sum that can be opened; then all services start again with every deadline behind them. */
export async function settle(
  basa: TestProcesses,
  told: readonly Acknowledged[],
  { clockAhead, goAhead }: { readonly clockAhead: string; goAhead?: ((byMs: number) => Promise<void>) | undefined },
): Promise<void> {
  await quiet(basa, told);
  for (const name of [...basa.servers, ...basa.authorities]) await basa.stop(name);
  const aheadMs = 1000 + 2 * (basa.policy.oneShot?.epochMs ?? 0); // beyond the end of every time to vote
  await goAhead?.(aheadMs);
  const ahead = { BASA_AHEAD_MS: String(aheadMs) };
  for (const name of [...basa.authorities, ...basa.servers]) await basa.start(name, ahead, [clockAhead]);
  for (let look = 0; look < LOOKS && (await stuckUploads(basa, told)).length > 0; look++) await sleep(LOOK_MS);
}

/** Until what waits has been the same for a while, because it is too few for a batch. */
async function quiet(basa: TestProcesses, told: readonly Acknowledged[]): Promise<void> {
  let before = '';
  for (let look = 0, same = 0; look < LOOKS && same < QUIET_LOOKS; look++) {
    const waiting = await stuckUploads(basa, told);
    if (waiting.length === 0) return;
    same = waiting.join() === before ? same + 1 : 0;
    before = waiting.join();
    await sleep(LOOK_MS);
  }
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
  return {
    acknowledged: once.size,
    ...endings,
    doubled: doubled.length,
    stuck: stuck.length,
    versions: evidence.counts.length - 1,
    leftOutFor: [...reasons].map(([why, count]) => `${why} ${count}`).join(', '),
    problems: [...found, ...doubled, ...stuck.map((name) => `stuck: ${name}`)],
  };
}

/** An update must be in exactly one final batch and counted once in its version, or in no batch and not counted. */
async function endingOf(
  basa: TestProcesses,
  { final, counts, versions }: Evidence,
  { place, ctx: name }: Acknowledged,
): Promise<{ readonly ending: Ending; readonly facts: string; readonly why?: string }> {
  const holders = [...final.values()].filter(({ uploads }) => uploads.some((upload) => upload.name === name));
  const version = versions.get(holders[0]?.ctx ?? '');
  const counted = version === undefined ? 0 : (counts[version]?.[place] ?? 0);
  const { fate, reason } = await fateOf(basa, name);
  const facts = `in ${holders.length} final batches, ${counted} times in version ${version}; the server says ${fate}`;
  const isIn = fate === 'included' || fate === 'quarantined';
  const isOut = LEFT_OUT.includes(fate);
  const isSo = holders.length === (isIn ? 1 : 0) && counted === (fate === 'included' ? 1 : 0);
  const said: Ending = isIn ? fate : isOut ? 'discarded' : 'lost';
  return { ending: isSo ? said : 'lost', facts, ...(isOut && { why: reason ?? fate }) };
}

/** Finds uploads that two final batches share, and versions that contain more or less than their batches. */
export function batchProblems({ final, counts, versions }: Evidence): readonly string[] {
  const batches = [...final.values()];
  const namesOf = ({ uploads }: AuditedBatch): readonly string[] =>
    uploads.flatMap(({ name, user, joinTag, model }) => [
      `upload ${name}`,
      `tag ${user} ${joinTag}`,
      `given ${user} ${model}`,
    ]);
  const seen = new Set<string>();
  const shared = batches.flatMap(namesOf).filter((name) => seen.size === seen.add(name).size);
  const members = new Map<number, number>();
  for (const { ctx, uploads } of batches) {
    const version = versions.get(ctx);
    if (version !== undefined) members.set(version, (members.get(version) ?? 0) + uploads.length);
  }
  const wrong = [...members].filter(([version, uploads]) => {
    const counted = counts[version]?.reduce((sum, count) => sum + count, 0) ?? 0;
    return counted !== 0 && counted !== uploads;
  });
  return [
    ...shared.map((name) => `two final batches have the ${name}`),
    ...wrong.map(([version]) => `version ${version} does not hold the updates of its batches`),
  ];
}

/** Coordinates that more than one update, or less than none, went into. */
function doubledPlaces(dimension: number, counts: readonly Int32Array[]): readonly string[] {
  const places = Array.from({ length: dimension }, (_, place) => place).filter((place) => {
    const each = counts.map((version) => version[place] ?? 0);
    return each.some((count) => count < 0) || each.reduce((sum, count) => sum + count, 0) > 1;
  });
  return places.map((place) => `counted twice: the update at ${place}`);
}

/** Uploads that were acknowledged, and wait. */
async function stuckUploads(basa: TestProcesses, told: readonly Acknowledged[]): Promise<readonly string[]> {
  const stuck: string[] = [];
  for (const name of new Set(told.map(({ ctx }) => ctx)))
    if ((await fateOf(basa, name)).fate === 'waiting') stuck.push(name);
  return stuck;
}

interface ToldFate {
  readonly fate: string;
  readonly reason?: string;
}

/** The server's answer, or `not known` for an upload that is not in its database. */
export async function fateOf({ task, urls }: TestProcesses, name: string): Promise<ToldFate> {
  const response = await fetch(new URL(SERVER_PATH.shotFate(task, name), urls.server));
  if (response.status === 404) return { fate: 'not known' };
  return { fate: `problem ${response.status}`, ...((await response.json()) as Partial<ToldFate>) };
}

export function isAlive(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

export async function gone(child: ChildProcess | undefined): Promise<void> {
  if (child !== undefined && isAlive(child)) await new Promise((resolve) => child.once('exit', resolve));
}
