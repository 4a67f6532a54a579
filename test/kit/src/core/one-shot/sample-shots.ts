/** One real message and record of every kind of the one-shot mode. */
import { granted } from '@basa/protocol';
import { batchCodec } from '@basa/protocol/internal/wire/upload.ts';
import { deviceRecordCodec } from '@basa/protocol/one-shot';
import { decodePolicy, encodePolicy } from '@basa/protocol/policy';
import {
  batchVoteRequestCodec,
  type Epoch,
  epochCodec,
  inspectAnswerCodec,
  inspectRequestCodec,
  liveEpochsCodec,
  maskSumCodec,
  modelStatementCodec,
  releaseAnswerCodec,
  releaseRequestCodec,
  shotHeaderCodec,
  shotUploadCodec,
  shownModelCodec,
  voteCodec,
} from '@basa/protocol/wire';
import type { ShotDevice, StoredShot } from '@basa/simulator';
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
  const vote = granted(server.voteBy(0, batch));
  const votes = server.votes(batch);
  const wanted = [
    { part: 2, vector: true },
    { part: 4, vector: false },
  ];
  const release = server.releaseRequest(batch, { votes, wanted });
  const released = granted(server.releaseBy(0, batch, { votes, wanted })).answer;
  const shown = world.shown();
  return [
    sample({ name: 'one-shot policy', encode: encodePolicy, decode: decodePolicy }, world.policy),
    sample(epochCodec, shown.epochs[0] as Epoch),
    sample({ ...epochCodec, name: 'epoch with ML-KEM' }, hybridEpoch()),
    sample(modelStatementCodec, shown.statement),
    sample(liveEpochsCodec, { epochs: shown.epochs }),
    sample(shownModelCodec, shown),
    sample(shotHeaderCodec, upload.header),
    sample(shotUploadCodec, upload),
    sample(inspectRequestCodec, inspect),
    sample(inspectAnswerCodec, answer),
    sample({ ...inspectAnswerCodec, name: 'inspectAnswer bad' }, badAnswer(world)),
    sample(batchCodec, batch),
    sample(batchVoteRequestCodec, server.voteRequest(batch)),
    sample(voteCodec, vote),
    sample(releaseRequestCodec, release),
    sample(releaseAnswerCodec, released),
    sample(maskSumCodec, released.sums[0] as (typeof released.sums)[number]),
    ...[...device.own.ledgerRecords, ...device.own.records].map((entry) =>
      sample({ ...deviceRecordCodec, name: `device ${entry.kind}` }, entry),
    ),
  ];
}

function hybridEpoch(): Epoch {
  const world = new ShotWorld({ count: 1, shot: { sealing: 'x25519+mlkem768' } });
  return granted(world.authority(0).epochs()).epochs[0] as Epoch;
}

/** The answer of an authority that has no unit any more. */
function badAnswer(world: ShotWorld) {
  const { server } = world;
  const { units } = world.authority(3);
  const kept = [...units];
  units.clear();
  const answer = granted(server.inspectBy(3, server.shots));
  for (const [name, unit] of kept) units.set(name, unit);
  return answer;
}
