/** Problem documents (RFC 9457): every refusal of a service, with a stable type, a sentence and the next step. */
import { isRefusalReason, REFUSALS, type Reason, type RefusalReason, type Refused } from '../wire/refusals.ts';

interface Problem extends Reason {
  /**
   * `update`: it rejects the update for now. `service`: a fault of the service or of the network, which is no verdict
   * on the update. `request`: the sender must correct the request.
   */
  readonly about: 'update' | 'service' | 'request';
  /** It failed on the network or temporarily: the same request is sent again. */
  readonly resend?: true;
}

/** The refusals of a service besides those of the protocol. */
export const SERVICE_PROBLEMS = {
  malformed: { sentence: 'The request does not have the documented form.', status: 400, about: 'request' },
  'digest-mismatch': {
    sentence: 'The body does not match the digest in the request.',
    status: 400,
    about: 'service',
    resend: true,
  },
  interrupted: {
    sentence: 'The connection ended before the body of the request was complete.',
    status: 400,
    about: 'request',
  },
  unsigned: { sentence: 'The request is not signed with a device key.', status: 401, about: 'request' },
  'request-signature-invalid': {
    sentence: 'The signature of the request is not valid.',
    status: 401,
    about: 'request',
  },
  'clock-skew': {
    sentence: 'The time in the request differs too much from the clock of the service.',
    status: 401,
    about: 'service',
  },
  replayed: { sentence: 'The same request was received before.', status: 401, about: 'service', resend: true },
  'operator-token-missing': { sentence: 'This route needs an operator token.', status: 401, about: 'request' },
  'role-missing': {
    sentence: 'The operator token does not have the role that this route needs.',
    status: 403,
    about: 'request',
  },
  'readers-only': {
    sentence: 'Only devices of the task and operators may read its models and results.',
    status: 401,
    about: 'request',
  },
  'enrolment-token-invalid': {
    sentence: 'The enrolment token is unknown, was used before, or has expired.',
    status: 403,
    about: 'request',
  },
  'not-yours': {
    sentence: 'The message names a different device than the one that signed the request.',
    status: 403,
    about: 'request',
  },
  'origin-refused': {
    sentence: 'This service does not accept requests from web pages of this origin.',
    status: 403,
    about: 'request',
  },
  'host-refused': {
    sentence: 'This service does not accept requests for this host name.',
    status: 421,
    about: 'request',
  },
  'not-found': { sentence: 'There is nothing at this address.', status: 404, about: 'request' },
  'method-not-allowed': { sentence: 'This address does not support this method.', status: 405, about: 'request' },
  'offset-mismatch': {
    sentence: 'The piece does not start where the received part of the upload ends.',
    status: 409,
    about: 'service',
  },
  'task-exists': {
    sentence: 'A task with this name already exists with other settings.',
    status: 409,
    about: 'request',
  },
  'task-paused': { sentence: 'The task is paused; try again later.', status: 409, about: 'update', retry: true },
  'task-finished': { sentence: 'The task is finished.', status: 410, about: 'update' },
  'task-not-over': {
    sentence: 'The task is still running; finish it, and wait until its open batches have ended.',
    status: 409,
    about: 'request',
  },
  'body-too-large': { sentence: 'The body is larger than the task allows.', status: 413, about: 'request' },
  'range-not-satisfiable': { sentence: 'The requested range is outside the model.', status: 416, about: 'request' },
  'no-place': {
    sentence: 'Enough devices are training already; ask for a place again later.',
    status: 429,
    about: 'update',
    retry: true,
  },
  'rate-limited': {
    sentence: 'There were too many requests; wait before the next one.',
    status: 429,
    about: 'update',
    retry: true,
    resend: true,
  },
  internal: {
    sentence: 'The service had an internal error; the request can be sent again.',
    status: 500,
    about: 'service',
    resend: true,
  },
  'storage-full': {
    sentence: 'The service has no storage space left; nothing was changed.',
    status: 507,
    about: 'update',
    retry: true,
    resend: true,
  },
  'task-storage-full': {
    sentence:
      'The task has used up its storage at the server; its operator has to keep fewer models (keepModels) or raise taskBytes.',
    status: 507,
    about: 'update',
    retry: true,
  },
  'database-unreachable': {
    sentence: 'The database of the service does not answer; try again later.',
    status: 503,
    about: 'update',
    retry: true,
    resend: true,
  },
  'authority-unreachable': {
    sentence: 'The authority does not answer; try again later.',
    status: 503,
    about: 'update',
    retry: true,
    resend: true,
  },
  overloaded: {
    sentence: 'The service is overloaded; try again later.',
    status: 503,
    about: 'update',
    retry: true,
    resend: true,
  },
  stopping: {
    sentence: 'The service is stopping; try again later.',
    status: 503,
    about: 'update',
    retry: true,
    resend: true,
  },
} as const satisfies Readonly<Record<string, Problem>>;

export type ServiceProblem = keyof typeof SERVICE_PROBLEMS;
export type ProblemCode = ServiceProblem | RefusalReason;

/** The row of a code. A refusal of the protocol is always about the update, and repeating the request does not change it. */
export function problemOf(code: ProblemCode): Problem {
  return isRefusalReason(code) ? { about: 'update', ...REFUSALS[code] } : SERVICE_PROBLEMS[code];
}

export const PROBLEM_MEDIA_TYPE = 'application/problem+json';
const PREFIX = 'urn:basa:problem:';

export interface ProblemDocument {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail?: string;
  readonly slots?: readonly number[];
  /** The time after which asking again makes sense. */
  readonly retryAfterMs?: number;
}

export interface ProblemMore {
  readonly detail?: string;
  readonly slots?: readonly number[];
  readonly retryAfterMs?: number;
}

export function problemDocument(code: ProblemCode, more: ProblemMore = {}): ProblemDocument {
  const { sentence, status } = problemOf(code);
  return { type: PREFIX + code, title: sentence, status, ...more };
}

export function problemOfRefusal({ reason, slots, detail }: Refused): ProblemDocument {
  return problemDocument(reason, {
    ...(slots === undefined ? {} : { slots }),
    ...(detail === undefined ? {} : { detail }),
  });
}

/** The code of a received problem; undefined for a type this version does not know. */
export function problemCodeOf(document: { readonly type?: unknown }): ProblemCode | undefined {
  const { type } = document;
  if (typeof type !== 'string' || !type.startsWith(PREFIX)) return undefined;
  const code = type.slice(PREFIX.length);
  return isRefusalReason(code) || Object.hasOwn(SERVICE_PROBLEMS, code) ? (code as ProblemCode) : undefined;
}
