/** The rules by which uploads form a batch. Server and authorities use the same function. */
import { equalBytes, toHex } from '@basa/masking';
import type { TaskPolicy } from '../policy.ts';
import { type Refused, refused } from '../refusals.ts';
import { isHolder, oneShotOf, taskParts } from './parts.ts';
import { vouchersOf } from './policy.ts';
import type { ShotHeaderBody } from './upload.ts';

/** The authorities that every upload names: only they can sum the masks of the batch. */
export function namedByAll(headers: readonly ShotHeaderBody[]): readonly number[] {
  const [first, ...rest] = headers;
  const named = first?.epochs.map(({ authority }) => authority) ?? [];
  return named.filter((index) => rest.every(({ epochs }) => epochs.some(({ authority }) => authority === index)));
}

/** Returns the positions of the wrong uploads, if there are any. */
export function batchProblem(policy: TaskPolicy, headers: readonly ShotHeaderBody[]): Refused | undefined {
  const { oneShot, minimum, bufferSize } = policy;
  const invalid = (detail: string, slots: readonly number[] = []): Refused =>
    refused('batch-invalid', { detail, slots });
  if (oneShot === undefined) return invalid('the task is not of the one-shot mode');
  if (headers.length < minimum) return refused('too-few');
  if (headers.length > bufferSize) return invalid(`${headers.length} uploads exceed ${bufferSize}`);
  const repeated = repeats(headers.map(({ user }) => user));
  if (repeated.length > 0) return refused('duplicate-user', { slots: repeated });
  const { entry } = headers[0] as ShotHeaderBody;
  const others = headers.flatMap((header, n) => (equalBytes(header.entry, entry) ? [] : [n]));
  if (others.length > 0) return invalid('the uploads are of different versions of the model', others);
  const problem = councilProblem(policy, namedByAll(headers));
  return problem === undefined ? undefined : invalid(problem);
}

/** Returns a sentence that says why these authorities are too few for a batch: t vote for it, and f + 1 hold each part. */
export function councilProblem(policy: TaskPolicy, authorities: readonly number[]): string | undefined {
  const { length } = authorities;
  if (length < policy.threshold)
    return `only ${length} authorities can vote for all uploads, ${policy.threshold} are needed`;
  const needed = vouchersOf(oneShotOf(policy));
  const lone = taskParts(policy).find((part) => authorities.filter((index) => isHolder(part, index)).length < needed);
  return lone === undefined ? undefined : `too few authorities hold part ${lone} of every upload`;
}

function repeats(names: readonly Uint8Array[]): readonly number[] {
  const seen = new Set<string>();
  return names.flatMap((name, n) => {
    const isRepeat = seen.has(toHex(name));
    seen.add(toHex(name));
    return isRepeat ? [n] : [];
  });
}
