/** The buffers of a task: this authority's offer for one, and the descriptor that it signs. */
import { equalBytes, type Suite } from '@basa/masking';
import {
  type BufferPlan,
  type BufferRequest,
  bufferRequestCodec,
  type OfferRequest,
  offerRequestCodec,
} from '../wire/authority-messages.ts';
import type { Millis } from '../wire/brands.ts';
import { endorse, indexOf, isEndorsed } from '../wire/council.ts';
import {
  type BufferPart,
  ctxOf,
  type DescriptorBody,
  descriptorCodec,
  type SignedDescriptor,
} from '../wire/descriptor.ts';
import { type ModelEntry, modelEntryCodec } from '../wire/model-log.ts';
import { type Refused, refused } from '../wire/refusals.ts';
import { isSigned } from '../wire/signed.ts';
import { declined, type Transition, unchanged } from '../wire/transition.ts';
import type { AuthorityPorts } from './buffer.ts';
import type { AuthorityRecord } from './records.ts';
import { type AuthorityTask, newestProblem, withNewest } from './task.ts';

/** New random bytes of this authority, and the descriptor's field about the keys made from them. */
export type FreshKeys = Pick<BufferPart, 'offer' | 'sealingKey'>;

/** Only for the server of the task. */
export function makeOffer(
  { suite, signer }: AuthorityPorts,
  task: AuthorityTask,
  request: OfferRequest,
  fresh: FreshKeys,
): Transition<AuthorityTask, never, BufferPart> {
  const { policy } = task;
  if (!isSigned(suite, offerRequestCodec, request, policy.serverKey)) return declined(task, refused('server-unknown'));
  const authority = indexOf(policy, signer.publicKey) as number;
  return unchanged(task, { authority, ...fresh });
}

/** The lead that the server's clock may have over this authority's. */
const CLOCK_SLACK_MS = 5 * 60_000;

interface DrawFrom {
  /**
   * The part of this authority in the buffer: its offer of the plan, or a fresh one if there is no plan because it is
   * the only authority. Missing if it has no such open offer.
   */
  readonly own: BufferPart | undefined;
  /** Its own entry of the requested version. */
  readonly logged: ModelEntry | undefined;
}

/** Signs the descriptor of a new buffer, drawn when its first seat is requested. */
export function drawBuffer(
  { suite, signer }: AuthorityPorts,
  task: AuthorityTask,
  request: BufferRequest,
  { own, logged }: DrawFrom,
  now: Millis,
): Transition<AuthorityTask, AuthorityRecord, SignedDescriptor> {
  const { policy } = task;
  const refuse = (no: Refused) => declined(task, no);
  if (!isSigned(suite, bufferRequestCodec, request, policy.serverKey)) return refuse(refused('server-unknown'));
  if (policy.oneShot !== undefined)
    return refuse(refused('plan-invalid', { detail: 'the task is of the one-shot mode' }));
  if (own === undefined) return refuse(refused('offer-unknown'));
  const { model, newest } = request;
  const [plan] = request.plan;
  const problem =
    (plan === undefined ? aloneProblem(task) : planProblem(task, plan, own, now)) ??
    newestProblem(suite, task, newest) ??
    modelProblem(suite, task, request, logged);
  if (problem !== undefined) return refuse(problem);
  const alone = { parts: [own], expiry: (now + policy.openMs) as Millis };
  const { version, modelHash } = model;
  const body: DescriptorBody = { task: task.id, version, modelHash, ...(plan ?? alone) };
  const descriptor = endorse(descriptorCodec, policy, signer, body);
  const isAhead = newest.version > (task.newest?.version ?? -1);
  return {
    state: isAhead ? withNewest(task, newest) : task,
    records: [
      ...(isAhead ? [{ kind: 'model-appended' as const, entry: newest }] : []),
      { kind: 'buffer-drawn', nonce: request.nonce, descriptor },
    ],
    answer: descriptor,
    events: [{ kind: 'buffer-drawn', ctx: ctxOf(suite, body), task: task.id, version }],
  };
}

function aloneProblem({ policy }: AuthorityTask): Refused | undefined {
  if (policy.authorities.length === 1) return undefined;
  return refused('plan-invalid', { detail: 'several authorities need a plan' });
}

/** Parts of enough authorities, mine as I offered it, and an end that the policy allows. */
function planProblem(
  task: AuthorityTask,
  { parts, expiry }: BufferPlan,
  own: BufferPart,
  now: Millis,
): Refused | undefined {
  const { policy } = task;
  const mine = parts.find(({ authority }) => authority === own.authority);
  if (mine === undefined || !equalBytes(mine.offer, own.offer) || !equalBytes(mine.sealingKey, own.sealingKey))
    return refused('offer-unknown', { detail: 'my part is not as I offered it' });
  const isOfCouncil = parts.every(({ authority }) => authority < policy.authorities.length);
  if (!isOfCouncil || parts.length < policy.threshold)
    return refused('plan-invalid', { detail: `parts of at least ${policy.threshold} authorities are needed` });
  if (expiry <= now || expiry > now + policy.openMs + CLOCK_SLACK_MS)
    return refused('plan-invalid', { detail: `it would end at ${expiry}, and it is ${now} here` });
  return undefined;
}

/**
 * A buffer may be drawn for the newest version. With one version per buffer, devices still train on earlier ones: any
 * version that is not older than the policy allows, if it is in this authority's log or signed by enough authorities.
 */
function modelProblem(
  suite: Suite,
  { id, policy }: AuthorityTask,
  { model, newest }: Pick<BufferRequest, 'model' | 'newest'>,
  logged: ModelEntry | undefined,
): Refused | undefined {
  const oldest = policy.versions === 'one' ? newest.version - policy.maxStaleness : newest.version;
  if (model.version < oldest || model.version > newest.version)
    return refused('wrong-version', { detail: `version ${newest.version} is the newest` });
  if (!equalBytes(model.task, id) || !isEndorsed(suite, modelEntryCodec, policy, model))
    return refused('model-not-logged');
  const known = model.version === newest.version ? newest : logged;
  return known === undefined || equalBytes(known.modelHash, model.modelHash) ? undefined : refused('other-model');
}
