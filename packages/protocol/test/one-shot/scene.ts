/** Scenes of a one-shot task, and uploads that a dishonest device or server would make. */
import { concatBytes, equalBytes, keysAtOnce, toHex } from '@basa/masking';
import { isRefused, type Refused } from '@basa/protocol';
import { partBinding, type ShotName, sealParts } from '@basa/protocol/internal/one-shot/parts.ts';
import { oneShotOf } from '@basa/protocol/internal/wire/one-shot-policy.ts';
import type { ShotHeaderBody } from '@basa/protocol/internal/wire/upload.ts';
import {
  type Batch,
  type Endorsement,
  type Epoch,
  heldParts,
  type InspectAnswer,
  shotLayout,
  uploadNameOf,
} from '@basa/protocol/wire';
import type { ShotDevice, StoredShot } from '@basa/simulator';
import { resigned } from '@basa/testkit/core/one-shot/resigned.ts';
import { type ShotOptions, ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';

export interface Inspected {
  readonly world: ShotWorld;
  readonly devices: readonly ShotDevice[];
  readonly shots: readonly StoredShot[];
  readonly batch: Batch;
}

/** X25519 keys that no statement may name: of low order, and a good point that is written in another way. */
export const WEAK_KEYS: readonly Uint8Array[] = [
  new Uint8Array(32),
  Uint8Array.from({ length: 32 }, (_, n) => (n === 0 ? 1 : 0)),
  // p, p + 1 and p + 9: 0, 1 and the base point.
  ...[0xed, 0xee, 0xf6].map((low) =>
    Uint8Array.from({ length: 32 }, (_, n) => (n === 0 ? low : n === 31 ? 0x7f : 0xff)),
  ),
];

/** This many uploads that every authority has inspected, and a batch of them; all in its order. */
export function inspected(options: ShotOptions = {}, count = 3): Inspected {
  const world = new ShotWorld(options);
  const given = world.contributed(count);
  const shots = [...world.server.shots].sort((one, other) => (toHex(one.name) < toHex(other.name) ? -1 : 1));
  const devices = shots.flatMap(
    ({ upload }) => given.find(({ own }) => equalBytes(own.user, upload.header.user)) ?? [],
  );
  if (world.server.inspect().some(({ kind }) => kind !== 'good')) throw new Error('not all uploads are good');
  return { world, devices, shots, batch: world.server.batch(shots) };
}

/** The same with every vote. */
export function voted(options: ShotOptions = {}, count = 3): Inspected & { readonly votes: readonly Endorsement[] } {
  const scene = inspected(options, count);
  return { ...scene, votes: scene.world.server.votes(scene.batch) };
}

/** Two uploads, of a victim and of a colluder. */
export function pair(): { world: ShotWorld; victim: StoredShot; own: StoredShot; colluder: ShotDevice } {
  const world = new ShotWorld();
  const [, colluder] = world.contributed(2) as [ShotDevice, ShotDevice];
  const [victim, own] = world.server.shots as [StoredShot, StoredShot];
  return { world, victim, own, colluder };
}

/** The upload with another header or other sealed parts, signed by this device. */
export function forged(
  device: ShotDevice,
  shot: StoredShot,
  change: Partial<ShotHeaderBody> = {},
  others?: Uint8Array,
): StoredShot {
  const { policy } = device.world;
  const vector = shot.body.subarray(0, shotLayout(policy, shot.upload.header.epochs).vectorBytes);
  const body = others === undefined ? shot.body : concatBytes(vector, others);
  const { certificate, signer } = device.own;
  const upload = { ...resigned(policy, signer, shot.upload, body, change), certificate };
  const name = uploadNameOf(device.world.environment.tools.suite, upload.header);
  return { name, upload, body, verdict: 'waiting', voters: undefined };
}

/** Seeds of one's own, sealed to the epochs of the upload for this name. */
export function ownParts(world: ShotWorld, shot: StoredShot, name: ShotName = shot.upload.header): Uint8Array {
  const { suite } = world.environment.tools;
  const epochs = world.server.epochsOf([shot]) as Epoch[];
  const held = heldParts(world.policy, shot.upload.header.epochs);
  const seeds = held.map((part) => ({
    seed: world.randomBytes(32),
    binding: partBinding(suite, name, part, epochs),
  }));
  return concatBytes(...keysAtOnce(suite, sealParts(suite, oneShotOf(world.policy).sealing, seeds)));
}

/** The verdict about each upload. */
export function verdicts(answer: InspectAnswer | Refused): readonly string[] {
  if (isRefused(answer)) throw new Error(answer.reason);
  return answer.verdicts.map(({ verdict, reason }) => (reason === undefined ? verdict : `${verdict}: ${reason}`));
}

/** The statements of every authority about one upload. */
export function saidOf(world: ShotWorld, shot: StoredShot): readonly string[] {
  return world.indices.flatMap((index) => verdicts(world.server.inspectBy(index, [shot])));
}

/** The authority takes the upload for one that it examined and found good. */
export function takenForGood(world: ShotWorld, index: number, { name, upload }: StoredShot): void {
  const { header } = upload;
  const examined = { kind: 'examined' as const, name, header, guards: [] };
  world.authority(index).examined.set(toHex(name), examined);
}
