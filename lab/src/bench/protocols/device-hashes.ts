/** The bytes that a device hashes and checksums because of its vectors: the SDK gives one update to real services in this process, and counts. */

import { connect } from '@basa/client/internal/connect.ts';
import { inMemoryStoreForTests, nodeOutside } from '@basa/client/node';
import { toHex } from '@basa/masking';
import { createNodeSigner, nodeCrc32, nodeRandomBytes } from '@basa/runtime/node';
import { TestServices } from '@basa/testkit/services/test-services.ts';

/** Elements of the run that is timed and whose sum is checked. */
export const SMALL = 64;

export interface HashedBytes {
  /** Of the model that it downloads. */
  readonly model: number;
  /** From the trained update to the acknowledgement. */
  readonly update: number;
  /** Of CRC-32, in the same time. */
  readonly checksums: number;
}

export type DeviceHashes = ReadonlyMap<number, HashedBytes>;

/** By dimension, beyond the bytes that are hashed at `SMALL`: what is hashed at any dimension is measured there. */
export async function deviceHashes(dimensions: readonly number[]): Promise<DeviceHashes> {
  const services = await TestServices.open();
  try {
    const fixed = await hashedAt(services, SMALL);
    const found = new Map<number, HashedBytes>();
    for (const dimension of dimensions) {
      const { model, update, checksums } = await hashedAt(services, dimension);
      found.set(dimension, {
        model: model - fixed.model,
        update: update - fixed.update,
        checksums: checksums - fixed.checksums,
      });
    }
    return found;
  } finally {
    await services.close();
  }
}

async function hashedAt(services: TestServices, dimension: number): Promise<HashedBytes> {
  const task = await services.createTask({ dimension });
  let [bytes, checksums] = [0, 0];
  const outside = nodeOutside();
  const { suite } = outside;
  const sha256: typeof suite.sha256 = (...parts) => {
    for (const part of parts) bytes += part.length;
    return suite.sha256(...parts);
  };
  const digest: typeof outside.digest = (message) => {
    bytes += message.length;
    return outside.digest(message);
  };
  const crc32: typeof nodeCrc32 = (part, before) => {
    checksums += part.length;
    return nodeCrc32(part, before);
  };
  const client = await connect(
    { ...outside, crc32, digest, suite: { ...suite, sha256 } },
    inMemoryStoreForTests(createNodeSigner(nodeRandomBytes(32))),
    {
      server: services.server.url,
      authority: services.authority.url,
      authorityKey: toHex(services.authority.publicKey),
      task,
      token: await services.token(),
      floor: { minimum: 2, noNoise: true },
    },
  );
  try {
    [bytes, checksums] = [0, 0];
    const { version } = await client.model();
    const model = bytes;
    const delta = Float32Array.from({ length: dimension }, (_, n) => Math.sin(n));
    const given = await client.contribute(delta, { trainedOn: version });
    if (given.kind !== 'accepted') throw new Error(`the update of the benchmark was refused: ${given.reason}`);
    return { model, update: bytes - model, checksums };
  } finally {
    await client.close();
  }
}
