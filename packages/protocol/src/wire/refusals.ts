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
  /** The reason is the buffer, not the update: another buffer may accept the same update at once. */
  readonly anotherSeat?: true;
}

export const REFUSALS = {
  // The sender is not who it should be.
  'certificate-invalid': { sentence: 'The certificate is not signed by this authority for this task.', status: 403 },
  'certificate-expired': { sentence: 'The certificate has ended; enrol the device again.', status: 403 },
  'not-enrolled': { sentence: 'This device is not enrolled.', status: 403 },
  revoked: { sentence: 'The enrolment of this device was revoked.', status: 403 },
  'signature-invalid': { sentence: 'The signature does not verify under the key it should be made with.', status: 403 },
  'server-unknown': { sentence: "The request is not signed by the task's server.", status: 403 },
  'tag-not-yours': { sentence: 'The join tag is not made of this user and nonce.', status: 403 },
  'ticket-invalid': { sentence: "The ticket does not verify under the descriptor's server key.", status: 403 },
  'receipt-invalid': { sentence: 'The receipt does not verify or does not belong to this slot.', status: 403 },
  // The requested thing does not exist, or is over.
  'offer-unknown': {
    sentence: 'This authority has no such offer open; ask for another and draw the buffer with it.',
    status: 404,
    retry: true,
  },
  'task-unknown': { sentence: 'There is no such task.', status: 404 },
  'buffer-unknown': { sentence: 'There is no such buffer here.', status: 404 },
  'slot-unknown': { sentence: 'There is no such slot in this buffer.', status: 404 },
  'buffer-not-open': {
    sentence: 'The buffer takes no more deposits or keys; take a seat in another one.',
    status: 410,
    retry: true,
    anotherSeat: true,
  },
  'buffer-over': { sentence: 'The buffer has ended.', status: 410, retry: true, anotherSeat: true },
  'lease-over': {
    sentence: 'The lease of this slot is over; its place is lost in this buffer.',
    status: 410,
    retry: true,
    anotherSeat: true,
  },
  'version-over': {
    sentence: 'The version that this update was trained on takes no more updates; train on the newest one.',
    status: 410,
    retry: true,
    freshUpdate: true,
  },
  'epoch-over': {
    sentence: 'The epoch of this upload has ended at this authority, or is not known to it.',
    status: 410,
    retry: true,
  },
  'upload-expired': {
    sentence: 'The authority declared this upload expired; the update is free and may be sent in a new upload.',
    status: 410,
    retry: true,
  },
  // It contradicts earlier events.
  'upload-used': {
    sentence: 'This upload, or another update of this device on the same version, is in a batch already.',
    status: 409,
  },
  'not-inspected': {
    sentence: 'The authority has not inspected these uploads since it started; show them again.',
    status: 409,
    retry: true,
  },
  'buffer-full': {
    sentence: 'Every slot of the buffer is taken; take a seat in another one.',
    status: 409,
    retry: true,
    anotherSeat: true,
  },
  'second-deposit': {
    sentence: 'This user has another deposit in this buffer.',
    status: 409,
    retry: true,
    anotherSeat: true,
  },
  'second-slot': { sentence: 'This user holds another slot of this buffer.', status: 409 },
  'slot-registered': { sentence: 'The key of this slot was issued to another request.', status: 409 },
  'view-mismatch': { sentence: 'The list of earlier deposits does not give the view of the ticket.', status: 409 },
  'server-equivocated': { sentence: 'Two tickets signed by the server contradict each other.', status: 409 },
  'upload-differs': {
    sentence: 'Another upload of this slot was received before; only its very bytes are accepted.',
    status: 409,
  },
  'slot-dropped': {
    sentence: 'The slot was dropped; the update may go into another buffer.',
    status: 409,
    retry: true,
  },
  'not-pending': {
    sentence: 'Some slots are still expected; the buffer cannot be closed for this reason yet.',
    status: 409,
  },
  'too-few': { sentence: 'Fewer updates than the minimum are accepted.', status: 409 },
  'not-frozen': { sentence: 'The set of accepted slots was not fixed before.', status: 409 },
  'already-decided': { sentence: 'The outcome of this buffer is decided already.', status: 409 },
  'too-few-votes': {
    sentence: 'Too few authorities answered, or voted for this close; it is asked for again.',
    status: 503,
    retry: true,
  },
  'other-vote': { sentence: 'This authority voted for another close of this buffer.', status: 409 },
  'close-mismatch': { sentence: 'The request to close contradicts what the authority recorded.', status: 409 },
  'duplicate-user': { sentence: 'One user stands in two slots.', status: 409 },
  'void-edge': { sentence: 'Two accepted users share no mask.', status: 409 },
  'wrong-version': { sentence: 'A model must follow the last version of the log.', status: 409 },
  'other-model': { sentence: 'This version of the model has another hash in the log.', status: 409 },
  'buffer-used': { sentence: 'The sum of this buffer made another version already.', status: 409 },
  'buffer-not-closed': { sentence: 'The buffer is not closed.', status: 409 },
  'lease-taken': { sentence: 'Another user holds the position.', status: 409 },
  // Its content is wrong.
  'epoch-invalid': {
    sentence: 'The upload names an epoch statement that its authority did not sign for this task.',
    status: 422,
  },
  'part-invalid': { sentence: 'A sealed part of the upload does not open as it was sealed.', status: 422 },
  'batch-invalid': { sentence: 'These uploads cannot form one batch.', status: 422 },
  'root-mismatch': { sentence: 'The root is not the one of the sealed seeds.', status: 422 },
  'body-mismatch': { sentence: 'The body is not what the header says.', status: 422 },
  'plan-invalid': { sentence: 'The buffer cannot be drawn like this.', status: 422 },
  'policy-invalid': { sentence: 'The policy of the task cannot be used.', status: 422 },
  // A user rejects a message of server or authority.
  'descriptor-invalid': { sentence: 'The descriptor is not signed by the pinned authority.', status: 422 },
  'descriptor-policy': { sentence: 'The descriptor names another policy than the pinned one.', status: 422 },
  'descriptor-version': {
    sentence: 'The buffer is of another version of the model than the update was trained on.',
    status: 422,
    retry: true,
    freshUpdate: true,
  },
  'slot-keys-invalid': {
    sentence: 'The list of slot keys is not the one that the authority signed for this buffer.',
    status: 422,
  },
  'too-stale': {
    sentence: 'The update was trained on a model that is too old.',
    status: 422,
    retry: true,
    freshUpdate: true,
  },
  'not-finite': { sentence: 'The update holds an entry that is not a finite number.', status: 422 },
  'zero-block': {
    sentence: 'The update vanishes on a whole parameter block, which would single out other users.',
    status: 422,
    retry: true,
    freshUpdate: true,
    nothingNew: 'its update is zero, or too small to be given',
  },
  'metric-missing': {
    sentence: 'The task names a metric for which the update brings no finite number.',
    status: 422,
  },
  'budget-spent': {
    sentence: 'The privacy budget of this device in this task is spent; it takes no further part.',
    status: 403,
  },
  'budget-reserved': {
    sentence: 'Buffers that are open may use up the privacy budget of this device; ask again when they have ended.',
    status: 409,
    retry: true,
  },
  'wrong-length': { sentence: 'The update does not have the dimension of the task.', status: 422 },
  'ticket-not-mine': { sentence: 'The ticket names another buffer, tag or deposit.', status: 422 },
  'inbox-incomplete': { sentence: 'The inbox does not hold exactly one entry of every earlier slot.', status: 422 },
  'inbox-proof': { sentence: "An entry of the inbox is not at this slot's place of its deposit.", status: 422 },
  'key-invalid': { sentence: 'The key in the envelope is not the one of the slot.', status: 422 },
  'model-stale': {
    sentence: 'The answer about the newest model is an old one: a replay, or of an authority that was rolled back.',
    status: 422,
    retry: true,
  },
  'model-not-logged': { sentence: "The model is not the one of the authority's log.", status: 422 },
  abandoned: { sentence: 'This buffer was left for good.', status: 409, retry: true },
  'wrong-step': { sentence: 'The session is not at this step.', status: 409 },
  'version-given': {
    sentence: 'This device has given an update on this version of the model already; it trains again on the next one.',
    status: 409,
    retry: true,
    freshUpdate: true,
  },
  'delta-committed': {
    sentence: 'The update was given before, and no outcome has freed it.',
    status: 409,
    retry: true,
    freshUpdate: true,
    nothingNew: 'its update is the same as one that it gave before',
  },
  'outcome-invalid': { sentence: 'The outcome is not signed by the pinned authority for this buffer.', status: 422 },
  'standings-stale': {
    sentence:
      'Too few authorities are heard in time. Either the server shows old statements, or the clock of this device is wrong.',
    status: 422,
    retry: true,
  },
  'outcome-undecided': {
    sentence: 'The outcome does not free the update: the buffer is open, unknown, or includes it.',
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
