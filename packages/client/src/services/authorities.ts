/** A device's view of the authorities of the task: asks all in parallel, and continues with the first good answers of as many as are needed. */
import type { Suite } from '@basa/masking';
import { type Refused, refused, type TaskId } from '@basa/protocol';
import type { Council } from '@basa/protocol/policy';
import { agreedOn, type Certificate, certificateCodec, enrolmentProof } from '@basa/protocol/wire';
import { RefusedError } from '../errors.ts';
import { type Asking, askSeveral } from './ask-several.ts';
import type { AuthorityClient } from './authority-client.ts';
import type { ServiceLink } from './service-link.ts';

/** One of them, with its index in the policy. */
export interface Member {
  readonly authority: number;
  readonly client: AuthorityClient;
}

const NOT_MINE = refused('certificate-invalid');

export class Authorities {
  readonly #members: readonly Member[];
  readonly #council: Council;
  readonly #suite: Suite;

  constructor(members: readonly Member[], council: Council, suite: Suite) {
    this.#members = members;
    this.#council = council;
    this.#suite = suite;
  }

  /** The only one of a task in paper mode. */
  get only(): AuthorityClient {
    return (this.#members[0] as Member).client;
  }

  get links(): readonly ServiceLink[] {
    return this.#members.map(({ client }) => client.link);
  }

  /** Returns the certificate with enough signatures; all authorities sign the same bytes. Each sees only the proof for its own key. */
  async enrol(
    task: TaskId,
    token: Uint8Array | undefined,
    isMine: (certificate: Certificate) => boolean,
    signal: AbortSignal,
  ): Promise<Certificate> {
    const judge = (answer: Certificate): Refused | undefined => (isMine(answer) ? undefined : NOT_MINE);
    const proofFor = (authority: number): Uint8Array | undefined =>
      token && enrolmentProof(this.#suite, token, this.#council.authorities[authority] as Uint8Array);
    const ask = ({ authority, client }: Member, both: AbortSignal): Promise<Certificate> =>
      client.enrol(task, proofFor(authority), both);
    const signed = await this.#ask(this.#members, signal, ask, { judge });
    const agreed = agreedOn(certificateCodec, this.#council, signed.filter(isMine));
    if (agreed === undefined) throw new RefusedError('wrong-certificate');
    return agreed;
  }

  #ask<Answer>(
    members: readonly Member[],
    signal: AbortSignal,
    ask: Asking<Member, Answer>['ask'],
    more: Partial<Asking<Member, Answer>> = {},
  ): Promise<readonly Answer[]> {
    return askSeveral(members, { needed: this.#council.threshold, signal, ask, ...more });
  }
}
