/** Every expected refusal, in one table: a stable code, a sentence for people, an HTTP status, and the next step of a device. */
import { type Ctx, checked, type Field, type TaskId, text } from './fields.ts';

export interface Reason {
  /** For people. */
  readonly sentence: string;
  /** The status with which an HTTP service answers. */
  readonly status: number;
  /** Another attempt, or another round, may succeed. Without it a run ends. */
  readonly retry?: true;
  /** The same update would be refused again: the next attempt needs a newly made one. */
  readonly freshUpdate?: true;
}

export const REFUSALS = {
  // The sender is not who it should be.
  'certificate-invalid': { sentence: 'This authority did not sign the certificate for this task.', status: 403 },
  'not-enrolled': { sentence: 'This device is not enrolled.', status: 403 },
  revoked: { sentence: 'The enrolment of this device was revoked.', status: 403 },
  'signature-invalid': { sentence: 'The signature is not valid for the expected key.', status: 403 },
  'server-unknown': { sentence: 'The request is not signed by the server of this task.', status: 403 },
  'tag-not-yours': { sentence: 'The message names another user than the device that sent it.', status: 403 },
  'ticket-invalid': {
    sentence: 'The signature of the ticket is not valid for the key of the server.',
    status: 403,
  },
  'export-invalid': {
    sentence: 'The devices were not exported for this task by an authority of the task before it.',
    status: 403,
  },
  // The requested thing does not exist, or is over.
  'task-unknown': { sentence: 'The task does not exist here.', status: 404 },
  'batch-unknown': { sentence: 'The batch does not exist here.', status: 404 },
  'lease-over': {
    sentence: 'The lease of this position has expired, so the upload was discarded.',
    status: 410,
    retry: true,
  },
  'version-over': {
    sentence: 'The version that this update was trained on accepts no more updates; train on the newest version.',
    status: 410,
    retry: true,
    freshUpdate: true,
  },
  'epoch-over': {
    sentence: 'The epoch of this upload has ended at this authority, or the authority does not know it.',
    status: 410,
    retry: true,
  },
  // It contradicts earlier events.
  'upload-used': {
    sentence: 'A batch already contains this upload, or another update of this device on the same version.',
    status: 409,
  },
  'not-inspected': {
    sentence: 'The authority has not inspected these uploads since it started; send them for inspection again.',
    status: 409,
    retry: true,
  },
  'buffer-full': {
    sentence: 'Every position of the buffer is taken; connect again when the next buffer is open.',
    status: 409,
    retry: true,
  },
  'second-position': { sentence: 'This user already has a position in this buffer.', status: 409 },
  'upload-differs': {
    sentence: 'A different upload under this name was received before; only exactly the same bytes are accepted.',
    status: 409,
  },
  'too-few': { sentence: 'The batch has fewer updates than the minimum of the task.', status: 409 },
  'already-decided': { sentence: 'The end of this batch is already decided.', status: 409 },
  'too-few-votes': {
    sentence: 'Too few authorities answered or voted for this batch; the server asks again.',
    status: 503,
    retry: true,
  },
  'duplicate-user': { sentence: 'One user has two uploads in the batch.', status: 409 },
  'lease-taken': { sentence: 'Another user has this position.', status: 409 },
  // Its content is wrong.
  'epoch-invalid': {
    sentence: 'The upload names an epoch statement that its authority did not sign for this task.',
    status: 422,
  },
  'part-invalid': { sentence: 'A sealed part of the upload cannot be opened, or has the wrong content.', status: 422 },
  'batch-invalid': { sentence: 'These uploads cannot be combined into one batch.', status: 422 },
  'body-mismatch': { sentence: 'The body does not match the header.', status: 422 },
  'policy-invalid': { sentence: 'The policy of the task is not valid.', status: 422 },
  'too-stale': {
    sentence: 'The update was trained on a model that is too old.',
    status: 422,
    retry: true,
    freshUpdate: true,
  },
  'budget-spent': {
    sentence: 'This device has spent its privacy budget for this task, and cannot take part any more.',
    status: 403,
  },
  'wrong-length': { sentence: 'The update has another number of parameters than the model of the task.', status: 422 },
  'key-invalid': { sentence: 'The key does not open the seeds of this position.', status: 422 },
  'model-invalid': {
    sentence: 'The server did not sign this model for the task, or sent other parameters than it signed.',
    status: 422,
  },
  'model-unknown': {
    sentence: 'The server does not know the model that this update was trained on; train on the newest version.',
    status: 422,
    retry: true,
    freshUpdate: true,
  },
  'wrong-step': { sentence: 'The session is at another step.', status: 409 },
  'version-given': {
    sentence:
      'This device has already contributed an update on this version of the model; it trains again on the next version.',
    status: 409,
    retry: true,
    freshUpdate: true,
  },
  'given-lately': {
    sentence: 'This device contributed a moment ago; the task asks for a pause between two updates of a device.',
    status: 409,
    retry: true,
  },
  'epochs-missing': {
    sentence:
      'Too few authorities have an open epoch. Either they do not answer the server, or the clock of this device is wrong.',
    status: 422,
    retry: true,
  },
} as const satisfies Readonly<Record<string, Reason>>;

