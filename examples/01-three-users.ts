/**
 * The paper's three-user case, readable in one minute: users upload one after the other, each masks its vector
 * with seeds it shares with earlier and later users, and only the sum comes out.
 * Sealing is transparent here, so that everything can be seen; the real one is attribute-based encryption.
 *
 * Run it with `node --import ./scripts/typescript.mjs --conditions=@basa/source examples/01-three-users.ts`.
 */
import {
  addInPlace,
  applyMasksInPlace,
  type MaskTerm,
  plainVectorKernel,
  RING_32,
  Secret,
  unsafeTransparentSealing,
} from '@basa/masking';
import { createNodeKeystream, createWasmVectorKernel, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';

const K = 3; // the buffer has three positions
const inputs = [Uint32Array.of(1, 0, 7, 100), Uint32Array.of(2, 0, 7, 200), Uint32Array.of(3, 5, 7, 300)];

const tools = {
  suite: nodeSuite,
  kernel: createWasmVectorKernel() ?? plainVectorKernel(),
  keystream: createNodeKeystream(),
};
const buffer = nodeRandomBytes(32); // names this buffer; masks of another buffer differ
const sealing = unsafeTransparentSealing({ seed: 32, attribute: 1, context: 32 });
const attribute = (position: number): Uint8Array => Uint8Array.of(position);

const inbox: Uint8Array[][] = Array.from({ length: K }, () => []); // C_k: ciphertexts for the user at position k
const sum = new Uint32Array(4);

for (let k = 0; k < K; k++) {
  const terms: MaskTerm[] = [];
  for (const ciphertext of inbox[k] ?? []) {
    const seed = sealing.open(ciphertext, attribute(k), buffer); // s_ik from an earlier user
    if (seed === undefined) throw new Error('a seed did not open');
    terms.push({ seed: new Secret(seed), sign: -1 });
  }
  for (let j = k + 1; j < K; j++) {
    const seed = nodeRandomBytes(32); // s_kj for a later user, whoever that will be
    inbox[j]?.push(sealing.seal(seed, attribute(j), buffer));
    terms.push({ seed: new Secret(seed), sign: 1 });
  }
  const masked = Uint32Array.from(inputs[k] ?? []);
  applyMasksInPlace(masked, { modulus: RING_32, salt: buffer, terms }, tools); // y_k
  for (const { seed } of terms) seed.wipe();
  console.log(`user ${k} uploads ${show(masked)}`);
  addInPlace(sum, masked, RING_32, tools.kernel); // all the server ever adds up
}

const plainSum = inputs[0]?.map((_, n) => inputs.reduce((total, input) => total + (input[n] ?? 0), 0)) ?? sum;
const isRight = sum.every((element, n) => element === plainSum[n]);
console.log(`sum of the three ${show(sum)}`);
console.log(`plain sum        ${show(plainSum)}`);
console.log(isRight ? 'check: the masks cancel and the sum is exact' : 'check FAILED: the sums differ');
if (!isRight) process.exitCode = 1;

function show(vector: Uint32Array): string {
  return Array.from(vector, (element) => String(element).padStart(12)).join('');
}
