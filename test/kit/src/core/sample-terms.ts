/** Messages of a succession: a term, the line of a task, and the records that authorities and devices keep of them. */
import {
  acceptTerm,
  type Codec,
  currentHash,
  decodeAuthorityRecord,
  encodeAuthorityRecord,
  endorseTerm,
  lineCodec,
  millis,
  recoverTerm,
  seenTermCodec,
  type Term,
  termCodec,
  termHashOf,
  termPlaceCodec,
} from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import type { Federation } from '@basa/simulator';
import { type SampleMessage, sample } from './sample.ts';

export function termSamples(world: Federation): readonly SampleMessage[] {
  const [successor, recovery] = [world.signer(), world.signer()];
  const recoveryHash = nodeSuite.sha256(recovery.publicKey);
  const policy = { ...world.policy, succession: { waitMs: 60_000, recoveryHash } };
  const body = {
    task: world.task,
    number: 1,
    previous: currentHash(nodeSuite, policy),
    seat: 0,
    key: successor.publicKey,
    address: 'https://authority.example:8443',
    last: world.authority.core.head(),
    effective: millis(60_000),
  };
  const unsigned: Term = {
    ...body,
    accepted: acceptTerm(nodeSuite, successor, body),
    recovery: recoverTerm(nodeSuite, recovery, body),
    endorsements: [],
  };
  const term = endorseTerm(policy, world.authority.ports.signer, unsigned);
  const hash = termHashOf(nodeSuite, term);
  const codec: Codec<object> = {
    name: 'authority record',
    encode: (record) => encodeAuthorityRecord(record as never),
    decode: decodeAuthorityRecord,
  };
  const records = [
    { kind: 'term-signed', task: world.task, number: 1, hash },
    { kind: 'term-adopted', term },
    { kind: 'term-begun', task: world.task, number: 1 },
  ] as const;
  return [
    sample(termCodec, term),
    sample(lineCodec, { policy, terms: [term, { ...term, last: undefined, recovery: undefined }] }),
    sample(seenTermCodec, { term, seenAt: millis(5) }),
    sample(termPlaceCodec, { followed: 1, heardAt: millis(7) }),
    ...records.map((record) => ({ name: `record ${record.kind}`, codec, bytes: encodeAuthorityRecord(record) })),
  ];
}