export type RefusalReason = keyof typeof REFUSALS;

export function isRefusalReason(name: string): name is RefusalReason {
  return Object.hasOwn(REFUSALS, name);
}

export interface Refused {
  readonly kind: 'refused';
  readonly reason: RefusalReason;
  /** The uploads that are meant, by their positions in the batch. */
  readonly uploads?: readonly number[];
  readonly detail?: string;
}

export function refused(reason: RefusalReason, more: { uploads?: readonly number[]; detail?: string } = {}): Refused {
  return { kind: 'refused', reason, ...more };
}

export function isRefused(answer: unknown): answer is Refused {
  return typeof answer === 'object' && answer !== null && 'kind' in answer && answer.kind === 'refused';
}

/** The answer, where a refusal is a fault of the caller. */
export function granted<Answer extends object>(answer: Answer | Refused): Answer {
  if (isRefused(answer)) throw new Error(`refused: ${answer.reason}`);
  return answer;
}

/** A reason by its name, so that stored reasons survive changes of the table. */
export const reasonField: Field<RefusalReason> = checked(text<RefusalReason>(64), (name) =>
  isRefusalReason(name) ? undefined : 'no reason of the table',
);

/** The shape of every step of the core: nothing of the answer may leave before the records are durable. */
export interface Transition<State, Entry, Answer> {
  readonly state: State;
  readonly records: readonly Entry[];
  readonly answer: Answer | Refused;
  readonly events: readonly BasaEvent[];
}

/** A step that changes nothing: the answer was given before, or only reads. */
export function unchanged<State, Answer>(state: State, answer: Answer): Transition<State, never, Answer> {
  return { state, records: [], answer, events: [] };
}

/** A refusal changes nothing either. */
export function declined<State>(
  state: State,
  no: Refused,
  events: readonly BasaEvent[] = [],
): Transition<State, never, never> {
  return { state, records: [], answer: no, events };
}

type Party = 'user' | 'server' | 'authority';

/** All events for logs, metrics and pages. They contain no secrets: no seeds, keys, updates or device keys. */
export type BasaEvent =
  | { readonly kind: 'device-enrolled'; readonly task: TaskId }
  | { readonly kind: 'device-revoked' }
  /** `ctx` is the name of the upload; in paper mode, of its buffer. */
  | { readonly kind: 'upload-accepted'; readonly ctx: Ctx }
  | { readonly kind: 'batch-frozen'; readonly ctx: Ctx; readonly accepted: number }
  /** At an authority. */
  | { readonly kind: 'batch-final'; readonly ctx: Ctx; readonly accepted: number }
  | { readonly kind: 'batch-included'; readonly ctx: Ctx; readonly version: number }
  | { readonly kind: 'batch-quarantined'; readonly ctx: Ctx; readonly why: string; readonly uploads: readonly number[] }
  | { readonly kind: 'batch-aborted'; readonly ctx: Ctx }
  | { readonly kind: 'batch-unknown'; readonly ctx: Ctx }
  /** It signed another sum of masks, or gave other guard words, than those that enough others agree on. */
  | {
      readonly kind: 'authority-fault';
      readonly task: TaskId;
      /** Its index. */
      readonly authority: number;
      readonly subject: 'mask-sum' | 'guard-words';
    }
  | {
      readonly kind: 'refused';
      readonly by: Party;
      readonly step: string;
      readonly reason: RefusalReason;
      readonly ctx?: Ctx;
    };
