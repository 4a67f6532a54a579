/** Helpers for tasks with one authority: the answers of several, given by one. */
import {
  type CloseAnswer,
  closeSteps,
  type Grant,
  type KeySource,
  type Refused,
  type SecureBuffer,
  type ServerPorts,
} from '@basa/protocol';

export const ALONE = 0;

/** Turns the only answer to a close into the server's grant. */
export function grantOf(ports: ServerPorts, buffer: SecureBuffer, answer: CloseAnswer): Grant | Refused {
  const steps = closeSteps(ports, buffer);
  let next = steps.next();
  while (next.done !== true) next = steps.next([{ authority: ALONE, answer }]);
  return next.value;
}

/** The inputs of the keys of the only part. */
export function keysAlone({ ctx, descriptor: { task, bufferSize, parts } }: Pick<SecureBuffer, 'ctx' | 'descriptor'>): {
  readonly ctx: SecureBuffer['ctx'];
  readonly authority: number;
  readonly source: KeySource;
} {
  const [part] = parts;
  if (part === undefined) throw new Error('a buffer without a part');
  return { ctx, authority: part.authority, source: { task, bufferSize, offer: part.offer } };
}
