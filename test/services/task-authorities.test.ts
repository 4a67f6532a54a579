/** What a server asks of several authorities goes on after some of them were away in the middle of it. */
import type {
  BufferRequest,
  DrawnBuffer,
  Endorsed,
  ModelAppend,
  ModelEntry,
  Offer,
  TaskId,
  Vote,
} from '@basa/protocol';
import {
  bufferRequestCodec,
  isRefused,
  millis,
  modelAppendCodec,
  modelEntryCodec,
  offerRequestCodec,
} from '@basa/protocol';
import type { Federation, FederationDevice } from '@basa/simulator';
import { granted } from '@basa/simulator';
import { authorityOf, closedBy, closedTogether, SLOTS, severalAuthorities } from '@basa/testkit/core/several.ts';
import { expect, it } from 'vitest';
import type { AuthorityLink } from '../../packages/server/src/authority/authority-link.ts';
import { AuthorityRefusal, AuthorityUnreachable } from '../../packages/server/src/authority/authority-link.ts';
import { TaskAuthorities } from '../../packages/server/src/authority/task-authorities.ts';

type Question = 'offer' | 'draw' | 'append' | 'adopt';

/** The way to an authority of a simulation, which is away from such questions, or lies. */
class Link {
  readonly away = new Set<Question>();
  /** What a lying authority makes of its answers. */
  readonly lies: { [question in Question]?: (answer: never) => object } = {};
  readonly #world: Federation;
  readonly #index: number;

  constructor(world: Federation, index: number) {
    this.#world = world;
    this.#index = index;
  }

  offer(task: TaskId): Promise<Offer> {
    const signature = this.#sign(offerRequestCodec.statement({ task }));
    return this.#ask('offer', () => this.#authority.offer(offerRequestCodec.encode({ task, signature })));
  }

  drawBuffer(task: TaskId, nonce: Uint8Array, plan: BufferRequest['plan']) {
    const body = { task, nonce, plan };
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

  get #authority() {
    return authorityOf(this.#world, this.#index);
  }

  #sign(statement: Uint8Array): Uint8Array {
    return this.#world.server.ports.signer.sign(statement);
  }

  async #ask<Answer extends object>(question: Question, ask: () => Answer) {
    if (this.away.has(question)) throw new AuthorityUnreachable('it is away');
    const answer = ask();
    if (isRefused(answer)) throw new AuthorityRefusal(answer.reason, answer.reason);
    const told = this.lies[question]?.(answer as never) ?? answer;
    return told as Exclude<Answer, { kind: 'refused' }>;
  }
}

function serverOf(world: Federation) {
  const links = world.authorities.map((_, n) => new Link(world, n));
  const start = (): TaskAuthorities =>
    new TaskAuthorities({
      task: world.task,
      policy: world.policy,
      ports: world.server.ports,
      links: links as unknown as readonly AuthorityLink[],
      graceMs: 0,
      clock: () => world.now,
    });
  return { links, start, newest: world.authority.core.newestModel(world.task) as ModelEntry };
}

it('draws a buffer without an authority that offered its part and did not sign, and with it again after a while', async () => {
  const world = severalAuthorities();
  const { links, start, newest } = serverOf(world);
  const authorities = start();
  const partsOfDraw = async (): Promise<readonly number[]> =>
    (await authorities.drawBuffer(world.randomBytes(16), newest)).descriptor.parts.map(({ authority }) => authority);
  links[2]?.away.add('draw');
  expect(await partsOfDraw()).toEqual([0, 1, 3]);
  links[2]?.away.clear();
  expect(await partsOfDraw()).toEqual([0, 1, 3]);
  world.now = millis(world.now + 60_000);
  expect(await partsOfDraw()).toEqual([0, 1, 2, 3]);
});

