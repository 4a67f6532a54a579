/**
 * The parts of a mask, from the seed to the sum: a device seals the seed of each part to its holders; a holder opens it and seals it again to
 * compare every byte; the masks of a batch are expanded and added.
 *
 * Nothing here needs the state of an authority, so all of it can run on any thread. The checks that need the state are in `authority.ts`.
 */
import {
  addNoiseInPlace,
  applyMasksInPlace,
  ascii,
  concatBytes,
  equalBytes,
  type HolderSecret,
  type HybridBinding,
  type HybridHolder,
  type KeySteps,
  type Keystream,
  type MaskTerm,
  type MaskTools,
  noiseTable,
  openAsHolder,
  openHybrid,
  packVector,
  type RandomWords,
  RING_32,
  SEED_BYTES,
  Secret,
  type Suite,
  sealToHolders,
  sealToHybrid,
  toHex,
} from '@basa/masking';
import { type Message, message } from '../wire/codec.ts';
import { type Ctx, field, type JoinTag, KIND, type TaskId, type UserId, u16 } from '../wire/fields.ts';
import { addMetricNoise, GUARD_WORDS, guardWordsOf, inputElements, updateWords } from '../wire/input.ts';
import type { GuardWords, ShownUpload } from '../wire/messages.ts';
import { Epoch, isEpochOf } from '../wire/model.ts';
import { isHolder, isHybrid, oneShotOf, type Part, type Sealing } from '../wire/one-shot-policy.ts';
import type { TaskPolicy } from '../wire/policy.ts';
import { taskNoise } from '../wire/privacy.ts';
import { type Refused, refused } from '../wire/refusals.ts';
import { type HeldPart, heldParts, partsHashOf, type ShotHeader, splitParts, uploadNameOf } from '../wire/upload.ts';
import { senderProblem } from './rules.ts';

/** One upload of one device. */
export interface ShotName {
  readonly task: TaskId;
  readonly joinTag: JoinTag;
  readonly user: UserId;
}

export const partContextCodec: Message<ShotName & { readonly part: Part }> = message(KIND.partContext, 'partContext', {
  task: field.task,
  joinTag: field.joinTag,
  user: field.user,
  part: u16,
});

/** Context and salt bind task, tag, user and part: a seed that another device copies into its own upload never opens. */
export function partBinding(
  suite: Suite,
  name: ShotName,
  { part, holders }: Pick<HeldPart, 'part' | 'holders'>,
  epochs: readonly Epoch[],
): HybridBinding {
  const keys = holders.map(({ authority, statement }): HybridHolder => {
    const epoch = epochs.find((one) => one.authority === authority);
    if (epoch === undefined) throw new Error(`the epoch of authority ${authority} is missing`);
    return { authority, statement, publicKey: epoch.key, kemKey: epoch.kemKey };
  });
  const context = partContextCodec.encode({ ...pick(name), part });
  return { holders: keys, salt: suite.sha256(context), context };
}

interface PartSeed {
  readonly seed: Uint8Array;
  readonly binding: HybridBinding;
}

/** One sealed part for each seed. The keys must have been checked (`isEpochOf`). */
export function sealParts(suite: Suite, sealing: Sealing, seeds: readonly PartSeed[]): KeySteps<readonly Uint8Array[]> {
  return isHybrid(sealing) ? sealToHybrid(suite, seeds) : sealToHolders(suite, seeds);
}

/** With the secret of one holder. Undefined if the part was not sealed to all of its holders for this binding: then it is bad for all of them. */
export function openPart(
  suite: Suite,
  sealing: Sealing,
  { sealed, binding }: { readonly sealed: Uint8Array; readonly binding: HybridBinding },
  holder: number,
  secret: HolderSecret,
): Uint8Array | undefined {
  const place = binding.holders.findIndex(({ authority }) => authority === holder);
  return isHybrid(sealing)
    ? openHybrid(suite, sealed, binding, place, secret)
    : openAsHolder(suite, sealed, binding, place, secret.agreement);
}

/** PRG(s_A): the salt holds the part, so that two parts never share a stream. */
export function partTerm(suite: Suite, name: ShotName, part: Part, seed: Uint8Array, sign: 1 | -1): MaskTerm {
  return { seed: new Secret(seed), sign, salt: partContextCodec.hash(suite, { ...pick(name), part }) };
}

