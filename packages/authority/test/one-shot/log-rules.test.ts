/** The rules of the one-shot mode in a log: each of them detects a violation, and an honest log breaks none. */
import {
  type AuthorityRecord,
  type Batch,
  batchCtxOf,
  type Ctx,
  type EpochBody,
  endorse,
  epochCodec,
  type JoinTag,
  millis,
  modelEntryCodec,
  ONE_SHOT_DEFAULTS,
  type UserId,
} from '@basa/protocol';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { describe, expect, it } from 'vitest';
import { LogRules } from '../../src/log/log-rules.ts';
import { TestServer } from '../parties.ts';

const signer = createNodeSigner(nodeRandomBytes(32));
const { policy, task } = new TestServer({
  authorities: [signer.publicKey],
});
const created: AuthorityRecord = { kind: 'task-created', policy };

type BatchList = Extract<AuthorityRecord, { kind: 'batch-voted' }>['list'];

function epoch(number: number, opens: number, by = signer) {
  const body: EpochBody = {
    task,
    authority: 0,
    number,
    key: new Uint8Array(32).fill(9),
    kemKey: undefined,
    opens: millis(opens),
    closes: millis(opens + 1000),
  };
  return { ...body, signature: by.sign(epochCodec.statement(body)) };
}

const opened = (number: number, opens: number): AuthorityRecord => ({
  kind: 'epoch-opened',
  epoch: epoch(number, opens),
});

const statementOf = (of: EpochBody): Uint8Array => epochCodec.statementHash(nodeSuite, of);

function ended(number: number, opens: number, at: number, how: 'given-up' | 'dead' = 'given-up'): AuthorityRecord {
  return { kind: 'epoch-ended', statement: statementOf(epoch(number, opens)), how, at: millis(at) };
}

const member = (n: number, tag = n, of: EpochBody = epoch(0, 10)) => ({
  user: new Uint8Array(32).fill(n) as UserId,
  joinTag: new Uint8Array(16).fill(tag) as JoinTag,
  statement: statementOf(of),
});

/** A batch of these users, final by the vote of the only authority. */
function final(number: number, users: readonly number[], at: number, tag?: number, of?: EpochBody): AuthorityRecord {
  const uploads = users.map((n) => new Uint8Array(32).fill(100 + n) as Ctx);
  const batch: Batch = { task, number, uploads };
  const members = users.map((n) => member(n, tag ?? n, of));
  const list = { batch, entry: new Uint8Array(32), version: 0, members };
  return { kind: 'batch-final', ctx: batchCtxOf(nodeSuite, batch), list, at: millis(at) };
}

function problemsOf(records: readonly AuthorityRecord[]): readonly string[] {
  const rules = new LogRules(signer.publicKey);
  return records.flatMap((entry) => rules.check(entry));
}

const start = [created, opened(0, 10)];
const branch: AuthorityRecord = { kind: 'branch-begun', branch: new Uint8Array(16), met: [] };

describe('an honest log', () => {
  it('breaks no rule', () => {
    const records = [
      ...start,
      final(0, [1, 2], 20),
      opened(1, 40),
      ended(0, 10, 50),
      final(1, [3, 5], 60, undefined, epoch(1, 40)),
      ended(1, 40, 70, 'dead'),
      ended(9, 99, 70, 'dead'),
      branch,
    ];
    expect(problemsOf(records)).toEqual([]);
    expect(problemsOf([...start, final(0, [1, 2, 3], 20)])).toEqual([]);
  });
});

