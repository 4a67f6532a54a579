/** The rules that server and authorities judge with the same function: the sender of an upload, and the form of a batch. */
import { equalBytes, type Suite, toHex } from '@basa/masking';
import { isSigned } from '../wire/codec.ts';
import { type Certificate, certificateProblem, userIdOf } from '../wire/devices.ts';
import type { TaskId } from '../wire/fields.ts';
import type { TaskPolicy } from '../wire/policy.ts';
import { type Refused, refused } from '../wire/refusals.ts';
import { ShotHeader, type ShotHeaderBody } from '../wire/upload.ts';

/** A signed header that claims to belong to the device of this certificate. */
interface SentHeader {
  readonly certificate: Certificate;
  readonly header: ShotHeader;
}

/** The certificate belongs to the task, the header names its device, and is signed with its key. */
export function senderProblem(
  suite: Suite,
  { task, policy }: { readonly task: TaskId; readonly policy: TaskPolicy },
  { certificate, header }: SentHeader,
): Refused | undefined {
  if (!equalBytes(header.task, task)) return refused('certificate-invalid');
  const problem = certificateProblem(suite, { ...policy, task }, certificate);
  if (problem !== undefined) return problem;
  if (!equalBytes(header.user, userIdOf(suite, certificate.deviceKey))) return refused('tag-not-yours');
  return isSigned(suite, ShotHeader, header, certificate.deviceKey) ? undefined : refused('signature-invalid');
}

/** A batch that may mix versions of the model has at most this many. */
export const MAX_VERSIONS = 8;

/** The authorities that every upload names: only they can sum the masks of the batch. */
export function namedByAll(headers: readonly ShotHeaderBody[]): readonly number[] {
  const [first, ...rest] = headers;
  const named = first?.epochs.map(({ authority }) => authority) ?? [];
  return named.filter((index) => rest.every(({ epochs }) => epochs.some(({ authority }) => authority === index)));
}

/** Returns the positions of the wrong uploads, if there are any. */
export function batchProblem(policy: TaskPolicy, headers: readonly ShotHeaderBody[]): Refused | undefined {
  const { oneShot, minimum, bufferSize } = policy;
  const invalid = (detail: string, uploads: readonly number[] = []): Refused =>
    refused('batch-invalid', { detail, uploads });
  if (oneShot === undefined) return invalid('the task is not of the one-shot mode');
  if (headers.length < minimum) return refused('too-few');
  if (headers.length > bufferSize) return invalid(`${headers.length} uploads exceed ${bufferSize}`);
  const repeated = repeats(headers.map(({ user }) => user));
  if (repeated.length > 0) return refused('duplicate-user', { uploads: repeated });
  const versionMinimum = leastOfVersion(policy);
  const [first = [], ...others] = byVersion(headers);
  if (others.length > 0 && versionMinimum >= minimum)
    return invalid('the uploads are of different versions of the model', others.flat());
  if (others.length >= MAX_VERSIONS)
    return invalid(`the uploads are of more than ${MAX_VERSIONS} versions of the model`);
  const few = [first, ...others].filter(({ length }) => length < versionMinimum && others.length > 0);
  if (few.length > 0)
    return invalid(`a version of the model has fewer than ${versionMinimum} of the uploads`, few.flat());
  // Any t authorities of a task hold each part at least f + 1 times.
  const { length } = namedByAll(headers);
  if (length >= policy.threshold) return undefined;
  return invalid(`only ${length} authorities can vote for all uploads, ${policy.threshold} are needed`);
}

/** m: the uploads that name each version in a batch. Kmin, if all uploads of a batch name the same one. */
export function leastOfVersion({ oneShot, minimum }: Pick<TaskPolicy, 'oneShot' | 'minimum'>): number {
  return oneShot?.versionMinimum ?? minimum;
}

/** The positions of the uploads on each version of the model. */
export function byVersion(headers: readonly ShotHeaderBody[]): readonly (readonly number[])[] {
  const versions = new Map<string, number[]>();
  for (const [n, { model }] of headers.entries()) {
    const name = toHex(model);
    const known = versions.get(name);
    if (known === undefined) versions.set(name, [n]);
    else known.push(n);
  }
  return [...versions.values()];
}

function repeats(names: readonly Uint8Array[]): readonly number[] {
  const seen = new Set<string>();
  return names.flatMap((name, n) => {
    const isRepeat = seen.has(toHex(name));
    seen.add(toHex(name));
    return isRepeat ? [n] : [];
  });
}
