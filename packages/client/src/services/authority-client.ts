/** A device's view of one authority. */
import { toHex } from '@basa/masking';
import type { TaskId } from '@basa/protocol';
import { AUTHORITY_PATH } from '@basa/protocol/http';
import { decodePolicy, type TaskPolicy } from '@basa/protocol/policy';
import { type Certificate, certificateCodec } from '@basa/protocol/wire';
import { decoded, hexOf, jsonBody, jsonOf } from '../answers.ts';
import type { Answered, Call, ServiceLink } from './service-link.ts';

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
    return decoded('authority', { decode: decodePolicy }, body);
  }

  /** The same device gets its certificate again. The proof is of no use to any other authority. */
  async enrol(task: TaskId, proof: Uint8Array | undefined, signal: AbortSignal): Promise<Certificate> {
    const asked = jsonBody({ ...(proof !== undefined && { proof: toHex(proof) }) });
    const { body } = await this.post(AUTHORITY_PATH.enrolments(task), asked, signal);
    return decoded('authority', certificateCodec, body);
  }

  get(target: string, signal: AbortSignal): Promise<Answered> {
    return this.link.call({ method: 'GET', target, maxBytes: MAX_STATEMENT_BYTES, signal });
  }

  post(target: string, asked: Pick<Call, 'body' | 'type'>, signal: AbortSignal): Promise<Answered> {
    return this.link.call({ method: 'POST', target, ...asked, signed: true, maxBytes: MAX_STATEMENT_BYTES, signal });
  }
}
