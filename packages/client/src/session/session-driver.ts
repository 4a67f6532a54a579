/** Answers the requests of a contribution: signatures, durable steps, key agreements, masks, and the upload. */
import { toHex } from '@basa/masking';
import { type Refused, refused } from '@basa/protocol';
import { agreeOnKeys, type ContributeAnswer, type ContributeRequest } from '@basa/protocol/one-shot';
import { uploadNameOf } from '@basa/protocol/wire';
import { ProblemError } from '../errors.ts';
import type { Contribution } from './contribution.ts';
import type { DeviceContext } from './device-context.ts';
import { refusalOf } from './rejections.ts';
import { sendShot } from './upload-step.ts';

export class SessionDriver {
  readonly #context: DeviceContext;
  readonly #signal: AbortSignal;
  /** x' of a new update, which masking overwrites. */
  #input: Uint32Array | undefined;
  /** The names of the upload. */
  given: Pick<Contribution, 'ctx' | 'joinTag'> = { ctx: '', joinTag: '' };
  /** A service's problem that ends the session. */
  problem: ProblemError | undefined;

  constructor(context: DeviceContext, signal: AbortSignal, input?: Uint32Array) {
    this.#context = context;
    this.#signal = signal;
    this.#input = input;
  }

  /** Throws if there is no answer yet: the session stays as it is. */
  async answer(request: ContributeRequest): Promise<ContributeAnswer> {
    const { outside, state } = this.#context;
    switch (request.kind) {
      case 'sign':
        return await state.signer.sign(request.statement);
      case 'durable':
        await state.take(request.step, request.body);
        return undefined;
      case 'body':
        return await state.body();
      case 'keys': {
        const { suite, x25519 } = outside;
        return await agreeOnKeys(x25519 ?? { key: (secret) => suite.x25519(secret) }, request.work);
      }
      case 'input':
        if (this.#input === undefined) throw new Error('the update was masked before');
        return this.#input;
      case 'mask':
        await outside.mask(request.masking.vector, request.masking.plan, this.#signal);
        this.#signal.throwIfAborted();
        this.#input = undefined;
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

  /** If the update was not masked, for example after an abort. */
  wipe(): void {
    this.#input?.fill(0);
    this.#input = undefined;
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
