/** Compiled and run in an empty project that installed the packages: their public entries, with no types of Node. */
import { abeIssuer, abeSealing, createMclGroup, type Group, setup } from '@basa/abe';
import { createNobleGroup } from '@basa/abe/noble';
import { applyMasksInPlace, type Planned, plainVectorKernel, planQuantizer, RING_32, Secret } from '@basa/masking';
import { createNodeKeystream, createWasmVectorKernel, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { webSuite } from '@basa/runtime/web';

const planned: Planned = planQuantizer({ summands: 10, clip: 1, resolution: { bits: 16 } });
const tools = {
  suite: nodeSuite,
  kernel: createWasmVectorKernel() ?? plainVectorKernel(),
  keystream: createNodeKeystream(),
};
const seed = nodeRandomBytes(32);
const vector = new Uint32Array(100_000);
for (const sign of [1, -1] as const) {
  applyMasksInPlace(vector, { modulus: RING_32, salt: seed, terms: [{ seed: new Secret(seed.slice()), sign }] }, tools);
}
if (planned.kind !== 'planned' || vector.some((word) => word !== 0) || webSuite.sha256(seed).length !== 32)
  throw new Error('wrong');

const groups: readonly Group[] = [await createMclGroup(), createNobleGroup()];
for (const group of groups) {
  const abe = { group, suite: nodeSuite, randomBytes: nodeRandomBytes };
  const { publicKey, masterKey } = setup(abe);
  const sealing = abeSealing({ ...abe, publicKey });
  const [attribute, context] = [nodeRandomBytes(32), nodeRandomBytes(32)];
  const opened = sealing.open(
    sealing.seal(seed, attribute, context),
    abeIssuer(masterKey, abe).issue(attribute),
    context,
  );
  if (opened?.join() !== seed.join()) throw new Error(`wrong seed from ${group.name}`);
}
