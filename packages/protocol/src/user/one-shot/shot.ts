/**
 * A contribution of the one-shot mode as a coroutine: seal a seed for each part, mask, freeze, upload. The only record
 * `shot` holds everything that is needed to send the same bytes again after a crash.
 */
import {
  concatBytes,
  equalBytes,
  type KeyResult,
  type KeyWork,
  type MaskPlan,
  packVector,
  SEED_BYTES,
} from '@basa/masking';
import type { JoinTag } from '../../wire/brands.ts';
import { type Certificate, userIdOf } from '../../wire/certificate.ts';
import { type ModelEntry, modelEntryCodec } from '../../wire/model-log.ts';
import { type Epoch, epochNameOf } from '../../wire/one-shot/epoch.ts';
import { partBinding, partTerm, sealParts } from '../../wire/one-shot/part-sealing.ts';
import { oneShotOf } from '../../wire/one-shot/parts.ts';
import { heldParts, type ShotHeaderBody, shotHeaderCodec } from '../../wire/one-shot/upload.ts';
import { type TaskPolicy, taskIdOf } from '../../wire/policy.ts';
import { isRefused, type Refused, refused } from '../../wire/refusals.ts';
import { declined, unchanged } from '../../wire/transition.ts';
import { budgetProblem } from '../budget.ts';
import { type Device, type DeviceStep, recorded } from '../device.ts';
import { givenRecord, versionProblem } from '../ledger.ts';
import { ask, type ContributeEnd, type Steps } from '../requests.ts';
import type { ShotSession, UserPorts, UserRecord } from '../session.ts';

/** The update, its target and its user. */
export interface ShotStart {
  readonly policy: TaskPolicy;
  readonly certificate: Certificate;
  /** The entry of the model that the update was trained on. */
  readonly entry: ModelEntry;
  /** From `receiveStandings`. */
  readonly epochs: readonly Epoch[];
}

/** Starts a new session, or continues one after a crash. Only the same bytes are ever sent. */
export function* shotSteps(ports: UserPorts, start: Device, given?: ShotStart): Steps<ContributeEnd> {
  let device = start;
  let body: Uint8Array | undefined;
  if (given !== undefined) {
    const frozen = yield* freezeShot(ports, device, given);
    if ('reason' in frozen) return { kind: 'left', reason: frozen.reason };
    ({ device, body } = frozen);
  }
  const { session } = device;
  if (session?.step !== 'shot') throw new Error(`a session does not end from step ${session?.step}`);
  const isResumed = body === undefined;
  const whole = body ?? (yield* bodyAgain(ports, session));
  if ('problem' in whole) return { kind: 'damaged', problem: whole.problem };
  const statement = shotHeaderCodec.statement(session.header);
  const signature = yield* ask('sign', { statement });
  const upload = { certificate: session.member.certificate, header: { ...session.header, signature } };
  const answer = yield* ask('shot', { upload, body: whole, isResumed });
  if (isRefused(answer)) return { kind: 'refused', reason: answer.reason };
  yield* ask('durable', { step: acknowledgeUpload(ports, device) });
  return { kind: 'acknowledged' };
}

type Frozen = { readonly device: Device; readonly body: Uint8Array };

function* freezeShot(ports: UserPorts, device: Device, given: ShotStart): Steps<Frozen | Refused> {
  const { suite, randomBytes } = ports;
  const { policy, certificate, entry } = given;
  const name = {
    task: taskIdOf(suite, policy),
    joinTag: randomBytes(32) as JoinTag,
    user: userIdOf(suite, certificate.deviceKey),
  };
  const epochs = given.epochs.map((epoch) => epochNameOf(suite, epoch));
  const held = heldParts(policy, epochs);
  const seeds = held.map(() => randomBytes(SEED_BYTES));
  const toSeal = held.map((part, n) => ({
    seed: seeds[n] as Uint8Array,
    binding: partBinding(suite, name, part, given.epochs),
  }));
  const sealed = concatBytes(...(yield* keysAsked(sealParts(suite, oneShotOf(policy).sealing, toSeal))));
  const body: ShotHeaderBody = {
    ...name,
    version: entry.version,
    entry: modelEntryCodec.statementHash(suite, entry),
    epochs,
    bodyHash: new Uint8Array(32),
    partsHash: suite.sha256(sealed),
  };
  const vector = yield* masked(ports, { header: body, policy, seeds });
  const header = { ...body, bodyHash: suite.sha256(vector, sealed) };
  const step = freeze(ports, device, { given, header, seeds, sealed });
  for (const seed of seeds) seed.fill(0);
  if (isRefused(step.answer)) return step.answer;
  yield* ask('durable', { step });
  return { device: step.state, body: concatBytes(vector, sealed) };
}

