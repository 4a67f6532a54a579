/** A device's view of the authorities of the task: asks all in parallel, and continues with the first good answers of as many as are needed. */
import {
  agreedOn,
  type Certificate,
  type Council,
  certificateCodec,
  councilClock,
  type Head,
  type KeptHead,
  type Millis,
  millis,
  type Refused,
  refused,
  type TaskId,
} from '@basa/protocol';
import { isOfService, RefusedError } from '../errors.ts';
import type { Outside } from '../outside.ts';
import { type Asking, askSeveral, SILENCE_MS } from './ask-several.ts';
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
  readonly #outside: Pick<Outside, 'now'>;

  constructor(members: readonly Member[], council: Council, outside: Pick<Outside, 'now'>) {
    this.#members = members;
    this.#council = council;
    this.#outside = outside;
  }

  /** The only one of a task in paper mode. */
  get only(): AuthorityClient {
    return (this.#members[0] as Member).client;
  }

  get links(): readonly ServiceLink[] {
    return this.#members.map(({ client }) => client.link);
  }

  /** The time by the authorities' clocks, no single one of which decides. Throws if the device's own clock is wrong. */
  now(): Millis {
    const told = this.#members.flatMap(({ client }) => client.link.offsetMs ?? []);
    const { kind, offsetMs } = councilClock(this.#council, told);
    if (kind === 'wrong') throw new RefusedError('wrong-clock', distanceOf(offsetMs));
    return millis(this.#outside.now() + offsetMs);
  }

  /** Asks as many as are needed for the time again, if they answer soon. */
  async readClocks(signal: AbortSignal): Promise<void> {
    const needed = 1;
    const isEnough = (told: readonly unknown[]): boolean => told.length >= this.#council.threshold;
    const ask = ({ client }: Member, both: AbortSignal): Promise<unknown> => client.about(both);
    try {
      await this.#ask(this.#members, signal, ask, { needed, isEnough, graceMs: SILENCE_MS });
    } catch (error) {
      if (!isOfService(error)) throw error;
    }
  }

  /** The heads seen of all their logs. */
  get heads(): readonly KeptHead[] {
    return this.#members.flatMap(({ client }) => client.heads.kept);
  }

  /** The heads seen of each log, by index. */
  seen(): ReadonlyMap<number, readonly Head[]> {
    return new Map(this.#members.map(({ authority, client }) => [authority, client.heads.seen]));
  }

  /** Returns the certificate with enough signatures; all authorities sign the same bytes. */
  async enrol(
    task: TaskId,
    token: string | undefined,
    isMine: (certificate: Certificate) => boolean,
    signal: AbortSignal,
  ): Promise<Certificate> {
    const judge = (answer: Certificate): Refused | undefined => (isMine(answer) ? undefined : NOT_MINE);
    const ask = ({ client }: Member, both: AbortSignal): Promise<Certificate> => client.enrol(task, token, both);
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

const HOUR_MS = 3_600_000;

function distanceOf(offsetMs: number): string {
  const hours = Math.round(Math.abs(offsetMs) / HOUR_MS);
  return `it is about ${hours} hours ${offsetMs > 0 ? 'behind' : 'ahead of'} the clocks of the authorities`;
}
