/** Messages of a succession: a term, the line of a task, and the records that authorities and devices keep of them. */
import {
  type Codec,
  decodeAuthorityRecord,
  encodeAuthorityRecord,
  lineCodec,
  millis,
  seenTermCodec,
  termCodec,
  termHashOf,
  termPlaceCodec,
} from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import type { Federation } from '@basa/simulator';
import { type SampleMessage, sample } from './sample.ts';
import { signedTerm } from './signed-terms.ts';

export function termSamples(world: Federation): readonly SampleMessage[] {
  const [successor, recovery] = [world.signer(), world.signer()];
  const recoveryHash = nodeSuite.sha256(recovery.publicKey);
  const policy = { ...world.policy, succession: { waitMs: 60_000, recoveryHash } };
  const signers = [world.authority.ports.signer];
  const term = signedTerm(policy, { key: successor, signers, recovery });
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
