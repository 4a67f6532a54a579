/** A device's view of the authorities of the task: asks all in parallel, and continues with the first good answers of as many as are needed. */
import { type Suite, toHex } from '@basa/masking';
import { type Refused, refused, type TaskId } from '@basa/protocol';
import { AUTHORITY_PATH } from '@basa/protocol/http';
import { TaskPolicy } from '@basa/protocol/policy';
import { Certificate, Councils, Devices } from '@basa/protocol/wire';
import { AnswerError, ProblemError, RefusedError, UnreachableError } from '../errors.ts';
import { decoded, hexOf, jsonBody, jsonOf } from './answers.ts';
import type { Answered, Call, ServiceLink } from './link.ts';

const MAX_STATEMENT_BYTES = 16_384;

export class AuthorityClient {
  readonly link: ServiceLink;

  constructor(link: ServiceLink) {
    this.link = link;
  }

  /** Returns its key; it is not signed. */
  async about(signal: AbortSignal): Promise<{ readonly publicKey: Uint8Array }> {
    const { body } = await this.get(AUTHORITY_PATH.about, signal);
    const { publicKey } = jsonOf('authority', body);
    return { publicKey: hexOf('authority', publicKey, 'publicKey') };
  }

  async policy(task: TaskId, signal: AbortSignal): Promise<TaskPolicy> {
    const { body } = await this.get(AUTHORITY_PATH.policy(task), signal);
    return decoded('authority', { decode: TaskPolicy.decode }, body);
  }

  /** The same device gets its certificate again. The proof is of no use to any other authority. */
  async enrol(task: TaskId, proof: Uint8Array | undefined, signal: AbortSignal): Promise<Certificate> {
    const asked = jsonBody({ ...(proof !== undefined && { proof: toHex(proof) }) });
    const { body } = await this.post(AUTHORITY_PATH.enrolments(task), asked, signal);
    return decoded('authority', Certificate, body);
  }

  get(target: string, signal: AbortSignal): Promise<Answered> {
    return this.link.call({ method: 'GET', target, maxBytes: MAX_STATEMENT_BYTES, signal });
  }

  post(target: string, asked: Pick<Call, 'body' | 'type'>, signal: AbortSignal): Promise<Answered> {
    return this.link.call({ method: 'POST', target, ...asked, signed: true, maxBytes: MAX_STATEMENT_BYTES, signal });
  }
}

/** The time for which further answers are awaited if there are enough to go on. */
export const SILENCE_MS = 2000;

interface Asking<One, Answer> {
  readonly needed: number;
  readonly signal: AbortSignal;
  ask(one: One, signal: AbortSignal): Promise<Answer>;
  /** Returns the reason why an answer does not count, so that another authority's is awaited. */
  judge?(answer: Answer): Refused | undefined;
  /** True if these are enough; without it, as many as are needed. */
  isEnough?(good: readonly Answer[]): boolean;
  /**
   * The time for which further answers are awaited if the needed number has come but is not enough; without it, until
   * all have answered.
   */
  readonly graceMs?: number;
}

/**
 * Returns as soon as there are enough answers, and cancels the other requests. If all authorities are done and there are not enough
 * answers, returns the answers only if silent authorities could not change the result.
 */
export async function askSeveral<One, Answer>(
  all: readonly One[],
  { needed, signal, ask, judge = () => undefined, isEnough = () => true, graceMs }: Asking<One, Answer>,
): Promise<readonly Answer[]> {
  if (needed === 0) return [];
  const [only] = all;
  if (only !== undefined && all.length === 1) return [await ask(only, signal)];
  const rest = new AbortController();
  const both = AbortSignal.any([signal, rest.signal]);
  const poll = new Councils.Poll<Answer>(all.length, (good) => good.length >= needed && isEnough(good));
  let grace: ReturnType<typeof setTimeout> | undefined;
  try {
    await new Promise<void>((resolve) => {
      const settle = (): void => {
        if (poll.isEnough || poll.isOver) resolve();
        else if (graceMs !== undefined && poll.good.length >= needed) grace ??= setTimeout(resolve, graceMs);
      };
      if (all.length === 0) resolve();
      for (const one of all) {
        ask(one, both)
          .then((answer) => poll.answered(answer, judge(answer)))
          .catch((error: unknown) => poll.failed(error))
          .finally(settle);
      }
    });
  } finally {
    clearTimeout(grace);
    rest.abort(new Error('enough others answered'));
  }
  signal.throwIfAborted();
  if (poll.good.length >= needed) return poll.good;
  // A refusal or a wrong answer is final if too few authorities are left. Otherwise authorities that were silent may still provide enough
  // answers later.
  const nos = poll.failures.filter((error) => error instanceof ProblemError);
  const silent = poll.failures.filter((error) => !(error instanceof ProblemError));
  if (poll.good.length + silent.length >= needed) throw tooFew(silent, needed, all.length);
  if (poll.good.length + poll.wrong.length >= needed) return [...poll.good, ...poll.wrong];
  throw nos[0] ?? silent[0] ?? new AnswerError('the authorities', 'nothing');
}

/** States how many are needed, if some were silent. */
function tooFew(silent: readonly unknown[], needed: number, asked: number): unknown {
  const away = silent.filter((error) => error instanceof UnreachableError);
  const [first] = away;
  if (first === undefined) return silent[0];
  const counts = `${needed} of ${asked} authorities must answer, but ${away.length} did not`;
  const advice = 'the work so far is kept; call resume() when one of them is back';
  return new UnreachableError('the authority', first.cause ?? first, { advice, more: `; ${counts}` });
}

/**
 * Returns the certificate with enough signatures; all authorities sign the same bytes. They are in the order of the council, and each sees
 * only the proof for its own key.
 */
export async function enrolAt(
  authorities: readonly AuthorityClient[],
  council: Councils.Council,
  { suite, task, token }: { readonly suite: Suite; readonly task: TaskId; readonly token: Uint8Array | undefined },
  isMine: (certificate: Certificate) => boolean,
  signal: AbortSignal,
): Promise<Certificate> {
  const ask = (authority: number, both: AbortSignal): Promise<Certificate> => {
    const proof = token && Devices.enrolmentProof(suite, token, council.authorities[authority] as Uint8Array);
    return (authorities[authority] as AuthorityClient).enrol(task, proof, both);
  };
  const judge = (answer: Certificate): Refused | undefined =>
    isMine(answer) ? undefined : refused('certificate-invalid');
  const signed = await askSeveral([...authorities.keys()], { needed: council.threshold, signal, ask, judge });
  const agreed = Councils.agreedOn(Certificate, council, signed.filter(isMine));
  if (agreed === undefined) throw new RefusedError('wrong-certificate');
  return agreed;
}
