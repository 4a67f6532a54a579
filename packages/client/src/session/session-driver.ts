/** Answers the requests of a contribution: signatures, durable steps, key agreements, masks, and the upload. */
import { toHex } from '@basa/masking';
import {
  agreeOnKeys,
  type ContributeAnswer,
  type ContributeRequest,
  type Refused,
  refused,
  uploadNameOf,
} from '@basa/protocol';
import { ProblemError } from '../errors.ts';
import type { Contribution } from './contribution.ts';
import type { DeviceContext } from './device-context.ts';
import { refusalOf } from './rejections.ts';
import { sendShot } from './upload-step.ts';

export class SessionDriver {
  readonly #context: DeviceContext;
  readonly #signal: AbortSignal;
  /** x' of an update whose session is not durable yet; it becomes durable with the session. */
  #fresh: Uint32Array | undefined;
  #input: Uint32Array | undefined;
  /** The names of the upload. */
  given: Pick<Contribution, 'ctx' | 'joinTag'> = { ctx: '', joinTag: '' };
  /** A service's problem that ends the session. */
  problem: ProblemError | undefined;

  constructor(context: DeviceContext, signal: AbortSignal, fresh?: Uint32Array) {
    this.#context = context;
    this.#signal = signal;
    this.#fresh = fresh;
  }

  /** Throws if there is no answer yet: the session stays as it is. */
  async answer(request: ContributeRequest): Promise<ContributeAnswer> {
    const { outside, state } = this.#context;
    switch (request.kind) {
      case 'sign':
        return await state.signer.sign(request.statement);
      case 'durable':
        await state.take(request.step, this.#fresh);
        this.wipe();
        return undefined;
      case 'keys': {
        const { suite, x25519 } = outside;
        return await agreeOnKeys(x25519 ?? { key: (secret) => suite.x25519(secret) }, request.work);
      }
      case 'input':
        this.#input = this.#fresh ?? (await state.input());
        return this.#input;
      case 'mask':
        if (this.#fresh === undefined) this.wipe();
        await outside.mask(request.masking.vector, request.masking.plan, this.#signal);
        this.#signal.throwIfAborted();
        return undefined;
      case 'shot': {
        const { header } = request.upload;
        this.given = { ctx: toHex(uploadNameOf(outside.suite, header)), joinTag: toHex(header.joinTag) };
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
