/** Checks the outcome of uploads with the audit files of authorities, the models, and the answers of the server. */
import { SERVER_PATH } from '@basa/protocol/http';
import type { AuditedBatch } from '@basa/testkit/processes/audits.ts';
import type { TestProcesses } from '@basa/testkit/processes/test-processes.ts';
import type { Ended, Ending, Evidence } from './ending.ts';
import type { Acknowledged } from './fleet.ts';

const LEFT_OUT = ['refused', 'version-over'];

/** An update must be in exactly one final batch and counted once in its version, or in no batch and not counted. */
export async function endingOf(
  basa: TestProcesses,
  { final, counts, versions }: Evidence,
  { place, ctx: name }: Acknowledged,
): Promise<Ended> {
  const holders = [...final.values()].filter(({ uploads }) => uploads.some((upload) => upload.name === name));
  const version = versions.get(holders[0]?.ctx ?? '');
  const counted = version === undefined ? 0 : (counts[version]?.[place] ?? 0);
  const { fate, reason } = await fateOf(basa, name);
  const facts = `in ${holders.length} final batches, ${counted} times in version ${version}; the server says ${fate}`;
  const said: Ending = LEFT_OUT.includes(fate) ? 'discarded' : toldEnding(fate);
  const isIn = said === 'included' || said === 'quarantined';
  const isSo = holders.length === (isIn ? 1 : 0) && counted === (said === 'included' ? 1 : 0);
  return { ending: isSo ? said : 'lost', facts, ...(LEFT_OUT.includes(fate) && { why: reason ?? fate }) };
}

function toldEnding(fate: string): Ending {
  return fate === 'included' || fate === 'quarantined' ? fate : 'lost';
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

/** Uploads that were acknowledged, and wait. */
export async function stuckUploads(basa: TestProcesses, told: readonly Acknowledged[]): Promise<readonly string[]> {
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
async function fateOf({ task, urls }: TestProcesses, name: string): Promise<ToldFate> {
  const response = await fetch(new URL(SERVER_PATH.shotFate(task, name), urls.server));
  if (response.status === 404) return { fate: 'not known' };
  return { fate: `problem ${response.status}`, ...((await response.json()) as Partial<ToldFate>) };
}
