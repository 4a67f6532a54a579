/** The thread that hashes long bodies: blocks lie in shared memory, and every question gets one answer, in order. */
import { createHash, type Hash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';

/** A block of a body; or its end, which asks for the digest; or that nobody wants it any more. */
export type HashQuestion =
  | { readonly body: number; readonly block: Uint8Array }
  | { readonly body: number; readonly end: 'digest' | 'forget' };

/** The digest, where it was asked for. */
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
