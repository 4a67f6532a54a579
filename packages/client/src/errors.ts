/** The errors between a client and its services. Each says what to do next; none holds a secret. */
import { isRefusalReason, REFUSALS, type RefusalReason } from '@basa/protocol';
import { type Gathering, type ProblemCode, Problems } from '@basa/protocol/http';

/** Answers of a proxy, without a problem document. */
const PASSING_STATUS: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);

/** A service refused, with a problem document. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  /** `unknown-problem` for an answer whose type this version does not know. */
  readonly code: ProblemCode | 'unknown-problem';
  readonly status: number;
  readonly detail: string | undefined;
  readonly retryAfterMs: number | undefined;
  /** With `no-place`, if too few devices take part. */
  readonly gathering: Gathering | undefined;
  /** The server's offset of the upload, with `offset-mismatch`. */
  readonly uploadOffset: number | undefined;

  constructor(said: {
    readonly code: ProblemError['code'];
    readonly status: number;
    readonly title: string;
    readonly detail?: string | undefined;
    readonly retryAfterMs?: number | undefined;
    readonly gathering?: Gathering | undefined;
    readonly uploadOffset?: number | undefined;
  }) {
    super(Problems.withDetail(said.title, said.detail));
    this.code = said.code;
    this.status = said.status;
    this.detail = said.detail;
    this.retryAfterMs = said.retryAfterMs;
    this.gathering = said.gathering;
    this.uploadOffset = said.uploadOffset;
  }

  /** The next step, in a sentence. */
  get next(): string {
    if (this.code !== 'unknown-problem') return Problems.nextStepOf(this.code);
    return 'Check that the address belongs to a BASA service of the same version, and not to a proxy or another program.';
  }

  /** True if the same request may succeed later. */
  get isPassing(): boolean {
    return this.code === 'unknown-problem'
      ? PASSING_STATUS.has(this.status)
      : Problems.problemOf(this.code).resend === true;
  }
}

/** No service answered in time. The session is kept: `resume` continues with the same bytes. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
  /** `no-answer` for a request of an operator: there is nothing to resume. */
  readonly code: 'unreachable' | 'no-answer';
  /** The message without its advice for programmers. */
  readonly happened: string;

  constructor(
    service: string,
    cause: unknown,
    {
      advice = 'check the address and the network, then call resume()',
      code = 'unreachable' as UnreachableError['code'],
      more = '',
    } = {},
  ) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const happened = `${service} does not answer (${why})${more}`;
    super(`${happened}; ${advice}`, { cause });
    this.code = code;
    this.happened = happened;
  }
}

/** True if a service refused or did not answer; any other error is a fault. */
export function isOfService(error: unknown): error is UnreachableError | ProblemError {
  return error instanceof UnreachableError || error instanceof ProblemError;
}

/** The service showed a TLS certificate that this client does not trust; a retry would not help. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError';
  readonly code = 'certificate-not-trusted';
  /** The message without its advice for programmers. */
  readonly happened: string;

  constructor(url: string, cause: Error) {
    const happened = `the certificate of ${url} is not trusted (${cause.message})`;
    super(`${happened}; check the address, or pass its CA as tls.ca`, { cause });
    this.happened = happened;
  }
}

/** An answer that is not of the documented form. */
export class AnswerError extends Error {
  override readonly name = 'AnswerError';

  constructor(service: string, problem: string, cause?: unknown) {
    super(`${service} sent an invalid answer: ${problem}; check that it is a BASA service of the same version`, {
      cause,
    });
  }
}

/** The event, and the advice for programmers. */
const OWN_REFUSALS = {
  'wrong-authority': ['The authority does not have the expected key', 'check its address and authorityKey'],
  'wrong-server': ['The server is not the server of this task', 'check its address and the task'],
  'wrong-policy': ['The policy does not belong to this task', 'check the task, and do not trust this authority'],
  'unusable-policy': [
    'The policy of the task is not valid for this client',
    'create the task again with a client of this version',
  ],
  'below-floor': [
    'The task gives less protection than this device demands',
    'take part in another task, or lower the demands (floor)',
  ],
  'plain-http': [
    'The address is plain http to another machine, so others on the network can read and change the messages',
    'use https, or pass unsafeAllowPlainHttp if you control the network in between',
  ],
  'wrong-certificate': [
    'The certificate from the authority is not valid for this device and task',
    'check authority, authorityKey and task, and do not trust this authority',
  ],
  'store-of-another-task': [
    'The folder or store belongs to a device in another task',
    'use a separate folder or store for each task',
  ],
  'unsafe-engine': [
    'The task does not protect updates (transparent engine)',
    'this client refuses to take part; create a task in one-shot mode',
  ],
  'not-paper-mode': ['The task does not use paper mode', 'use contribute'],
  'paper-mode': [
    'The task uses the unsafe mode of the paper',
    'use unsafePaperContribute of @basa/client/unsafe-paper if you accept that its server can learn single updates',
  ],
} as const satisfies Readonly<Record<string, readonly [happened: string, advice: string]>>;

type OwnRefusal = keyof typeof OWN_REFUSALS;

/** The client itself rejects an answer. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly reason: OwnRefusal | RefusalReason;
  /** The same code, under the property name that errors of services have. */
  readonly code: OwnRefusal | RefusalReason;
  /** The message without its advice for programmers. */
  readonly happened: string;
  /** The next step, in a sentence. Undefined if the message says it itself. */
  readonly next: string | undefined;
  readonly detail: string | undefined;

  constructor(reason: OwnRefusal | RefusalReason, detail?: string) {
    const [said, advice] = isRefusalReason(reason) ? [REFUSALS[reason].sentence] : OWN_REFUSALS[reason];
    const happened = Problems.withDetail(said, detail);
    super(advice === undefined ? happened : `${happened}; ${advice}.`);
    this.happened = happened;
    this.next = isRefusalReason(reason) ? Problems.nextStepOf(reason) : undefined;
    this.detail = detail;
    this.reason = reason;
    this.code = reason;
  }
}

/** The device's store cannot be used: it is held by another process, or damaged. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
}

/** Settings of a task, or a task and a trainer, that cannot be used together; the sentence names them. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}
