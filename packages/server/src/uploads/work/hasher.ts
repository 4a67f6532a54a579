/** The thread that hashes long bodies: blocks are in shared memory, and every request gets one answer, in order. */
import { createHash, type Hash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';

/** A block of a body, the end of the body (which requests the digest), or a notice that the digest is no longer needed. */
export type HashQuestion =
  | { readonly body: number; readonly block: Uint8Array }
  | { readonly body: number; readonly end: 'digest' | 'forget' };

/** The digest, if it was requested. */
export type HashAnswer = Uint8Array | undefined;

const hashes = new Map<number, Hash>();

parentPort?.on('message', (question: HashQuestion) => {
  const hash = hashes.get(question.body) ?? createHash('sha256');
  hashes.set(question.body, hash);
  if ('block' in question) hash.update(question.block);
  else hashes.delete(question.body);
  const answer: HashAnswer = 'end' in question && question.end === 'digest' ? hash.digest() : undefined;
  parentPort?.postMessage(answer);
});
