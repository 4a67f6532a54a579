/** One real message of every kind, and every record of a device, from runs of both modes, as input for fuzzing decoders. */
import { granted } from '@basa/protocol';
import { DeviceRecord } from '@basa/protocol/internal/one-shot/ledger.ts';
import { DeviceExport, Revocations } from '@basa/protocol/internal/wire/devices.ts';
import { PaperTicket, paperMessages } from '@basa/protocol/paper';
import { TaskPolicy } from '@basa/protocol/policy';
import {
  Batch,
  BatchVoteRequest,
  Certificate,
  type Codec,
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
import { PaperFederation, type ShotDevice, type StoredShot } from '@basa/simulator';
import { nodeEnvironment } from '@basa/simulator/node';
import { ShotWorld } from './one-shot/shot-world.ts';

/** A real message with its codec. */
interface SampleMessage {
  readonly name: string;
  readonly codec: Codec<object>;
  readonly bytes: Uint8Array;
}

function sample<T extends object>(codec: Codec<T>, value: T | undefined): SampleMessage {
  if (value === undefined) throw new Error(`no sample of ${codec.name}`);
  return { name: codec.name, codec: codec as unknown as Codec<object>, bytes: codec.encode(value) };
}

const SIGNATURE = new Uint8Array(64).fill(1);

export function sampleMessages(): readonly SampleMessage[] {
  const world = new ShotWorld({ count: 1 });
  const [device] = world.contributed(3);
  world.server.inspect();
  const batch = world.server.batch();
  const vote = granted(world.server.voteBy(0, batch));
  const privacy = { noiseMultiplier: 1, colluders: 1, budget: { delta: 1e-6, participations: 16 } };
  return [
    sample(Certificate, device?.own.certificate),
    sample(TaskPolicy, world.policy),
    sample({ ...TaskPolicy, name: 'private policy' }, { ...world.policy, privacy }),
    sample(Vote, vote),
    sample(Revocations, { users: device === undefined ? [] : [device.own.user], signature: SIGNATURE }),
    sample(DeviceExport, {
      ...{ task: world.task, successor: world.task, at: world.now, signature: SIGNATURE },
      devices: [{ deviceKey: new Uint8Array(32).fill(1), isRevoked: true, participations: 7 }],
    }),
    ...shotSamples(),
    ...paperSamples(),
  ];
}

function paperSamples(): readonly SampleMessage[] {
  const federation = new PaperFederation(nodeEnvironment, { bufferSize: 4 });
  const user = new Uint8Array(32).fill(7) as never;
  const connection = granted(federation.connect(user));
  const { upload } = federation.contribute(user, connection, new Float32Array(4).fill(1));
  const messages = paperMessages(4, federation.sealings.sealing);
  const sealed = upload.ciphertexts.slice(0, 2);
  return [
    sample(PaperTicket, connection.ticket),
    sample(messages.connectAnswer, { ticket: connection.ticket, inbox: sealed, version: 7 }),
    sample(messages.upload, upload),
  ];
}

/** Of the one-shot mode. */
function shotSamples(): readonly SampleMessage[] {
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
