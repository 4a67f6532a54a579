/** Batches of the one-shot mode as vectors, from the statements of the authorities to the sum. */
import { toHex } from '@basa/masking';
import { granted } from '@basa/protocol';
import { sumPlan } from '@basa/protocol/internal/one-shot/server.ts';
import { judgeSum } from '@basa/protocol/internal/one-shot/sums.ts';
import { Revocations, signRevocations } from '@basa/protocol/internal/wire/devices.ts';
import { sumRules } from '@basa/protocol/internal/wire/input.ts';
import { givenNameOf } from '@basa/protocol/internal/wire/upload.ts';
import { type Sealing, TaskPolicy } from '@basa/protocol/policy';
import {
  Batch,
  BatchVoteRequest,
  batchCtxOf,
  InspectAnswer,
  InspectRequest,
  modelNameOf,
  ReleaseAnswer,
  ReleaseRequest,
  ShotUpload,
  ShownModel,
  Vote,
} from '@basa/protocol/wire';
import type { ShotDevice, StoredShot } from '@basa/simulator';
import { ShotWorld } from '../core/one-shot/shot-world.ts';

export function oneShotVector(name: string, count: 1 | 4, sealing: Sealing = 'x25519'): object {
  const world = new ShotWorld({ count, dimension: 4, minimum: 2, seed: 45, shot: { sealing } });
  const { server, policy, task, environment } = world;
  const { suite } = environment.tools;
  const shown = ShownModel.encode(world.shown());
  const secrets = world.authorities.map(({ units }) => toHex([...units.values()][0]?.secret as Uint8Array));
  const given = [0, 1].map((n) => {
    const device = world.device();
    let seeds: readonly string[] = [];
    device.onMask = ({ plan }) => {
      seeds = plan.terms.map(({ seed }) => toHex(seed.reveal()));
    };
    granted(device.contribute());
    return { device, seeds, shot: server.shots[n] as StoredShot };
  });
  given.sort((one, other) => (toHex(one.shot.name) < toHex(other.shot.name) ? -1 : 1));
  const shots = given.map(({ shot }) => shot);
  const users = given.map(({ device, seeds, shot }) => userVector(device, seeds, shot));
  const inspectRequest = InspectRequest.encode(server.inspectRequest(shots));
  const inspected = world.indices.map((index) => granted(server.inspectBy(index, shots)));
  const batch = server.batch(shots);
  const voteRequest = BatchVoteRequest.encode(server.voteRequest(batch));
  const voted = world.indices.map((index) => granted(server.voteBy(index, batch)));
  const votes = server.votes(batch);
  const plan = sumPlan(server.closing(batch), 0) ?? [];
  const releases = plan.map(({ authority, wanted }) => {
    const request = server.releaseRequest(batch, { votes, wanted });
    const { answer, vectors } = granted(server.releaseBy(authority, batch, { votes, wanted }));
    return {
      authority,
      request: toHex(ReleaseRequest.encode(request)),
      answer: toHex(ReleaseAnswer.encode(answer)),
      vectors: vectors.map(toHex),
    };
  });
  const verdict = judgeSum(sumRules(policy, 0), server.release(batch, votes), 2);
  if (verdict.kind !== 'good') throw new Error(verdict.why);
  const { header } = (shots[0] as StoredShot).upload;
  const { ports } = world.authority(0).base;
  return {
    name,
    policy: toHex(TaskPolicy.encode(policy)),
    task: toHex(task),
    authorityKeys: policy.authorities.map(toHex),
    serverKey: toHex(policy.serverKey),
    model: toHex(modelNameOf(suite, world.shown().statement)),
    shown: toHex(shown),
    secrets,
    users,
    inspectRequest: toHex(inspectRequest),
    inspectAnswers: inspected.map((answer) => toHex(InspectAnswer.encode(answer))),
    batch: toHex(Batch.encode(batch)),
    ctx: toHex(batchCtxOf(suite, batch)),
    given: toHex(givenNameOf(suite, task, header.model, header.user)),
    voteRequest: toHex(voteRequest),
    votes: voted.map((vote) => toHex(Vote.encode(vote))),
    releases,
    revocations: toHex(Revocations.encode(signRevocations(ports, [header.user]))),
    sum: [...verdict.sum],
    weightSum: verdict.weightSum,
  };
}

function userVector(device: ShotDevice, seeds: readonly string[], { upload, body }: StoredShot): object {
  return {
    deviceKey: toHex(device.own.signer.publicKey),
    seeds,
    input: [...(device.own.input as Uint32Array)],
    upload: toHex(ShotUpload.encode(upload)),
    body: toHex(body),
  };
}