it('does not leave out an authority that it needs', async () => {
  const world = severalAuthorities();
  const { links, start, newest } = serverOf(world);
  const authorities = start();
  links[2]?.away.add('draw');
  await authorities.drawBuffer(world.randomBytes(16), newest);
  links[2]?.away.clear();
  links[3]?.away.add('offer');
  const { descriptor } = await authorities.drawBuffer(world.randomBytes(16), newest);
  expect(descriptor.parts.map(({ authority }) => authority)).toEqual([0, 1, 2]);
});

it('draws no buffer where too few sign', async () => {
  const world = severalAuthorities();
  const { links, start, newest } = serverOf(world);
  links[1]?.away.add('draw');
  links[2]?.away.add('draw');
  await expect(start().drawBuffer(world.randomBytes(16), newest)).rejects.toThrow(AuthorityUnreachable);
});

const otherBytes = (bytes: Uint8Array): Uint8Array => bytes.map((byte) => byte ^ 1);
const otherSignature = <Statement extends Endorsed>(statement: Statement): Statement => ({
  ...statement,
  endorsements: statement.endorsements.map((one) => ({ ...one, signature: otherBytes(one.signature) })),
});

it.each<[string, Link['lies']]>([
  ['a list that it did not name', { offer: (offer: Offer) => ({ ...offer, slotKeys: otherBytes(offer.slotKeys) }) }],
  ['the part of another', { offer: (offer: Offer) => ({ ...offer, part: { ...offer.part, authority: 1 } }) }],
  ['a bad signature', { draw: (drawn: DrawnBuffer) => ({ ...drawn, descriptor: otherSignature(drawn.descriptor) }) }],
])('one authority that gives %s keeps nobody from a buffer', async (_, lies) => {
  const world = severalAuthorities();
  const { links, start, newest } = serverOf(world);
  Object.assign(links[2]?.lies ?? {}, lies);
  const { descriptor } = await start().drawBuffer(world.randomBytes(16), newest);
  expect(descriptor.parts.map(({ authority }) => authority)).toEqual([0, 1, 3]);
});

it.each<[string, (entry: ModelEntry, newest: ModelEntry) => ModelEntry]>([
  ['a bad signature', otherSignature],
  ['another version', (_, newest) => newest],
])('one authority that logs %s keeps nobody from a version', async (_, lie) => {
  const world = severalAuthorities();
  const { links, start, newest } = serverOf(world);
  Object.assign(links[0]?.lies ?? {}, { append: (entry: ModelEntry) => lie(entry, newest) });
  const entry = await start().appendModel(
    { version: 1, modelHash: new Uint8Array(32), ...closedBuffer(world) },
    newest,
  );
  expect(entry.endorsements.map(({ authority }) => authority)).not.toContain(0);
});

it('logs a version with an authority that missed the one before it, also after a restart of the server', async () => {
  const world = severalAuthorities();
  const { links, start, newest } = serverOf(world);
  const closes = [closedBuffer(world), closedBuffer(world)];
  const next = (before: ModelEntry): Promise<ModelEntry> => {
    const close = closes[before.version] as ReturnType<typeof closedBuffer>;
    return start().appendModel({ version: before.version + 1, modelHash: new Uint8Array(32), ...close }, before);
  };
  links[3]?.away.add('append').add('adopt');
  const first = await next(newest);
  links[3]?.away.clear();
  links[0]?.away.add('append').add('adopt');
  expect((await next(first)).version).toBe(2);
});

/** A buffer that all authorities closed, with their votes. */
function closedBuffer(world: Federation) {
  const devices = Array.from({ length: SLOTS }, () => world.device());
  for (const device of devices) granted(device.contribute());
  const { ctx } = devices[0] as FederationDevice;
  granted(world.server.freeze(ctx));
  const { answers, votes } = granted(
    closedTogether(world, ctx, (request) => world.authorities.map((_, n) => [n, closedBy(world, n, request)])),
  );
  const vote = answers[0]?.answer.vote as Vote;
  return { ctx, closed: [{ ...vote, endorsements: votes }] };
}