describe('a log is not good', () => {
  const foreign: AuthorityRecord = {
    kind: 'epoch-opened',
    epoch: epoch(0, 10, createNodeSigner(nodeRandomBytes(32))),
  };
  const model = (version: number, sums: readonly Ctx[], spoilt: readonly Ctx[] = [], hash = 0): AuthorityRecord => {
    const previous = new Uint8Array(32);
    const body = { task, version, modelHash: new Uint8Array(32).fill(hash), sums, spoilt, previous };
    const endorsements = [{ authority: 0, signature: signer.sign(modelEntryCodec.statement(body)) }];
    return { kind: 'model-appended', entry: { ...body, endorsements } };
  };
  const ctxOf = (entry: AuthorityRecord): Ctx => (entry as Extract<AuthorityRecord, { kind: 'batch-final' }>).ctx;
  const twice = final(0, [1, 2], 20);
  const { list } = twice as { readonly list: BatchList };
  const [older] = list.members as [BatchList['members'][number]];
  const mixed = { ...list, members: [older, member(2, 2, epoch(1, 15))] };

  it.each<[string, readonly AuthorityRecord[], string]>([
    ['an epoch is opened twice', [...start, opened(0, 10)], 'the epoch was opened before'],
    ['a number does not rise', [...start, opened(0, 20)], 'epoch 0 does not follow those before it'],
    ['another signed the epoch', [created, foreign], 'the signature does not verify'],
    ['an epoch is of no task', [opened(0, 10)], 'it does not belong to this authority'],
    [
      'an epoch is of another seat',
      [created, { kind: 'epoch-opened', epoch: { ...epoch(0, 10), authority: 1 } }],
      'it does not belong to this authority',
    ],
    ['an epoch dies twice', [...start, ended(9, 99, 20, 'dead'), ended(9, 99, 20, 'dead')], 'the epoch was not open'],
    ['an epoch that never was is given up', [...start, ended(9, 99, 20)], 'the epoch was not open'],
    ['an epoch ends twice', [...start, ended(0, 10, 20), ended(0, 10, 30)], 'the epoch was not open'],
    [
      'a batch comes after its epoch',
      [...start, ended(0, 10, 20), final(0, [1, 2], 30)],
      'an epoch that it names is not open',
    ],
    [
      'one upload of a batch comes after its epoch',
      [...start, opened(1, 15), ended(1, 15, 16), { ...twice, list: mixed } as AuthorityRecord],
      'an epoch that it names is not open',
    ],
    [
      'a version is made of a batch that the only authority did not make final',
      [...start, model(0, []), { kind: 'batch-voted', list, at: millis(20) }, model(1, [ctxOf(twice)])],
      'its batch was not final',
    ],
    ['an upload is in two batches', [...start, final(0, [1, 2], 20), final(1, [2, 3], 30)], 'in a final batch'],
    [
      'a device gives two updates on a version',
      [...start, final(0, [1, 2], 20), final(1, [2, 3], 30, 7)],
      'final batch',
    ],
    ['a device is in a batch twice', [...start, final(0, [1, 1], 20)], 'it contains a device twice'],
    ['a batch is too small', [...start, final(0, [1], 20)], 'fewer or more uploads than the policy allows'],
    ['a batch is too large', [...start, final(0, [1, 2, 3, 4], 20)], 'fewer or more uploads than the policy allows'],
    ['time goes back', [...start, final(0, [1, 2], 5)], 'its time is before that of a record before it'],
    ['an epoch survives a roll-back', [...start, branch], 'an epoch is still open'],
    ['a batch is final twice', [...start, twice, twice], 'the batch was final before'],
    [
      'a batch makes two versions',
      [...start, model(0, []), twice, model(1, [ctxOf(twice)]), model(2, [ctxOf(twice)])],
      'made another version',
    ],
    [
      'a batch is left out as spoilt, and makes a version later',
      [...start, model(0, []), twice, model(1, [], [ctxOf(twice)]), model(2, [ctxOf(twice)])],
      'made another version',
    ],
    [
      'a version names a batch twice',
      [...start, model(0, []), twice, model(1, [ctxOf(twice), ctxOf(twice)])],
      'made another version',
    ],
    [
      'a version counts a batch that it calls spoilt',
      [...start, model(0, []), twice, model(1, [ctxOf(twice)], [ctxOf(twice)])],
      'made another version',
    ],
    [
      'spoilt batches alone change the model',
      [...start, model(0, []), twice, model(1, [], [ctxOf(twice)], 1)],
      'the version contains no good sum, but changed the model',
    ],
    ['a version comes from nothing', [...start, model(0, []), model(1, [])], 'it contains no sum'],
    ['the first version comes from a batch', [...start, twice, model(0, [ctxOf(twice)])], 'names sums'],
    [
      'a version is made of no batch in the log',
      [...start, model(0, []), model(1, [ctxOf(twice)])],
      'there is no such batch',
    ],
  ])('when %s', (_, records, problem) => {
    expect(problemsOf(records).join('; ')).toContain(problem);
  });
});

