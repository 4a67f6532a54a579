/** One real message and record of every kind of the one-shot mode. */
import { granted } from '@basa/protocol';
import { DeviceRecord } from '@basa/protocol/internal/one-shot/ledger.ts';
import { TaskPolicy } from '@basa/protocol/policy';
import {
  Batch,
  BatchVoteRequest,
  Epoch,
  InspectAnswer,
  InspectRequest,
  LiveEpochs,
  MaskSum,
  ModelStatement,
  ReleaseAnswer,
  ReleaseRequest,
  ShotHeader,
  ShotUpload,
  ShownModel,
  Vote,
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
    sample({ name: 'one-shot policy', encode: TaskPolicy.encode, decode: TaskPolicy.decode }, world.policy),
    sample(Epoch, shown.epochs[0] as Epoch),
    sample({ ...Epoch, name: 'epoch with ML-KEM' }, hybridEpoch()),
    sample(ModelStatement, shown.statement),
    sample(LiveEpochs, { epochs: shown.epochs }),
    sample(ShownModel, shown),
    sample(ShotHeader, upload.header),
    sample(ShotUpload, upload),
    sample(InspectRequest, inspect),
    sample(InspectAnswer, answer),
    sample({ ...InspectAnswer, name: 'inspectAnswer bad' }, badAnswer(world)),
    sample(Batch, batch),
    sample(BatchVoteRequest, server.voteRequest(batch)),
    sample(Vote, vote),
    sample(ReleaseRequest, release),
    sample(ReleaseAnswer, released),
    sample(MaskSum, released.sums[0] as (typeof released.sums)[number]),
    ...[...device.own.ledgerRecords, ...device.own.records].map((entry) =>
      sample({ ...DeviceRecord, name: `device ${entry.kind}` }, entry),
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
