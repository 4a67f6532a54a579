/** One real message of every kind, from a run of both modes, as input for fuzzing decoders. */
import { granted } from '@basa/protocol';
import { DeviceExport, Revocations } from '@basa/protocol/internal/wire/devices.ts';
import { PaperTicket, paperMessages } from '@basa/protocol/paper';
import { TaskPolicy } from '@basa/protocol/policy';
import { Certificate, Vote } from '@basa/protocol/wire';
import { PaperFederation } from '@basa/simulator';
import { nodeEnvironment } from '@basa/simulator/node';
import { shotSamples } from './one-shot/sample-shots.ts';
import { ShotWorld } from './one-shot/shot-world.ts';
import { type SampleMessage, sample } from './sample.ts';

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
