/** What became of everything, judged from outside: by what clients were told, what the authority signs, what models contain. */
import { verifyLog } from '@basa/authority';
import { fromHex } from '@basa/masking';
import type { Ctx, JoinTag } from '@basa/protocol';
import { AUTHORITY_PATH, judgeOutcome, outcomeCodec, SERVER_PATH } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import type { LoggedBuffers } from '@basa/testkit/processes/authority-log.ts';
import { buffersOfLog } from '@basa/testkit/processes/authority-log.ts';
import type { Stage } from '@basa/testkit/processes/stage.ts';
import { countsByVersion } from '@basa/testkit/processes/sums.ts';
import type { Acknowledged } from './fleet.ts';

type Ending = 'included' | 'excluded' | 'aborted' | 'quarantined' | 'lost';

export interface Verdict extends Readonly<Record<Ending, number>> {
  readonly acknowledged: number;
  readonly doubled: number;
  readonly keysTwice: number;
  readonly stuck: number;
  readonly versions: number;
  /** What is wrong, in words. */
  readonly problems: readonly string[];
}

const ENDED = ['included', 'quarantined', 'aborted', 'unknown'];

export async function judge(stage: Stage, told: readonly Acknowledged[]): Promise<Verdict> {
  const [log = new Uint8Array()] = await stage.authority.logs();
  const { doubleIssues, problems } = verifyLog(log, fromHex(stage.authorityKey) ?? new Uint8Array());
  const buffers = buffersOfLog(log);
  const counts = await countsByVersion(stage);
  const found: string[] = [...problems];
  const endings = { included: 0, excluded: 0, aborted: 0, quarantined: 0, lost: 0 };
  const once = new Map(told.map((one) => [one.joinTag, one]));
  for (const one of once.values()) {
    const ending = await endingOf(stage, buffers, counts, one);
    endings[ending]++;
    if (ending === 'lost') found.push(`lost: the update at ${one.place}, slot ${one.slot} of ${one.ctx}`);
  }
  const doubled = doubledPlaces(stage.policy.dimension, counts);
  const stuck = await stuckBuffers(stage);
  for (const place of doubled) found.push(`counted twice: the update at ${place}`);
  for (const ctx of stuck) found.push(`stuck: the buffer ${ctx}`);
  return {
    acknowledged: once.size,
    ...endings,
    doubled: doubled.length,
    keysTwice: doubleIssues,
    stuck: stuck.length,
    versions: counts.length - 1,
    problems: found,
  };
}

async function endingOf(
  stage: Stage,
  { versions }: LoggedBuffers,
  counts: readonly Int32Array[],
  { place, ctx, joinTag }: Acknowledged,
): Promise<Ending> {
  const response = await fetch(new URL(AUTHORITY_PATH.outcome(ctx), stage.urls.authority));
  const outcome = outcomeCodec.decode(new Uint8Array(await response.arrayBuffer()));
  const ports = { suite: nodeSuite, council: stage.policy };
  const commitment = { ctx: fromHex(ctx) as Ctx, joinTag: fromHex(joinTag) as JoinTag };
  const verdict = judgeOutcome(ports, commitment, [{ authority: 0, outcome }]);
  if (verdict.kind === 'refused') return 'lost';
  const version = versions.get(ctx);
  const counted = version === undefined ? 0 : (counts[version]?.[place] ?? 0);
  const fate = await fateOf(stage, ctx, joinTag);
  if (verdict.kind === 'free') {
    const ending = outcome.status === 'aborted' ? 'aborted' : 'excluded';
    return counted === 0 && fate === ending ? ending : 'lost';
  }
  if (version === undefined) return fate === 'quarantined' ? 'quarantined' : 'lost';
  return counted === 1 && fate === 'included' ? 'included' : 'lost';
}

/** The server's word, which must be the authority's. */
async function fateOf({ urls }: Stage, ctx: string, joinTag: string): Promise<string | undefined> {
  const response = await fetch(new URL(SERVER_PATH.fate(ctx, joinTag), urls.server));
  return ((await response.json()) as { readonly fate?: string }).fate;
}

/** Coordinates that more than one update, or less than none, went into. */
function doubledPlaces(dimension: number, counts: readonly Int32Array[]): readonly number[] {
  return Array.from({ length: dimension }, (_, place) => place).filter((place) => {
    const each = counts.map((version) => version[place] ?? 0);
    return each.some((count) => count < 0) || each.reduce((sum, count) => sum + count, 0) > 1;
  });
}

/** Buffers that were drawn and have not come to an end, at the authority or at the server. */
export async function stuckBuffers(stage: Stage): Promise<readonly string[]> {
  const [log = new Uint8Array()] = await stage.authority.logs();
  const { drawn } = buffersOfLog(log);
  const stuck: string[] = [];
  for (const ctx of drawn.keys()) {
    const asked = await fetch(new URL(AUTHORITY_PATH.outcome(ctx), stage.urls.authority));
    const { status } = outcomeCodec.decode(new Uint8Array(await asked.arrayBuffer()));
    if (status === 'open' || !(await isEndedAt(stage, ctx))) stuck.push(ctx);
  }
  return stuck;
}

async function isEndedAt({ urls, token }: Stage, ctx: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(new URL(SERVER_PATH.buffer(ctx), urls.server), { headers });
  if (response.status === 404) return true; // a crash before the server learnt of it
  return ENDED.includes(((await response.json()) as { readonly status: string }).status);
}
