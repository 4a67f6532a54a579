/** Every expected refusal, in one table: a stable code, a sentence for people, an HTTP status, and the next step of a device. */

export interface Reason {
  /** For people. */
  readonly sentence: string;
  /** The status with which an HTTP service answers. */
  readonly status: number;
  /** Another attempt, or another round, may succeed. Without it a run ends. */
  readonly retry?: true;
  /** The same update would be refused again: the next attempt needs a newly made one. */
  readonly freshUpdate?: true;
  /** The reason why the device has nothing new to contribute on this version: it waits for a newer one. */
  readonly nothingNew?: string;
  /** The reason is the buffer, not the update. Another buffer may accept the same update immediately. */
  readonly anotherSeat?: true;
}

export const REFUSALS = {
  // The sender is not who it should be.
  'certificate-invalid': { sentence: 'This authority did not sign the certificate for this task.', status: 403 },
  'certificate-expired': { sentence: 'The certificate of this device has expired.', status: 403 },
  'not-enrolled': { sentence: 'This device is not enrolled.', status: 403 },
  revoked: { sentence: 'The enrolment of this device was revoked.', status: 403 },
  'signature-invalid': { sentence: 'The signature is not valid for the expected key.', status: 403 },
  'server-unknown': { sentence: 'The request is not signed by the server of this task.', status: 403 },
  'tag-not-yours': { sentence: 'The join tag does not match this user and nonce.', status: 403 },
  'ticket-invalid': {
    sentence: 'The signature of the ticket is not valid for the server key in the descriptor.',
    status: 403,
  },
  'receipt-invalid': { sentence: 'The receipt is not valid, or belongs to another slot.', status: 403 },
  // The requested thing does not exist, or is over.
  'offer-unknown': {
    sentence: 'This authority has no such open offer; request a new offer and draw the buffer with it.',
    status: 404,
    retry: true,
  },
  'task-unknown': { sentence: 'The task does not exist here.', status: 404 },
  'buffer-unknown': { sentence: 'The buffer does not exist here.', status: 404 },
  'slot-unknown': { sentence: 'The slot does not exist in this buffer.', status: 404 },
  'buffer-not-open': {
    sentence: 'The buffer accepts no more deposits or key requests; take a seat in another buffer.',
    status: 410,
    retry: true,
    anotherSeat: true,
  },
  'buffer-over': { sentence: 'The buffer has ended.', status: 410, retry: true, anotherSeat: true },
  'lease-over': {
    sentence: 'The lease of this slot has expired, so its place in this buffer is lost.',
    status: 410,
    retry: true,
    anotherSeat: true,
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
  'upload-expired': {
    sentence: 'The authority declared this upload expired; the update can be sent in a new upload.',
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
    sentence: 'Every slot of the buffer is taken; take a seat in another buffer.',
    status: 409,
    retry: true,
    anotherSeat: true,
  },
  'second-deposit': {
    sentence: 'This user already has another deposit in this buffer.',
    status: 409,
    retry: true,
    anotherSeat: true,
  },
  'second-slot': { sentence: 'This user already has another slot in this buffer.', status: 409 },
  'slot-registered': { sentence: 'The key of this slot was already issued for another request.', status: 409 },
  'view-mismatch': { sentence: 'The list of earlier deposits does not match the ticket.', status: 409 },
  'server-equivocated': { sentence: 'The server signed two tickets that contradict each other.', status: 409 },
  'upload-differs': {
    sentence: 'A different upload for this slot was received before; only exactly the same bytes are accepted.',
    status: 409,
  },
  'slot-dropped': {
    sentence: 'The slot was dropped; the update can go into another buffer.',
    status: 409,
    retry: true,
  },
  'not-pending': {
    sentence: 'The buffer still waits for some slots, so it cannot be closed for this reason yet.',
    status: 409,
  },
  'too-few': { sentence: 'The buffer has fewer accepted updates than its minimum.', status: 409 },
  'not-frozen': { sentence: 'The set of accepted slots has not been fixed yet.', status: 409 },
  'already-decided': { sentence: 'The outcome of this buffer is already decided.', status: 409 },
  'too-few-votes': {
    sentence: 'Too few authorities answered or voted for this close; the server asks again.',
    status: 503,
    retry: true,
  },
  'other-vote': { sentence: 'This authority voted for another close of this buffer.', status: 409 },
  'close-mismatch': {
    sentence: 'The request to close the buffer contradicts the records of the authority.',
    status: 409,
  },
  'duplicate-user': { sentence: 'One user has two slots.', status: 409 },
  'void-edge': { sentence: 'Two accepted users share no mask.', status: 409 },
  'wrong-version': { sentence: 'The model does not follow the newest version in the log.', status: 409 },
  'other-model': { sentence: 'The log has another hash for this version of the model.', status: 409 },
  'buffer-used': { sentence: 'The sum of this buffer is already part of another version.', status: 409 },
  'buffer-not-closed': { sentence: 'The buffer is not closed.', status: 409 },
  'term-signed': {
    sentence: 'This authority signed another successor for this term; propose the one that it signed, or wait.',
    status: 409,
  },
  'term-soon': {
    sentence: 'The succession would take effect before the wait of the policy is over; propose a later time.',
    status: 409,
  },
  'no-seat': {
    sentence: 'This authority holds no seat of the task at this time: its term is over, or has not begun.',
    status: 409,
    retry: true,
  },
  'lease-taken': { sentence: 'Another user has this position.', status: 409 },
  // Its content is wrong.
  'epoch-invalid': {
    sentence: 'The upload names an epoch statement that its authority did not sign for this task.',
    status: 422,
  },
  'part-invalid': { sentence: 'A sealed part of the upload cannot be opened, or has the wrong content.', status: 422 },
  'batch-invalid': { sentence: 'These uploads cannot be combined into one batch.', status: 422 },
  'root-mismatch': { sentence: 'The root does not match the sealed seeds.', status: 422 },
  'body-mismatch': { sentence: 'The body does not match the header.', status: 422 },
  'plan-invalid': { sentence: 'The request to draw a buffer is not valid.', status: 422 },
  'succession-forbidden': {
    sentence: 'The policy of this task does not allow that an authority is replaced; create a new task.',
    status: 422,
  },
  'term-forked': {
    sentence: 'Two terms with one number were signed: the authorities of this task cannot be trusted; stop using it.',
    status: 409,
  },
  'term-late': {
    sentence: 'This device has not heard from its authorities for too long to know the current ones.',
    status: 409,
  },
  'term-invalid': { sentence: 'This is not the next term of the task.', status: 422 },
  'term-unsigned': {
    sentence: 'Too few seats signed this term; collect the missing signatures and show it again.',
    status: 422,
  },
  'policy-invalid': { sentence: 'The policy of the task is not valid.', status: 422 },
  // A user rejects a message of server or authority.
  'descriptor-invalid': { sentence: 'The descriptor is not signed by the expected authority.', status: 422 },
  'descriptor-policy': { sentence: 'The descriptor is for another policy than the expected one.', status: 422 },
  'descriptor-version': {
    sentence: 'The buffer is for another version of the model than the one that the update was trained on.',
    status: 422,
    retry: true,
    freshUpdate: true,
  },
  'slot-keys-invalid': {
    sentence: 'The list of slot keys differs from the one that the authority signed for this buffer.',
    status: 422,
  },
  'too-stale': {
    sentence: 'The update was trained on a model that is too old.',
    status: 422,
    retry: true,
    freshUpdate: true,
  },
  'not-finite': { sentence: 'The update contains a value that is not a finite number.', status: 422 },
  'zero-block': {
    sentence:
      'The update is zero, or too small, on a whole block of parameters, which would expose the updates of other users.',
    status: 422,
    retry: true,
    freshUpdate: true,
    nothingNew: 'its update is zero, or too small to contribute',
  },
  'metric-missing': {
    sentence: 'The task asks for a metric that has no finite value in this update.',
    status: 422,
  },
  'budget-spent': {
    sentence: 'This device has spent its privacy budget for this task, and cannot take part any more.',
    status: 403,
  },
  'budget-reserved': {
    sentence: 'Open buffers may use up the rest of the privacy budget of this device; try again when they have ended.',
    status: 409,
    retry: true,
  },
  'wrong-length': { sentence: 'The update has another number of parameters than the model of the task.', status: 422 },
  'ticket-not-mine': { sentence: 'The ticket is for another buffer, tag or deposit.', status: 422 },
  'inbox-incomplete': {
    sentence: 'The inbox does not contain exactly one entry from every earlier slot.',
    status: 422,
  },
  'inbox-proof': { sentence: 'An entry of the inbox is not the one that its deposit has for this slot.', status: 422 },
  'key-invalid': { sentence: 'The key in the envelope does not belong to this slot.', status: 422 },
  'model-stale': {
    sentence: 'The answer about the newest model is outdated: it is a replay, or the authority was rolled back.',
    status: 422,
    retry: true,
  },
  'model-not-logged': { sentence: "The model differs from the one in the authority's log.", status: 422 },
  abandoned: { sentence: 'The device left this buffer and cannot return to it.', status: 409, retry: true },
  'wrong-step': { sentence: 'The session is at another step.', status: 409 },
  'version-given': {
    sentence:
      'This device has already contributed an update on this version of the model; it trains again on the next version.',
    status: 409,
    retry: true,
    freshUpdate: true,
  },
  'delta-committed': {
    sentence: 'This update was contributed before, and its buffer has not released it.',
    status: 409,
    retry: true,
    freshUpdate: true,
    nothingNew: 'its update is the same as one that it contributed before',
  },
  'outcome-invalid': { sentence: 'The outcome is not signed by the expected authority for this buffer.', status: 422 },
  'standings-stale': {
    sentence:
      'The statements of too few authorities are recent. Either the server shows old statements, or the clock of this device is wrong.',
    status: 422,
    retry: true,
  },
  'outcome-undecided': {
    sentence: 'The outcome does not release the update: the buffer is open, is unknown, or includes the update.',
    status: 409,
  },
} as const satisfies Readonly<Record<string, Reason>>;

export type RefusalReason = keyof typeof REFUSALS;

export function isRefusalReason(name: string): name is RefusalReason {
  return Object.hasOwn(REFUSALS, name);
}

export interface Refused {
  readonly kind: 'refused';
  readonly reason: RefusalReason;
  /** The slots, field or index that are meant, if there are any. */
  readonly slots?: readonly number[];
  readonly detail?: string;
}

export function refused(reason: RefusalReason, more: { slots?: readonly number[]; detail?: string } = {}): Refused {
  return { kind: 'refused', reason, ...more };
}

export function isRefused(answer: unknown): answer is Refused {
  return typeof answer === 'object' && answer !== null && 'kind' in answer && answer.kind === 'refused';
}
