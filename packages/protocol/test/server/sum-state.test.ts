/** A batch is decided once: what each decision may follow, and what it changes. */
import {
  loseBatch,
  openShotBatch,
  recordGrant,
  recordIncluded,
  recordOpened,
  recordQuarantine,
  type ShotBatch,
} from '@basa/protocol/internal/one-shot/sums.ts';
import { reasonOf } from '@basa/simulator';
import { nodeFederation } from '@basa/testkit/core/tools.ts';
import { expect, it } from 'vitest';

const STATUSES = ['frozen', 'granted', 'opened', 'included', 'quarantined', 'aborted', 'unknown'] as const;
type Status = (typeof STATUSES)[number];

const { policy, task } = nodeFederation({ bufferSize: 4 });
const ctx = new Uint8Array(32).fill(7) as never;
const frozen = openShotBatch(policy, { ctx, batch: { task, uploads: [] }, version: 0, users: [] });
const votes = [{ authority: 0, signature: new Uint8Array(64) }];
const grant = recordGrant(frozen, { votes }).state;
const states: Record<Status, ShotBatch> = {
  frozen,
  granted: grant,
  opened: recordOpened(grant).state,
  included: recordIncluded(grant, 1).state,
  quarantined: recordQuarantine(grant, 'a test', [0]).state,
  aborted: loseBatch(frozen, 'aborted').state,
  unknown: loseBatch(grant, 'unknown').state,
};
const steps = {
  grant: (batch: ShotBatch) => recordGrant(batch, { votes }),
  open: (batch: ShotBatch) => recordOpened(batch),
  include: (batch: ShotBatch) => recordIncluded(batch, 1),
  quarantine: (batch: ShotBatch) => recordQuarantine(batch, 'a test', [0]),
  abort: (batch: ShotBatch) => loseBatch(batch, 'aborted'),
  lose: (batch: ShotBatch) => loseBatch(batch, 'unknown'),
};

/** `+` is recorded, `=` changes nothing, anything else is the reason of a refusal. */
function wordFor(step: { readonly answer: object; readonly records: readonly object[] }): string {
  const { answer, records } = step;
  if ('kind' in answer && answer.kind === 'refused') return reasonOf(answer);
  return records.length > 0 ? '+' : '=';
}

const late = 'already-decided';
const table: readonly [Status, Record<keyof typeof steps, string>][] = [
  ['frozen', { grant: '+', open: late, include: late, quarantine: late, abort: '+', lose: '+' }],
  ['granted', { grant: '=', open: '+', include: '+', quarantine: '+', abort: late, lose: '+' }],
  ['opened', { grant: '=', open: '=', include: '+', quarantine: '+', abort: late, lose: '+' }],
  ['included', { grant: '=', open: late, include: '=', quarantine: late, abort: late, lose: late }],
  ['quarantined', { grant: '=', open: late, include: late, quarantine: '=', abort: late, lose: late }],
  ['aborted', { grant: late, open: late, include: late, quarantine: late, abort: '=', lose: '=' }],
  ['unknown', { grant: late, open: late, include: late, quarantine: late, abort: '=', lose: '=' }],
];

it.each(table)('a decision on a batch that is %s is recorded, repeated or refused', (status, expected) => {
  expect(states[status].status).toBe(status);
  const found = Object.entries(steps).map(([name, step]) => [name, wordFor(step(states[status]))]);
  expect(Object.fromEntries(found)).toEqual(expected);
});

it('a batch that is lost is reported with its end', () => {
  const ended = (how: 'aborted' | 'unknown') => loseBatch(frozen, how).events.map(({ kind }) => kind);
  expect([ended('aborted'), ended('unknown')]).toEqual([['batch-aborted'], ['batch-unknown']]);
});