/** The ledger marks the version as given in the same step as the session. After that, only these bytes are ever sent. */
function freeze(
  { suite }: UserPorts,
  device: Device,
  { given, header, seeds, sealed }: Pick<ShotSession, 'header' | 'sealed'> & { given: ShotStart; seeds: Uint8Array[] },
): DeviceStep<{ readonly kind: 'frozen' }> {
  const { policy, certificate } = given;
  const { ledger } = device;
  const problem = budgetProblem(ledger, policy.privacy) ?? versionProblem(ledger, header.version);
  if (problem !== undefined) return declined(device, problem);
  const copies = seeds.map((seed) => seed.slice());
  const entry: UserRecord = { kind: 'shot', policy, certificate, header, seeds: copies, sealed };
  return recorded(suite, device, [entry, givenRecord(ledger, header.version)], { kind: 'frozen' });
}

interface ToMask {
  readonly header: ShotHeaderBody;
  readonly policy: TaskPolicy;
  readonly seeds: readonly Uint8Array[];
}

/** y = x' + sum over the parts of PRG(s_A), packed. */
function* masked(ports: UserPorts, { header, policy, seeds }: ToMask): Steps<Uint8Array> {
  const { suite, kernel } = ports;
  const input = yield* ask('input', {});
  const terms = heldParts(policy, header.epochs).map(({ part }, n) =>
    partTerm(suite, header, part, (seeds[n] as Uint8Array).slice(), 1),
  );
  const plan: MaskPlan = { modulus: policy.modulus, salt: header.joinTag, terms };
  const vector = input.slice();
  yield* ask('mask', { masking: { kind: 'masking', vector, plan } });
  for (const { seed } of terms) seed.wipe();
  return packVector(vector, policy.modulus, kernel);
}

/**
 * Makes the body of a frozen upload again. It has the same bytes, or the function fails, because a different input would give different
 * bytes.
 */
function* bodyAgain(ports: UserPorts, session: ShotSession): Steps<Uint8Array | { readonly problem: string }> {
  const { header, member, sealed } = session;
  const seeds = session.seeds.map((seed) => seed.reveal());
  const vector = yield* masked(ports, { header, policy: member.policy, seeds });
  const isSame = equalBytes(ports.suite.sha256(vector, sealed), header.bodyHash);
  return isSame
    ? concatBytes(vector, sealed)
    : { problem: 'the upload does not come out as it was frozen; the store is damaged' };
}

function* keysAsked<Result>(steps: Generator<readonly KeyWork[], Result, readonly KeyResult[]>): Steps<Result> {
  let next = steps.next();
  while (next.done !== true) next = steps.next(yield* ask('keys', { work: next.value }));
  return next.value;
}

/** The server has the bytes, durably: the seeds are not needed any more; wipe the session once this is recorded. */
function acknowledgeUpload(
  { suite }: Pick<UserPorts, 'suite'>,
  device: Device,
): DeviceStep<{ readonly kind: 'acknowledged' }> {
  const step = device.session?.step;
  if (step === 'acknowledged') return unchanged(device, { kind: 'acknowledged' });
  if (step !== 'shot') return declined(device, refused('wrong-step'));
  return recorded(suite, device, [{ kind: 'acknowledged' }], { kind: 'acknowledged' });
}
