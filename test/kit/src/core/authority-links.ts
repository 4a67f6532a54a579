/** A server's links to the authorities of a simulation, which may be away, answer last, or lie. */
import {
  authorityMessages,
  type BufferRequest,
  bufferRequestCodec,
  type CloseAnswer,
  type CloseRequest,
  type Ctx,
  isRefused,
  type ModelAppend,
  type ModelEntry,
  modelAppendCodec,
  modelEntryCodec,
  type Offer,
  type Outcome,
  offerRequestCodec,
  type TaskId,
  type TaskPolicy,
  type Term,
} from '@basa/protocol';
import { AuthorityRefusal, AuthorityUnreachable } from '@basa/server/internal/authority/authority-http.ts';
import type { AuthorityLink } from '@basa/server/internal/authority/authority-link.ts';
import { TaskAuthorities } from '@basa/server/internal/authority/task-authorities.ts';
import type { Federation } from '@basa/simulator';
import { authorityOf } from './several.ts';

type Question = 'policy' | 'offer' | 'draw' | 'append' | 'adopt' | 'renew' | 'close' | 'outcome';

/** The link to an authority of a simulation, which may be away for some questions, answer last, or lie. */
export class Link {
  readonly away = new Set<Question>();
  isLast = false;
  /** The changes that a lying authority makes to its answers. */
  readonly lies: { [question in Question]?: (answer: never) => object } = {};
  readonly #world: Federation;
  readonly #index: number;

  constructor(world: Federation, index: number) {
    this.#world = world;
    this.#index = index;
  }

  policy(): Promise<TaskPolicy> {
    return this.#ask('policy', () => this.#world.policy);
  }

  offer(task: TaskId): Promise<Offer> {
    const signature = this.#sign(offerRequestCodec.statement({ task }));
    return this.#ask('offer', () => this.#authority.offer(offerRequestCodec.encode({ task, signature })));
  }

  drawBuffer(body: Omit<BufferRequest, 'signature'>) {
    const bytes = bufferRequestCodec.encode({ ...body, signature: this.#sign(bufferRequestCodec.statement(body)) });
    return this.#ask('draw', () => this.#authority.drawBuffer(bytes));
  }

  appendModel(body: Omit<ModelAppend, 'signature'>): Promise<ModelEntry> {
    const bytes = modelAppendCodec.encode({ ...body, signature: this.#sign(modelAppendCodec.statement(body)) });
    return this.#ask('append', () => this.#authority.appendModel(bytes));
  }

  adoptModel(entry: ModelEntry): Promise<ModelEntry> {
    return this.#ask('adopt', () => this.#authority.adoptModel(modelEntryCodec.encode(entry)));
  }

  renewModel(entry: ModelEntry): Promise<ModelEntry> {
    const authority = this.#authority;
    return this.#ask('renew', () => authority.persist(authority.core.renewModel(entry)));
  }

  close(request: CloseRequest, bufferSize: number): Promise<CloseAnswer> {
    const bytes = authorityMessages(bufferSize).closeRequest.encode(request);
    return this.#ask('close', () => this.#authority.close(bytes));
  }

  outcome(ctx: Ctx): Promise<Outcome> {
    return this.#ask('outcome', () => this.#authority.outcome(ctx));
  }

  get #authority() {
    return authorityOf(this.#world, this.#index);
  }

  #sign(statement: Uint8Array): Uint8Array {
    return this.#world.server.ports.signer.sign(statement);
  }

  async #ask<Answer extends object>(question: Question, ask: () => Answer) {
    if (this.away.has(question)) throw new AuthorityUnreachable('it is away');
    const answer = ask();
    if (this.isLast) await new Promise((resolve) => setImmediate(resolve));
    if (isRefused(answer)) throw new AuthorityRefusal(answer.reason, answer.reason);
    const told = this.lies[question]?.(answer as never) ?? answer;
    return told as Exclude<Answer, { kind: 'refused' }>;
  }
}

/** With lies of the first authority, whose answer is then among those that are needed: the last one is late. */
export function serverOf(world: Federation, lies?: Link['lies']) {
  const links = world.authorities.map((_, n) => new Link(world, n));
  Object.assign(links[0]?.lies ?? {}, lies);
  Object.assign(links.at(-1) ?? {}, { isLast: lies !== undefined });
  const start = (policy = world.policy, terms: readonly Term[] = []): TaskAuthorities =>
    new TaskAuthorities({
      terms: async () => terms,
      task: world.task,
      policy,
      ports: world.server.ports,
      links: links as unknown as readonly AuthorityLink[],
      graceMs: 0,
      clock: () => world.now,
    });
  return { links, start, newest: world.authority.core.newestModel(world.task) as ModelEntry };
}
