/**
 * Examines a single upload: signatures, statements and sealed parts. It does not need the state of the authority, so it can run on any
 * thread. Checks that need this state are in `authority.ts`.
 */
import {
  applyMasksInPlace,
  equalBytes,
  type HolderSecret,
  type Keystream,
  type MaskTools,
  type Suite,
  toHex,
} from '@basa/masking';
import type { Ctx, TaskId } from '../wire/brands.ts';
import { isCertified, userIdOf } from '../wire/certificate.ts';
import { GUARD_WORDS, guardWordsOf, inputElements } from '../wire/input-words.ts';
import { type Epoch, epochCodec, isEpochOf } from '../wire/one-shot/epoch.ts';
import type { GuardWords, ShownUpload } from '../wire/one-shot/messages.ts';
import { openPart, partBinding, partTerm } from '../wire/one-shot/part-sealing.ts';
import { isHolder, oneShotOf, type Part } from '../wire/one-shot/parts.ts';
import {
  heldParts,
  partsHashOf,
  type ShotHeader,
  shotHeaderCodec,
  splitParts,
  uploadNameOf,
} from '../wire/one-shot/upload.ts';
import type { TaskPolicy } from '../wire/policy.ts';
import { type Refused, refused } from '../wire/refusals.ts';
import { isSigned } from '../wire/signed.ts';

export interface ExaminePorts {
  readonly suite: Suite;
  /** The index of this authority in the task. */
  readonly authority: number;
  /** Of an epoch of this authority; undefined once it is destroyed. */
  epochSecret(statement: Uint8Array): HolderSecret | undefined;
  readonly tools: MaskTools<Keystream>;
}

/** The task that an upload is examined for. */
export interface ExaminedTask {
  readonly id: TaskId;
  readonly policy: TaskPolicy;
}

/** Epochs by the hash of their statement, in hex. Contains only epochs that their authorities signed for this task. */
export type ShownEpochs = ReadonlyMap<string, Epoch>;

/** A good upload, with the data by which the batch is judged. */
export interface ExaminedUpload {
  readonly kind: 'examined';
  readonly name: Ctx;
  readonly header: ShotHeader;
  readonly guards: readonly GuardWords[];
}

/** The seed of one part of an upload. */
export interface OpenedPart {
  readonly part: Part;
  readonly seed: Uint8Array;
}

/** Invalid statements are left out: an upload that names one is then bad. */
export function shownEpochs(suite: Suite, { id, policy }: ExaminedTask, epochs: readonly Epoch[]): ShownEpochs {
  const good = epochs.filter((epoch) => equalBytes(epoch.task, id) && isEpochOf(suite, policy, epoch));
  return new Map(good.map((epoch) => [toHex(epochCodec.statementHash(suite, epoch)), epoch]));
}

export function examineUpload(
  ports: ExaminePorts,
  task: ExaminedTask,
  shown: ShownUpload,
  epochs: ShownEpochs,
): ExaminedUpload | Refused {
  const { suite } = ports;
  const { header } = shown;
  const problem = signedProblem(suite, task, shown);
  if (problem !== undefined) return problem;
  const opened = openParts(ports, task, shown, epochs);
  if ('kind' in opened) return opened;
  const guards = opened.map(({ part, seed }) => ({ part, words: guardWords(ports, task, header, { part, seed }) }));
  return { kind: 'examined', name: uploadNameOf(suite, header), header, guards };
}

/**
 * Checks that the certificate belongs to the task, the header is signed with its key, and the sealed parts are the
 * signed ones.
 */
function signedProblem(
  suite: Suite,
  { id, policy }: ExaminedTask,
  { certificate, header, sealed }: ShownUpload,
): Refused | undefined {
  const isOfTask = equalBytes(certificate.task, id) && equalBytes(header.task, id);
  if (!isOfTask || !isCertified(suite, policy, certificate)) return refused('certificate-invalid');
  if (!equalBytes(header.user, userIdOf(suite, certificate.deviceKey))) return refused('tag-not-yours');
  if (!isSigned(suite, shotHeaderCodec, header, certificate.deviceKey)) return refused('signature-invalid');
  return partsProblem(suite, policy, header, sealed);
}

/** An authority never sees y. Without this hash, the server could combine y with its own seeds. */
function partsProblem(
  suite: Suite,
  policy: ExaminedTask['policy'],
  { epochs, partsHash }: ShotHeader,
  sealed: Uint8Array,
): Refused | undefined {
  const hash = partsHashOf(suite, heldParts(policy, epochs), sealed);
  return hash !== undefined && equalBytes(hash, partsHash) ? undefined : refused('body-mismatch');
}

/** Returns the seeds of the parts that this authority holds. All holders agree on whether an upload is good or bad. */
export function openParts(
  { suite, authority, epochSecret }: Pick<ExaminePorts, 'suite' | 'authority' | 'epochSecret'>,
  { policy }: ExaminedTask,
  { header, sealed }: Pick<ShownUpload, 'header' | 'sealed'>,
  epochs: ShownEpochs,
): readonly OpenedPart[] | Refused {
  const changed = partsProblem(suite, policy, header, sealed);
  if (changed !== undefined) return changed;
  const named = header.epochs.map(({ authority: index, statement }) => {
    const epoch = epochs.get(toHex(statement));
    return epoch?.authority === index ? epoch : undefined;
  });
  if (named.includes(undefined)) return refused('epoch-invalid');
  const own = header.epochs.find((name) => name.authority === authority);
  const secret = own && epochSecret(own.statement);
  if (secret === undefined) return refused('epoch-over');
  const { sealing } = oneShotOf(policy);
  const held = heldParts(policy, header.epochs);
  const pieces = splitParts(held, sealed);
  if (pieces === undefined) return refused('body-mismatch');
  const opened: OpenedPart[] = [];
  for (const [n, one] of held.entries()) {
    if (!isHolder(one.part, authority)) continue;
    const binding = partBinding(suite, header, one, named as readonly Epoch[]);
    const seed = openPart(suite, sealing, { sealed: pieces[n] as Uint8Array, binding }, authority, secret);
    if (seed === undefined) {
      for (const { seed: other } of opened) other.fill(0);
      return refused('part-invalid');
    }
    opened.push({ part: one.part, seed });
  }
  return opened;
}

/** A keystream can start at these positions. */
const STREAM_STEP = 16;

/** The mask words of the guard positions: exactly these leave the authority, and no other word of the stream. */
function guardWords(
  { suite, tools }: ExaminePorts,
  { policy }: ExaminedTask,
  header: ShotHeader,
  { part, seed }: OpenedPart,
): readonly number[] {
  const elements = inputElements(policy);
  const term = partTerm(suite, header, part, seed, 1);
  const plan = { modulus: policy.modulus, salt: header.joinTag, terms: [term] };
  const start = new Uint32Array(Math.min(elements, STREAM_STEP));
  applyMasksInPlace(start, plan, tools);
  const firstWord = STREAM_STEP * Math.floor((elements - GUARD_WORDS / 2) / STREAM_STEP);
  const end = new Uint32Array(elements - firstWord);
  applyMasksInPlace(end, { ...plan, firstWord }, tools);
  term.seed.wipe();
  const words = [...guardWordsOf(Uint32Array.of(...start, ...end))];
  start.fill(0);
  end.fill(0);
  return words;
}
