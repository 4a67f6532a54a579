/** The requests of a federation to all its authorities: they draw buffers, close them and log models together. */
import {
  agreedOn,
  authorityMessages,
  type BufferRequest,
  bufferRequestCodec,
  closeSteps,
  type DrawnBuffer,
  descriptorCodec,
  type Grant,
  isDrawn,
  isRefused,
  listsOf,
  type ModelAppend,
  type ModelEntry,
  millis,
  modelAppendCodec,
  modelEntryCodec,
  offerRequestCodec,
  type Refused,
  type SecureBuffer,
  type ServerPorts,
} from '@basa/protocol';
import { granted } from './granted.ts';
import type { AuthorityPeer, World } from './world.ts';

export interface AnswerOf<Answer> {
  readonly authority: number;
  readonly answer: Answer;
}

/** Returns the answers of the authorities that are present, and the last refusal among them. */
export function askAll<Answer extends object>(
  world: World,
  step: string,
  ask: (authority: AuthorityPeer) => Answer | Refused,
): { readonly answers: readonly AnswerOf<Answer>[]; readonly no: Refused | undefined } {
  let no: Refused | undefined;
  const answers = world.authorities.flatMap((peer, authority) => {
    if (world.isAway?.(authority)) return [];
    const answer = world.call(step, () => ask(peer));
    if (!isRefused(answer)) return [{ authority, answer }];
    no = answer;
    return [];
  });
  return { answers, no };
}

/** The authorities as the server reaches them. */
export class FederationCouncil {
  readonly #world: World;
  readonly #ports: ServerPorts;
  /** The entries of the model log that enough authorities signed, by version. */
  readonly log: ModelEntry[] = [];

  constructor(world: World, ports: ServerPorts) {
    this.#world = world;
    this.#ports = ports;
  }

  /** Returns the entry of a version; the newest one by default. */
  entry(version: number = this.log.length - 1): ModelEntry {
    const entry = this.log[version];
    if (entry === undefined) throw new Error(`no version ${version} is logged`);
    return entry;
  }

  draw(model: ModelEntry): DrawnBuffer {
    return this.#world.authorities.length === 1 ? this.#drawAlone(model) : this.#drawTogether(model);
  }

  #drawAlone(model: ModelEntry): DrawnBuffer {
    const bytes = this.#bufferRequest(model, []);
    return granted(this.#world.call('draw', () => this.#world.authority.drawBuffer(bytes)));
  }

  /** Draws from the offers of all authorities that are present. */
  #drawTogether(model: ModelEntry): DrawnBuffer {
    const { task, policy, now } = this.#world;
    const signature = this.#ports.signer.sign(offerRequestCodec.statement({ task }));
    const request = offerRequestCodec.encode({ task, signature });
    const offers = this.#answersOf('offer', (authority) => authority.offer(request)).map(({ answer }) => answer);
    const expiry = millis(now + policy.openMs);
    const bytes = this.#bufferRequest(model, [{ parts: offers.map(({ part }) => part), expiry }]);
    const drawn = this.#answersOf('draw', (authority) => authority.drawBuffer(bytes)).map(
      ({ answer }) => answer.descriptor,
    );
    const descriptor = agreedOn(descriptorCodec, policy, drawn);
    if (descriptor === undefined || !isDrawn(this.#ports.suite, policy, descriptor))
      throw new Error('the authorities did not all sign the buffer that they offered parts for');
    return { descriptor, slotKeys: listsOf(offers) };
  }

  #bufferRequest(model: ModelEntry, plan: BufferRequest['plan']): Uint8Array {
    const body = { task: this.#world.task, nonce: this.#world.randomBytes(16), model, newest: this.entry(), plan };
    const signature = this.#ports.signer.sign(bufferRequestCodec.statement(body));
    return bufferRequestCodec.encode({ ...body, signature });
  }

  /** The votes for the close of a frozen buffer, and the keys that open its sum. */
  close(buffer: SecureBuffer): Grant {
    const { closeRequest } = authorityMessages(this.#world.policy.bufferSize);
    const steps = closeSteps(this.#ports, buffer);
    let next = steps.next();
    while (next.done !== true) {
      const bytes = closeRequest.encode(next.value);
      next = steps.next(this.#answersOf('close', (authority) => authority.close(bytes)));
    }
    return granted(next.value);
  }

  append(body: Omit<ModelAppend, 'signature'>): ModelEntry {
    return granted(this.tryAppend(body));
  }

  /** Refused if no authority signs it. */
  tryAppend(body: Omit<ModelAppend, 'signature'>): ModelEntry | Refused {
    const { policy } = this.#world;
    const signature = this.#ports.signer.sign(modelAppendCodec.statement(body));
    const bytes = modelAppendCodec.encode({ ...body, signature });
    const { answers: signed, no } = askAll(this.#world, 'append', (authority) => authority.appendModel(bytes));
    if (signed.length === 0 && no !== undefined) return no;
    const entry = agreedOn(
      modelEntryCodec,
      policy,
      signed.map(({ answer }) => answer),
    );
    if (entry === undefined) throw new Error('too few authorities signed the model');
    if (policy.threshold > 1)
      this.#answersOf('adopt', (authority) => authority.adoptModel(modelEntryCodec.encode(entry)));
    this.log[entry.version] = entry;
    return entry;
  }

  /** Leaves out the authorities that refuse, unless all refuse. */
  #answersOf<Answer extends object>(
    step: string,
    ask: (authority: AuthorityPeer) => Answer | Refused,
  ): readonly AnswerOf<Answer>[] {
    const { answers, no } = askAll(this.#world, step, ask);
    if (answers.length === 0 && no !== undefined) granted(no);
    return answers;
  }
}