function pick({ task, joinTag, user }: ShotName): ShotName {
  return { task, joinTag, user };
}

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
  return new Map(good.map((epoch) => [toHex(Epoch.statementHash(suite, epoch)), epoch]));
}

/** The checks of message 3 that need only the upload: its sender, its statements and its sealed parts. */
export function examineUpload(
  ports: ExaminePorts,
  task: ExaminedTask,
  shown: ShownUpload,
  epochs: ShownEpochs,
): ExaminedUpload | Refused {
  const { suite } = ports;
  const { header } = shown;
  const problem = senderProblem(suite, { ...task, task: task.id }, shown);
  if (problem !== undefined) return problem;
  const opened = openParts(ports, task, shown, epochs);
  if ('kind' in opened) return opened;
  const guards = opened.map(({ part, seed }) => ({ part, words: guardWords(ports, task, header, { part, seed }) }));
  return { kind: 'examined', name: uploadNameOf(suite, header), header, guards };
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

/** An upload with the seed of the part. The seed is overwritten. */
export interface MaskedUpload {
  readonly name: ShotName;
  readonly seed: Uint8Array;
}

/** Terms that are expanded together: each block of the vector is loaded once for all of them. */
const AT_ONCE = 64;

/** M_A = sum over the batch of PRG(s_A), added to `sum` in place. Shards of a batch may be summed separately and added. */
export function addMasksInPlace(
  sum: Uint32Array,
  { suite, tools }: { readonly suite: Suite; readonly tools: MaskTools<Keystream> },
  { modulus }: Pick<TaskPolicy, 'modulus'>,
  part: Part,
  uploads: Iterable<MaskedUpload>,
): void {
  let terms: MaskTerm[] = [];
  const flush = (): void => {
    applyMasksInPlace(sum, { modulus, salt: new Uint8Array(32), terms }, tools);
    for (const { seed } of terms) seed.wipe();
    terms = [];
  };
  for (const { name, seed } of uploads) {
    terms.push(partTerm(suite, name, part, seed, 1));
    if (terms.length === AT_ONCE) flush();
  }
  flush();
}

/** The sum of the masks of one part over a batch in its encoded form, which the server subtracts. */
export function packSum(
  sum: Uint32Array,
  { modulus }: Pick<TaskPolicy, 'modulus'>,
  { kernel }: Pick<MaskTools<Keystream>, 'kernel'>,
): Uint8Array {
  return packVector(sum, modulus, kernel);
}

const NOISE = ascii('noise');

interface NoisePorts {
  readonly suite: Suite;
  readonly tools: MaskTools<Keystream>;
}

/**
 * The noise of a task with a single authority, which adds it: an exact discrete Gaussian for every coordinate of the sum and every metric. The
 * seed is derived from the secrets of all epochs that the batch names and from the batch, so the noise is the same for every request. It
 * cannot be computed again after one of the secrets is destroyed. `secrets` are by ascending statement. Does nothing if the devices add the
 * noise, or if the task has no noise.
 */
export function addAuthorityNoise(
  sum: Uint32Array,
  { suite, tools }: NoisePorts,
  policy: TaskPolicy,
  secrets: readonly Uint8Array[],
  ctx: Ctx,
): void {
  const noise = taskNoise(policy);
  if (noise === undefined || !noise.isCentral) return;
  const secret = concatBytes(...secrets);
  const seed = new Secret(suite.hkdf({ secret, salt: ctx, info: NOISE, length: SEED_BYTES }));
  secret.fill(0);
  const words = wordsOf({ suite, tools }, seed, ctx);
  addNoiseInPlace(updateWords(policy, sum).update, noiseTable(noise.variance), policy.modulus, words);
  addMetricNoise(policy, sum, words);
  seed.wipe();
}

/** The words of the PRG, one stretch after the other. */
function wordsOf({ suite, tools }: NoisePorts, seed: Secret, salt: Uint8Array): RandomWords {
  let firstWord = 0;
  return (words) => {
    words.fill(0);
    applyMasksInPlace(words, { modulus: RING_32, salt, terms: [{ seed, sign: 1 }], firstWord }, { ...tools, suite });
    firstWord += 16 * Math.ceil(words.length / 16);
  };
}
