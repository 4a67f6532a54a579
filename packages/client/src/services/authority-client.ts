/** A device's view of one authority: every call shows the newest head of its log, every answer brings one. */
import {
  AUTHORITY_PATH,
  type Certificate,
  certificateCodec,
  decodePolicy,
  HEADER,
  type TaskId,
  type TaskPolicy,
} from '@basa/protocol';
import { decoded, hexOf, jsonBody, jsonOf } from '../answers.ts';
import type { Heads } from '../device/heads.ts';
import type { Answered, Call, ServiceLink } from './service-link.ts';

const MAX_STATEMENT_BYTES = 16_384;

export class AuthorityClient {
  readonly link: ServiceLink;
  readonly heads: Heads;

  constructor(link: ServiceLink, heads: Heads) {
    this.link = link;
    this.heads = heads;
  }

  /** Returns its key; its clock is recorded at the link. None of it is signed. */
  async about(signal: AbortSignal): Promise<{ readonly publicKey: Uint8Array }> {
    const { body } = await this.get(AUTHORITY_PATH.about, signal);
    const { publicKey, time } = jsonOf('authority', body);
    this.link.noteClock(time);
    return { publicKey: hexOf('authority', publicKey, 'publicKey') };
  }

  async policy(task: TaskId, signal: AbortSignal): Promise<TaskPolicy> {
    const { body } = await this.get(AUTHORITY_PATH.policy(task), signal);
    return decoded('authority', { decode: decodePolicy }, body);
  }

  /** The same device gets its certificate again. */
  async enrol(task: TaskId, token: string | undefined, signal: AbortSignal): Promise<Certificate> {
    const asked = jsonBody({ ...(token !== undefined && { token }) });
    const { body } = await this.post(AUTHORITY_PATH.enrolments(task), asked, signal);
    return decoded('authority', certificateCodec, body);
  }

  get(target: string, signal: AbortSignal): Promise<Answered> {
    return this.#call({ method: 'GET', target, maxBytes: MAX_STATEMENT_BYTES, signal });
  }

  post(target: string, asked: Pick<Call, 'body' | 'type'>, signal: AbortSignal): Promise<Answered> {
    return this.#call({ method: 'POST', target, ...asked, signed: true, maxBytes: MAX_STATEMENT_BYTES, signal });
  }

  async #call(call: Call): Promise<Answered> {
    const head = this.heads.toHeader();
    const answer = await this.link.call({ ...call, headers: head === undefined ? {} : { [HEADER.head]: head } });
    this.heads.meet(answer.header(HEADER.head));
    return answer;
  }
}