describe('with several authorities', () => {
  const others = [nodeRandomBytes(32), nodeRandomBytes(32)];
  const council = new TestServer({
    oneShot: { ...ONE_SHOT_DEFAULTS, tolerated: 1 },
    authorities: [signer.publicKey, ...others],
    threshold: 3,
  });
  const body: EpochBody = { ...epoch(0, 10), task: council.task };
  const begin: readonly AuthorityRecord[] = [
    { kind: 'task-created', policy: council.policy },
    { kind: 'epoch-opened', epoch: { ...body, signature: signer.sign(epochCodec.statement(body)) } },
  ];
  const listOf = (number: number, users: readonly number[]) => {
    const uploads = users.map((n) => new Uint8Array(32).fill(100 + n) as Ctx);
    return {
      batch: { task: council.task, number, uploads },
      entry: new Uint8Array(32),
      version: 0,
      members: users.map((n) => member(n, n, body)),
    };
  };
  const voted = (number: number, users: readonly number[]): AuthorityRecord => ({
    kind: 'batch-voted',
    list: listOf(number, users),
    at: millis(20),
  });
  const finalOf = (number: number, users: readonly number[], isListed: boolean): AuthorityRecord => {
    const list = listOf(number, users);
    const ctx = batchCtxOf(nodeSuite, list.batch);
    return { kind: 'batch-final', ctx, list: isListed ? list : undefined, at: millis(30) };
  };

  it('a batch that the others voted for is final, whatever this one voted for', () => {
    expect(problemsOf([...begin, voted(0, [1, 2]), finalOf(0, [1, 2], false)])).toEqual([]);
    expect(problemsOf([...begin, voted(0, [1, 2]), finalOf(1, [2, 3], true)])).toEqual([]);
  });

  const model = (version: number, sums: readonly Ctx[]): AuthorityRecord => {
    const empty = new Uint8Array(32);
    const entry = { task: council.task, version, modelHash: empty, sums, spoilt: [], previous: empty };
    const signature = signer.sign(modelEntryCodec.statement(entry));
    return { kind: 'model-appended', entry: { ...entry, endorsements: [{ authority: 0, signature }] } };
  };

  it('a version may be made of a batch of which this one does not know that it is final', () => {
    const ctx = batchCtxOf(nodeSuite, listOf(0, [1, 2]).batch);
    const problems = problemsOf([...begin, model(0, []), voted(0, [1, 2]), model(1, [ctx])]);
    expect(problems.join()).not.toContain('its batch');
  });

  it('a rollback allows no version without sums', () => {
    const dead: AuthorityRecord = { kind: 'epoch-ended', statement: statementOf(body), how: 'dead', at: millis(20) };
    const records = [...begin, model(0, []), dead, branch, model(1, [])];
    expect(problemsOf(records).join()).toContain('it contains no sum');
  });

  it.each<[string, readonly AuthorityRecord[], string]>([
    ['it votes twice for an upload', [voted(0, [1, 2]), voted(1, [2, 3])], 'an upload of it is in another batch'],
    ['it votes for an upload of a final batch', [finalOf(0, [1, 2], true), voted(1, [2, 3])], 'is in a final batch'],
    ['an upload is in two final batches', [finalOf(0, [1, 2], true), finalOf(1, [2, 3], true)], 'in another batch'],
    ['a final batch has no list of uploads', [finalOf(0, [1, 2], false)], 'does not list its uploads'],
  ])('a log is not good when %s', (_, records, problem) => {
    expect(problemsOf([...begin, ...records]).join('; ')).toContain(problem);
  });
});

it('the first version after a rollback of the only authority may come without sums and repeat any model in the log', () => {
  let previous = new Uint8Array(32);
  const bytes = (n: number) => new Uint8Array(32).fill(n);
  const model = (version: number, hash: number, users?: readonly number[]): readonly AuthorityRecord[] => {
    const batch = users === undefined ? [] : [final(version, users, 20)];
    const sums = batch.map((entry) => (entry as Extract<AuthorityRecord, { kind: 'batch-final' }>).ctx);
    const words = { task, version, modelHash: bytes(hash), sums, spoilt: [], previous };
    previous = nodeSuite.sha256(modelEntryCodec.statement(words)) as typeof previous;
    return [...batch, { kind: 'model-appended', entry: endorse(modelEntryCodec, policy, signer, words) }];
  };
  const branchOf = (n: number): AuthorityRecord => ({ ...branch, branch: new Uint8Array(16).fill(n) });
  const records = [
    ...start,
    ...model(0, 0),
    ...model(1, 1, [1, 2]),
    ended(0, 10, 30, 'dead'),
    branchOf(1),
    branchOf(2),
  ];
  const repeated = [...records, ...model(2, 0)];
  expect(problemsOf(repeated)).toEqual([]);
  const second = model(3, 0);
  expect(problemsOf([...repeated, ...second]).join()).toContain('it contains no sum');
  const other = model(4, 9);
  expect(problemsOf([...repeated, ...second, branchOf(3), ...other]).join()).toContain('but changed the model');
});

it('a vote beyond the budget of a device is not good; a batch that others made final beyond it is', () => {
  const privacy = { noiseMultiplier: 1, colluders: 0, delta: 1e-5, participations: 1 };
  const server = new TestServer({
    oneShot: { ...ONE_SHOT_DEFAULTS, tolerated: 1 },
    authorities: [signer.publicKey, nodeRandomBytes(32), nodeRandomBytes(32)],
    threshold: 3,
    privacy,
  });
  const body: EpochBody = { ...epoch(0, 10), task: server.task };
  /** Each on a version of its own, with uploads of its own. */
  const listOf = (version: number) => {
    const uploads = [1, 2].map((n) => new Uint8Array(32).fill(10 * version + n) as Ctx);
    const members = [1, 2].map((n) => member(n, 10 * version + n, body));
    const batch: Batch = { task: server.task, number: version, uploads };
    return { batch, entry: new Uint8Array(32).fill(version), version, members };
  };
  const begin: readonly AuthorityRecord[] = [
    { kind: 'task-created', policy: server.policy },
    { kind: 'epoch-opened', epoch: { ...body, signature: signer.sign(epochCodec.statement(body)) } },
    { kind: 'batch-voted', list: listOf(0), at: millis(20) },
  ];
  const ctx = batchCtxOf(nodeSuite, listOf(1).batch);
  expect(problemsOf([...begin, { kind: 'batch-final', ctx, list: listOf(1), at: millis(30) }])).toEqual([]);
  expect(problemsOf([...begin, { kind: 'batch-voted', list: listOf(1), at: millis(30) }])).toEqual([
    '2 devices are in more sums than their budget allows',
  ]);
});
