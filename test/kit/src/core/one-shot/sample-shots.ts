/** One real message and record of every kind of the one-shot mode. */
import {
  batchCodec,
  batchVoteAnswerCodec,
  batchVoteRequestCodec,
  beaconCodec,
  decodeAuthorityRecord,
  decodePolicy,
  deviceRecordCodec,
  type Epoch,
  encodeAuthorityRecord,
  encodePolicy,
  epochCodec,
  inspectAnswerCodec,
  inspectRequestCodec,
  maskSumCodec,
  releaseAnswerCodec,
  releaseRequestCodec,
  shotHeaderCodec,
  shotUploadCodec,
  standingCodec,
  standingsCodec,
} from '@basa/protocol';
import type { ShotDevice, StoredShot } from '@basa/simulator';
import { granted } from '@basa/simulator';
import { type SampleMessage, sample } from '../sample.ts';
import { ShotWorld } from './shot-world.ts';

export function shotSamples(): readonly SampleMessage[] {
  const world = new ShotWorld({ minimum: 2 });
  const { server } = world;
  const [device] = world.contributed(2) as [ShotDevice];
  const [{ upload }] = server.shots as [StoredShot];
  const inspect = server.inspectRequest(server.shots);
  const answer = granted(server.inspectBy(0, server.shots));
  server.inspect();
  const batch = server.batch();
  const voteAnswer = granted(server.voteBy(0, batch));
  const votes = server.votes(batch);
  const wanted = [
    { part: 2, vector: true },
    { part: 4, vector: false },
  ];
  const release = server.releaseRequest(batch, { votes, wanted });
  const released = granted(server.releaseBy(0, batch, { votes, wanted })).answer;
  const [standing] = world.standings() as [ReturnType<typeof world.standings>[number]];
  return [
    sample({ name: 'one-shot policy', encode: encodePolicy, decode: decodePolicy }, world.policy),
    sample(epochCodec, standing.epoch),
    sample({ ...epochCodec, name: 'epoch with ML-KEM' }, hybridEpoch()),
    sample(beaconCodec, standing.beacon),
    sample(standingCodec, standing),
    sample(standingsCodec, { standings: world.standings() }),
    sample(shotHeaderCodec, upload.header),
    sample(shotUploadCodec, upload),
    sample(inspectRequestCodec, inspect),
    sample(inspectAnswerCodec, answer),
    sample({ ...inspectAnswerCodec, name: 'inspectAnswer bad' }, badAnswer(world)),
    sample(batchCodec, batch),
    sample(batchVoteRequestCodec, server.voteRequest(batch, { votes, models: server.models.slice(0, 1) })),
    sample(batchVoteAnswerCodec, voteAnswer),
    sample({ ...batchVoteAnswerCodec, name: 'batchVoteAnswer held' }, { vote: undefined, held: batch }),
    sample(releaseRequestCodec, release),
    sample(releaseAnswerCodec, released),
    sample(maskSumCodec, released.sums[0] as (typeof released.sums)[number]),
    ...recordSamples(world),
    ...[...device.own.ledgerRecords, ...device.own.records].map((entry) =>
      sample({ ...deviceRecordCodec, name: `device ${entry.kind}` }, entry),
    ),
  ];
}

function hybridEpoch(): Epoch {
  const world = new ShotWorld({ count: 1, shot: { sealing: 'x25519+mlkem768' } });
  return granted(world.authority(0).standing()).epoch;
}

/** The answer of an authority that has no secret any more. */
function badAnswer(world: ShotWorld) {
  const { server } = world;
  const { secrets } = world.authority(3);
  const kept = [...secrets];
  secrets.clear();
  const answer = granted(server.inspectBy(3, server.shots));
  for (const [name, secret] of kept) secrets.set(name, secret);
  return answer;
}

/** The epochs are given up at the end. */
function recordSamples(world: ShotWorld): readonly SampleMessage[] {
  const authority = world.authority(0);
  world.pass(4 * 3_600_000);
  authority.tick();
  const name = (kind: string) => ({
    name: `record ${kind}`,
    encode: encodeAuthorityRecord,
    decode: decodeAuthorityRecord,
  });
  const kinds = ['epoch-opened', 'epoch-ended', 'batch-voted', 'batch-final'];
  return kinds.map((kind) => {
    const entry = authority.base.log.find((one) => one.kind === kind);
    if (entry === undefined) throw new Error(`no record ${kind}`);
    return sample(name(kind), entry);
  });
}
