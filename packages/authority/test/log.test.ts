/** The log: verified offline with only the public key of the authority. */
import { concatBytes, fromHex, toHex } from '@basa/masking';
import {
  AUTHORITY_PATH,
  type AuthorityRecord,
  decodeAuthorityRecord,
  EMPTY_LOG_HASH,
  encodeAuthorityRecord,
  epochCodec,
  FIRST_BRANCH,
  type Head,
  headCodec,
  nextLogHash,
} from '@basa/protocol';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyLog } from '../src/index.ts';
import { ask, userOf } from './asking.ts';
import { AUDITOR, cleanUp, freshHome, OPERATOR, start } from './homes.ts';
import { finalBatch, shotScene } from './one-shot/shot-world.ts';

afterAll(cleanUp);
let bytes: Uint8Array;
let head: string;
let publicKey: Uint8Array;

beforeAll(async () => {
  const authority = await start(freshHome());
  const scene = await shotScene(authority, 3);
  const { server, enrolled } = scene.world;
  const { ctx } = await finalBatch(authority, { ...scene, uploads: scene.uploads.slice(0, 2) });
  await server.appendModel(authority, { version: 1, sums: [ctx] });
  const user = toHex(userOf((enrolled[2] as (typeof enrolled)[number]).device));
  await ask(authority, AUTHORITY_PATH.revocations, { body: { user }, token: OPERATOR });
  ({ bytes, head } = await ask(authority, AUTHORITY_PATH.log, { token: AUDITOR }));
  ({ publicKey } = authority);
});

/** The records of a log file. */
function recordsOf(log: Uint8Array): AuthorityRecord[] {
  const view = new DataView(log.buffer, log.byteOffset, log.length);
  const records: AuthorityRecord[] = [];
  for (let at = 0; view.getUint32(at, true) !== 0; ) {
    const length = view.getUint32(at, true);
    records.push(decodeAuthorityRecord(log.subarray(at + 4, at + 4 + length)));
    at += 4 + length;
  }
  return records;
}

/** A log of these records, with a head of somebody's own making. */
function logOf(records: readonly AuthorityRecord[]): Uint8Array {
  const length = (value: number) => new Uint8Array(new Uint32Array([value]).buffer);
  const body = {
    branch: FIRST_BRANCH,
    sequence: records.length,
    revocations: records.filter(({ kind }) => kind === 'device-revoked').length,
    hash: records.reduce((hash, entry) => nextLogHash(nodeSuite, hash, entry), EMPTY_LOG_HASH),
  };
  const signature = createNodeSigner(nodeRandomBytes(32)).sign(headCodec.statement(body));
  const framed = records.map(encodeAuthorityRecord).flatMap((entry) => [length(entry.length), entry]);
  return concatBytes(...framed, length(0), headCodec.encode({ ...body, signature }));
}

describe('the log of an authority', () => {
  it('is verified, and its events are listed', () => {
    const report = verifyLog(bytes, publicKey);
    expect(report).toMatchObject({ isGood: true, problems: [], records: 9, head });
    expect(report.counts).toMatchObject({
      'task-created': 1,
      'device-enrolled': 3,
      'device-revoked': 1,
      'epoch-opened': 1,
      'batch-final': 1,
      'model-appended': 2,
    });
  });

  it('does not verify with any byte changed, or cut off anywhere', () => {
    for (let at = 0; at < bytes.length; at += 5) {
      const changed = bytes.slice();
      changed[at] = (changed[at] as number) ^ 1;
      expect([at, verifyLog(changed, publicKey).isGood]).toEqual([at, false]);
    }
    for (let length = 0; length < bytes.length; length += 97) {
      expect(verifyLog(bytes.subarray(0, length), publicKey).isGood).toBe(false);
    }
  });

  it('of another authority does not verify', () => {
    expect(verifyLog(bytes, nodeRandomBytes(32)).problems).toContain('head: not signed by this authority');
  });

  it.each([
    ['an epoch opened twice', 'epoch-opened', 'the epoch was opened before'],
    ['a batch made final twice', 'batch-final', 'the batch was final before'],
    ['a version appended twice', 'model-appended', 'instead of'],
  ] as const)('that shows %s is found out', (_, kind, problem) => {
    const records = recordsOf(bytes);
    const repeated = records.filter((entry) => entry.kind === kind).at(-1) as AuthorityRecord;
    expect(verifyLog(logOf([...records, repeated]), publicKey).problems.join('\n')).toContain(problem);
  });

  it('whose versions do not follow from each other is detected', () => {
    const records = recordsOf(bytes).map(
      (entry): AuthorityRecord =>
        entry.kind === 'model-appended' && entry.entry.version === 1
          ? { ...entry, entry: { ...entry.entry, previous: new Uint8Array(32) } }
          : entry,
    );
    expect(verifyLog(logOf(records), publicKey).problems.join('\n')).toContain('does not follow the version before it');
  });

  it('whose head has a wrong number of revocations is detected', () => {
    const records = recordsOf(bytes).filter(({ kind }) => kind !== 'device-revoked');
    const short = logOf(records);
    const body = headCodec.decode(
      short.subarray(short.length - headCodec.encode(headCodec.decode(fromHex(head) as Uint8Array)).length),
    );
    const lying = concatBytes(
      short.subarray(0, short.length - headCodec.encode(body).length),
      headCodec.encode({ ...body, revocations: 5 }),
    );
    expect(verifyLog(lying, publicKey).problems.join()).toContain('counts 5 revocations, the log has 0');
  });

  it('that begins a branch with an epoch still open is found out', () => {
    const begun: AuthorityRecord = { kind: 'branch-begun', branch: nodeRandomBytes(16), met: [] };
    const { problems } = verifyLog(logOf([...recordsOf(bytes), begun]), publicKey);
    expect(problems.join('\n')).toContain('an epoch is still open');
  });

  it('that begins a branch by a head which is not its own, or by one twice, is found out', () => {
    const own = headCodec.decode(fromHex(head) as Uint8Array);
    const foreign = { ...own, signature: new Uint8Array(64) };
    const begun = (met: Head): AuthorityRecord => ({ kind: 'branch-begun', branch: nodeRandomBytes(16), met: [met] });
    const records = recordsOf(bytes);
    const ended = records.flatMap((entry): AuthorityRecord[] => {
      if (entry.kind !== 'epoch-opened') return [];
      const { opens } = entry.epoch;
      return [
        { kind: 'epoch-ended', statement: epochCodec.statementHash(nodeSuite, entry.epoch), how: 'dead', at: opens },
      ];
    });
    const problems = (...begins: AuthorityRecord[]) =>
      verifyLog(logOf([...records, ...ended, ...begins]), publicKey).problems.filter((text) =>
        text.startsWith('record'),
      );
    expect(problems(begun(own))).toEqual([]);
    expect(problems(begun(foreign)).join()).toContain('the head it met is not signed by this authority');
    expect(problems(begun(own), begun(own)).join()).toContain('the branch it met was retired before');
  });

  it.each([
    ['a revoked device that was never enrolled', 'device-enrolled', 'the device was never enrolled'],
    ['a batch of an epoch that was never opened', 'epoch-opened', 'an epoch that it names is not open'],
    ['a model from a batch that is not in it', 'batch-final', 'there is no such batch'],
  ] as const)('that shows %s is found out', (_, kind, problem) => {
    const records = recordsOf(bytes).filter((entry) => entry.kind !== kind);
    expect(verifyLog(logOf(records), publicKey).problems.join('\n')).toContain(problem);
  });
});
