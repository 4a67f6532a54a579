/** The rules by which uploads form a batch. Server and authorities use the same function. */
import { equalBytes, toHex } from '@basa/masking';
import type { TaskPolicy } from '../policy.ts';
import { type Refused, refused } from '../refusals.ts';
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
  // Any t authorities of a task hold each part at least f + 1 times.
  const { length } = namedByAll(headers);
  if (length >= policy.threshold) return undefined;
  return invalid(`only ${length} authorities can vote for all uploads, ${policy.threshold} are needed`);
}

function repeats(names: readonly Uint8Array[]): readonly number[] {
  const seen = new Set<string>();
  return names.flatMap((name, n) => {
    const isRepeat = seen.has(toHex(name));
    seen.add(toHex(name));
    return isRepeat ? [n] : [];
  });
}
