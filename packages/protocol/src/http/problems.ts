/** Problem documents (RFC 9457): every refusal of a service, with a stable type, a sentence and the next step. */

import { isRefusalReason, REFUSALS, type Reason, type RefusalReason, type Refused } from '../wire/refusals.ts';
import type { Gathering } from './live.ts';

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
  'body-too-large': {
    sentence: 'The body is larger than this route or the task allows.',
    status: 413,
    about: 'request',
  },
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
  readonly uploads?: readonly number[];
  /** The time after which asking again makes sense. */
  readonly retryAfterMs?: number;
  /** With `no-place`, while too few devices take part. */
  readonly gathering?: Gathering;
}

export interface ProblemMore {
  readonly detail?: string;
  readonly uploads?: readonly number[];
  readonly retryAfterMs?: number;
  readonly gathering?: Gathering;
}

export function problemDocument(code: ProblemCode, more: ProblemMore = {}): ProblemDocument {
  const { sentence, status } = problemOf(code);
  return { type: PREFIX + code, title: sentence, status, ...more };
}

export function problemOfRefusal({ reason, uploads, detail }: Refused): ProblemDocument {
  return problemDocument(reason, {
    ...(uploads === undefined ? {} : { uploads }),
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

type Rows = typeof REFUSALS & typeof SERVICE_PROBLEMS;
/** The codes that a device cannot resolve: a person has to act. */
type ForPeople = {
  readonly [Code in ProblemCode]: Rows[Code] extends { readonly retry: true } | { readonly resend: true }
    ? never
    : Code;
}[ProblemCode];

const ODD =
  'This cannot happen if device, server and authorities are honest and have the same version. Ask their operators to compare versions and check the logs.';
const COPIED = 'The folder of a device was copied or restored from a backup. Enrol a new device in a new folder.';
const BETWEEN_SERVICES =
  'The server and the authority resolve this by themselves. If the message repeats, check the logs of both.';
const NEW_REQUEST = 'Compare the request with the description of the service at /v1/openapi.json.';

const STEPS: Readonly<Record<ForPeople, string>> & Readonly<Partial<Record<ProblemCode, string>>> = {
  'certificate-invalid': 'Check that the task, the address of the authority and its key belong together.',
  'not-enrolled':
    'Enrol it with a token whose hash each owner registered (`basa keys enroll`); `basa device list` shows the enrolled devices.',
  revoked: 'An operator did this. To take part again, the device needs a new folder (--identity) and a new token.',
  'signature-invalid': ODD,
  'export-invalid': 'Give the files of the task before this one, and the policy that its authorities had.',
  'server-unknown': 'Check that the server uses the key that is named in the policy of the task.',
  'tag-not-yours': ODD,
  'ticket-invalid': ODD,
  'task-unknown': '`basa task ls` lists the tasks of the server.',
  'batch-unknown': 'Check the task and the address of the server; `basa task show` lists the batches of each version.',
  'upload-used': 'Nothing is lost: the earlier upload counts. The device trains again on the next version.',
  'second-position': COPIED,
  'upload-differs': COPIED,
  'too-few': 'The server waits for more updates.',
  'already-decided': BETWEEN_SERVICES,
  'duplicate-user': BETWEEN_SERVICES,
  'lease-taken': ODD,
  'epoch-invalid': ODD,
  'part-invalid': ODD,
  'batch-invalid': BETWEEN_SERVICES,
  'body-mismatch': ODD,
  'policy-invalid': 'Create the task with other settings; the text in brackets names the problem.',
  'given-lately': 'The device waits, and contributes again.',
  'budget-spent': 'The budget is part of the task and cannot be raised. The device can take part in another task.',
  'wrong-length': 'Train the model of the task: the update must have the same number of parameters.',
  'key-invalid': ODD,
  'model-invalid': 'Do not train on this model. Check the address of the server, and inform its operator.',
  'wrong-step': 'Start the client again; it continues from its records.',
  malformed: NEW_REQUEST,
  interrupted: 'Send the complete request again.',
  unsigned: 'Use the SDK or `basa client`, which sign each request with the key of the device.',
  'request-signature-invalid':
    'Check that the device uses the folder of its enrolment (--identity), and that no proxy changes its requests.',
  'clock-skew': 'Correct the clock of this machine, then try again.',
  'operator-token-missing':
    'Give the token of this service: --token or BASA_OPERATOR_TOKEN for the server, --authority-token or BASA_AUTHORITY_TOKEN for an authority.',
  'role-missing': 'Use a token with that role; `operators` in the configuration of the service lists the roles.',
  'readers-only':
    "Use a device of the task, or give the operator's token of the server: --token or BASA_OPERATOR_TOKEN. A task made with `basa task create --public-models` is open to everybody.",
  'enrolment-token-invalid':
    'A token enrols one device, once, after the owner of the authority registered its hash (`basa keys enroll`): ask for a new one. An enrolled device needs no token: use its folder with --identity.',
  'not-yours': 'Sign the request with the key of the device that is named in the message.',
  'origin-refused': 'Add the origin to `corsOrigins` in the configuration of the service, or to --cors of `basa dev`.',
  'host-refused': 'Use a host name in `hosts` of its configuration, or add this name there.',
  'not-found': 'Check the address, and that you did not exchange the server and the authority.',
  'method-not-allowed': 'The header `allow` of the response lists the supported methods.',
  'offset-mismatch': 'The device continues the upload at the right place by itself.',
  'task-exists': 'Use exactly the earlier settings, or give the new task another name.',
  'task-finished':
    'The model is ready; the device has nothing more to do. `basa task ls` lists the tasks that are still running.',
  'task-not-over': '`basa task finish` ends it; `basa task show` shows its open batches.',
  'body-too-large':
    'An update has the size that the policy of its task gives: check that the client trains the model of this task. docs/limits.md has the limits of other bodies.',
  'range-not-satisfiable': 'Send the request without a range, or with a range within the size of the model.',
  internal: 'If the message repeats, check the log of the service.',
};

/** A sentence with the next step for a person, or with the automatic next step of the device. */
export function nextStepOf(code: ProblemCode): string {
  const { freshUpdate } = problemOf(code);
  if (STEPS[code] !== undefined) return STEPS[code];
  if (freshUpdate === true) return 'Train again on the newest version; a device that trains does this by itself.';
  return 'The device tries again by itself after a while.';
}

/** The complete text of a refusal for a person: the event, the detail in brackets, the next step. */
export function refusalText(code: ProblemCode, detail?: string): string {
  return `${withDetail(problemOf(code).sentence, detail)} ${nextStepOf(code)}`;
}

/** The detail in brackets, before the full stop of the sentence. */
export function withDetail(sentence: string, detail: string | undefined): string {
  if (detail === undefined) return sentence;
  return sentence.endsWith('.') ? `${sentence.slice(0, -1)} (${detail}).` : `${sentence} (${detail})`;
}
