/** A server's work on a batch: votes of all authorities, sums of masks by the plan, and the remaining sum of the inputs. */
import { addInPlace, subtractInPlace, unpackVector } from '@basa/masking';
import {
  agreedSum,
  batchCtxOf,
  type Endorsement,
  type Epoch,
  type MaskSumOf,
  shotLayout,
  sumPlan,
  type WantedSum,
} from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { kernel, type TestUpload } from '@basa/testkit/core/one-shot/shot-upload.ts';
import type { Authority } from '../../src/index.ts';
import { openRelease, type ShotWorld } from './shot-world.ts';

/** Every authority inspects, then votes. */
export async function votesOf(
  world: ShotWorld,
  authorities: readonly Authority[],
  uploads: readonly TestUpload[],
  epochs: readonly Epoch[],
): Promise<readonly Endorsement[]> {
  const votes: Endorsement[] = [];
  for (const authority of authorities) {
    await world.inspected(authority, uploads, epochs);
    votes.push(...(await world.voted(authority, world.batchOf(uploads))).endorsements);
  }
  return votes;
}

/** The vectors of one answer by their parts. */
export function vectorsOf(world: ShotWorld, wanted: readonly WantedSum[], bytes: Uint8Array): Map<number, Uint32Array> {
  const { elements, vectorBytes } = shotLayout(world.policy, []);
  const parts = wanted.filter(({ vector }) => vector).map(({ part }) => part);
  if (bytes.length !== parts.length * vectorBytes) throw new Error(`${bytes.length} bytes of vectors`);
  const entries = parts.map((part, n): [number, Uint32Array] => {
    const packed = bytes.subarray(n * vectorBytes, (n + 1) * vectorBytes);
    const opened = unpackVector(packed, elements, world.policy.modulus, kernel);
    if (!('vector' in opened)) throw new Error('the vector does not unpack');
    return [part, opened.vector as Uint32Array];
  });
  return new Map(entries);
}

/** The sum of the inputs, after all sums of masks were agreed on and taken off. */
export async function opened(
  world: ShotWorld,
  authorities: readonly Authority[],
  uploads: readonly TestUpload[],
  given: { readonly epochs: readonly Epoch[]; readonly votes: readonly Endorsement[] },
): Promise<Uint32Array> {
  const { policy, task } = world;
  const headers = uploads.map(({ shown }) => shown.header);
  const ctx = batchCtxOf(nodeSuite, world.batchOf(uploads));
  const total = new Uint32Array(shotLayout(policy, []).elements);
  for (const { masked } of uploads) addInPlace(total, masked, policy.modulus, kernel);
  const sums: MaskSumOf[] = [];
  const hashes = new Map<number, Uint8Array>();
  for (const { authority, wanted } of sumPlan({ policy, headers }, 0) ?? []) {
    const request = world.releaseRequest({ ...given, uploads, wanted });
    const answer = await world.release(authorities[authority] as Authority, request);
    if (answer.status !== 200) throw new Error(`not released: ${answer.code}`);
    const { answer: head, vectors } = openRelease(answer);
    sums.push(...head.sums.map((sum) => ({ authority, sum })));
    const { vectorBytes } = shotLayout(policy, []);
    const asked = wanted.filter(({ vector }) => vector);
    for (const [n, { part }] of asked.entries())
      hashes.set(part, nodeSuite.sha256(vectors.subarray(n * vectorBytes, (n + 1) * vectorBytes)));
    for (const vector of vectorsOf(world, wanted, vectors).values())
      subtractInPlace(total, vector, policy.modulus, kernel);
  }
  const batch = { suite: nodeSuite, task, policy, ctx, headers };
  for (const [part, hash] of hashes) {
    const agreed = agreedSum(batch, part, sums);
    if (agreed === undefined || Buffer.compare(agreed, hash) !== 0) throw new Error(`part ${part} is not agreed on`);
  }
  return total;
}
