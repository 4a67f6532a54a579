/** Answers the requests of a contribution: signatures, durable steps, masks, and messages of the services. */
import { toHex } from '@basa/masking';
import {
  type ContributeAnswer,
  type ContributeRequest,
  type KeyAnswerOf,
  keyAnswerProblem,
  type Membership,
  type Refused,
  refused,
  type SlottedSession,
  uploadNameOf,
} from '@basa/protocol';
import { isOfService, ProblemError } from '../errors.ts';
import type { Contribution } from './contribution.ts';
import { sendDeposit } from './deposit-step.ts';
import { type DeviceContext, membershipOf, userPorts } from './device-context.ts';
import { refusalOf } from './rejections.ts';
import { sendShot, sendUpload } from './upload-step.ts';

/** The share of its lease for which a slot waits for authorities that do not answer: most restarted ones are back by then. */
const PATIENCE = 0.25;

export class SessionDriver {
  readonly #context: DeviceContext;
  readonly #signal: AbortSignal;
  /** x' of an update whose session is not durable yet; it becomes durable with the session. */
  #fresh: Uint32Array | undefined;
  #input: Uint32Array | undefined;
  /** The buffer or upload that the update was given to. */
  given: Pick<Contribution, 'ctx' | 'joinTag' | 'slot'> = { ctx: '', joinTag: '', slot: undefined };
  /** A service's problem that ends the session. */
  problem: ProblemError | undefined;

  constructor(context: DeviceContext, signal: AbortSignal, fresh?: Uint32Array) {
    this.#context = context;
    this.#signal = signal;
    this.#fresh = fresh;
  }

  get #member(): Membership {
    const member = membershipOf(this.#context.state);
    if (member === undefined) throw new Error('the session has no place in a buffer');
    return member;
  }

  /** Throws if there is no answer yet: the session stays as it is. */
  async answer(request: ContributeRequest): Promise<ContributeAnswer> {
    const { outside, sealings, state } = this.#context;
    switch (request.kind) {
      case 'sign':
        this.#tell(request.of);
        return await state.signer.sign(request.statement);
      case 'durable':
        await state.take(request.step, this.#fresh);
        this.wipe();
        return undefined;
      case 'deposit':
        return await this.#refusable(() => sendDeposit(this.#context, request.message, this.#member, this.#signal));
      case 'key':
        return await this.#refusable(() => this.#key(request));
      case 'sealing':
        return await sealings.work(this.#member.descriptor, request.work);
      case 'keys':
        return await sealings.keys(request.work);
      case 'input':
        if (state.session?.step === 'slotted') this.#context.events.emit('progress', { step: 'mask' });
        this.#input = this.#fresh ?? (await state.input());
        return this.#input;
      case 'mask':
        if (this.#fresh === undefined) this.wipe();
        await outside.mask(request.masking.vector, request.masking.plan, this.#signal);
        this.#signal.throwIfAborted();
        return undefined;
      case 'upload':
        this.given = namesOf(this.#member, request.header.slot);
        return await this.#refusable(async () => {
          await sendUpload(this.#context, request, this.#member, this.#signal);
          return { kind: 'accepted' };
        });
      case 'shot': {
        const { header } = request.upload;
        this.given = namesOf({ ctx: uploadNameOf(outside.suite, header), joinTag: header.joinTag });
        return await this.#refusable(async () => {
          await sendShot(this.#context, request, this.#signal);
          return { kind: 'accepted' };
        });
      }
    }
  }

  /** x' is masked in a copy, so this one is no longer needed. */
  wipe(): void {
    this.#input?.fill(0);
    this.#fresh?.fill(0);
    this.#input = this.#fresh = undefined;
  }

  #tell(step: 'deposit' | 'key' | 'upload'): void {
    const { events, state } = this.#context;
    if (step === 'upload') return; // the upload reports its own bytes
    const { session } = state;
    if (session?.step === 'slotted') {
      events.emit('slotted', { ctx: toHex(this.#member.ctx), slot: session.ticket.slot });
    }
    events.emit('progress', { step });
  }

  /** Nothing was given away yet: a lost slot leaves the update free. */
  async #key({ message }: Extract<ContributeRequest, { kind: 'key' }>): Promise<ContributeAnswer> {
    const { authorities, server, state } = this.#context;
    const { session } = state;
    if (server.link.now() >= message.ticket.deadline) return refused('lease-over');
    const { ctx, descriptor } = this.#member;
    if (session?.step !== 'slotted') return refused('wrong-step');
    const ports = userPorts(this.#context, descriptor);
    const judge = (answer: KeyAnswerOf): Refused | undefined => keyAnswerProblem(ports, session, answer);
    try {
      return await authorities.key(ctx, message, descriptor, judge, this.#signal);
    } catch (error) {
      const isNoAnswer = isOfService(error) && refusalOf(error) === undefined;
      if (isNoAnswer && (await this.#mayLeave(session))) return refused('buffer-not-open');
      throw error;
    }
  }

  /**
   * True if another buffer is better than waiting: authorities of this buffer have been down for long, and enough other authorities answer
   * to draw a new buffer. The server drops the slot when its lease ends, as for a device that left.
   */
  async #mayLeave({ ticket, member: { descriptor } }: SlottedSession): Promise<boolean> {
    const { authorities, pins, server } = this.#context;
    const { parts, uploadLeaseMs } = descriptor;
    const isLong = server.link.now() >= ticket.deadline - (1 - PATIENCE) * uploadLeaseMs;
    if (!isLong || parts.length === pins.policy.authorities.length) return false;
    return await authorities.enoughAnswer(this.#signal);
  }

  /** A refusal of the protocol is an answer; any other error is rethrown. */
  async #refusable<Answer>(asked: () => Promise<Answer>): Promise<Answer | Refused> {
    try {
      return await asked();
    } catch (error) {
      const reason = refusalOf(error);
      if (reason === undefined || !(error instanceof ProblemError)) throw error;
      this.problem = error;
      return refused(reason);
    }
  }
}

function namesOf({ ctx, joinTag }: Pick<Membership, 'ctx' | 'joinTag'>, slot?: number): SessionDriver['given'] {
  return { ctx: toHex(ctx), joinTag: toHex(joinTag), slot };
}
