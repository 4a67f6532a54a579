/** A server's requests to several authorities continue after some of them were away in the middle. */
import {
  agreedOutcome,
  authorityMessages,
  type CloseAnswer,
  type DrawnBuffer,
  descriptorCodec,
  type Endorsed,
  endorse,
  inTerm,
  type ModelEntry,
  millis,
  modelEntryCodec,
  type Offer,
  type Outcome,
  outcomeCodec,
  SERVER_SEAT,
  type TaskPolicy,
  type Vote,
  voteCodec,
} from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { AuthorityUnreachable } from '@basa/server/internal/authority/authority-http.ts';
import { type Federation, type FederationDevice, granted } from '@basa/simulator';
import { type Link, serverOf } from '@basa/testkit/core/authority-links.ts';
import {
  atSeveralCloses,
  authorityOf,
  closedBy,
  closedTogether,
  SLOTS,
  severalAuthorities,
} from '@basa/testkit/core/several.ts';
import { signedTerm } from '@basa/testkit/core/signed-terms.ts';
import { expect, it } from 'vitest';

it('draws a buffer without an authority that offered its part and did not sign, and with it again after a while', async () => {
  const world = severalAuthorities();
  const { links, start, newest } = serverOf(world);
  const authorities = start();
  const partsOfDraw = async (): Promise<readonly number[]> =>
    (await authorities.drawBuffer(world.randomBytes(16), { model: newest, newest })).descriptor.parts.map(
      ({ authority }) => authority,
    );
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
  await authorities.drawBuffer(world.randomBytes(16), { model: newest, newest });
  links[2]?.away.clear();
  links[3]?.away.add('offer');
  const { descriptor } = await authorities.drawBuffer(world.randomBytes(16), { model: newest, newest });
  expect(descriptor.parts.map(({ authority }) => authority)).toEqual([0, 1, 2]);
});

it('draws no buffer if too few authorities sign', async () => {
  const world = severalAuthorities();
  const { links, start, newest } = serverOf(world);
  links[1]?.away.add('draw');
  links[2]?.away.add('draw');
  await expect(start().drawBuffer(world.randomBytes(16), { model: newest, newest })).rejects.toThrow(
    AuthorityUnreachable,
  );
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
  const { descriptor } = await start().drawBuffer(world.randomBytes(16), { model: newest, newest });
  expect(descriptor.parts.map(({ authority }) => authority)).toEqual([0, 1, 3]);
});

it.each(['does not sign', 'signs another buffer'] as const)(
  'a buffer is drawn without an authority that offers its part and %s, although the last one is late with its offer',
  async (what) => {
    const world = severalAuthorities();
    const { signer } = authorityOf(world, 0).ports;
    const other = ({ descriptor, ...drawn }: DrawnBuffer) => ({
      ...drawn,
      descriptor: endorse(descriptorCodec, world.policy, signer, {
        ...descriptor,
        expiry: millis(descriptor.expiry - 1),
      }),
    });
    const { links, start, newest } = serverOf(world, what === 'does not sign' ? {} : { draw: other });
    if (what === 'does not sign') links[0]?.away.add('draw');
    const { descriptor } = await start().drawBuffer(world.randomBytes(16), { model: newest, newest });
    expect(descriptor.parts.map(({ authority }) => authority)).toEqual([1, 2, 3]);
  },
);

/** The first authority's change of an entry that it logged, or of the one before it. */
type EntryLie = (entry: ModelEntry, newest: ModelEntry, sign: (entry: ModelEntry) => ModelEntry) => ModelEntry;

it.each<[string, EntryLie]>([
  ['a bad signature', otherSignature],
  ['another version', (_, newest) => newest],
  ['another entry before it', (entry, _, sign) => sign({ ...entry, previous: otherBytes(entry.previous) })],
])('one authority that logs %s keeps nobody from a version', async (_, lie) => {
  const world = severalAuthorities();
  const { signer } = authorityOf(world, 0).ports;
  const sign = (entry: ModelEntry): ModelEntry => endorse(modelEntryCodec, world.policy, signer, entry);
  const { start, newest } = serverOf(world, { append: (entry: ModelEntry) => lie(entry, newest, sign) });
  const entry = await start().appendModel(
    { version: 1, modelHash: new Uint8Array(32), ...closedBuffer(world) },
    newest,
  );
  expect(entry.endorsements.map(({ authority }) => authority)).not.toContain(0);
});

it('does not continue with the policy of another task if too few authorities know its own', async () => {
  const world = severalAuthorities();
  const lies = { policy: (policy: TaskPolicy) => ({ ...policy, minimum: 3 }) };
  const { links, start } = serverOf(world, lies);
  await start().checkPolicy();
  Object.assign(links[1]?.lies ?? {}, lies);
  await expect(start().checkPolicy()).rejects.toThrow('the policy of another task');
});

it('one authority with an unsigned answer to a close does not prevent a sum', async () => {
  const { world, ctx } = atSeveralCloses();
  const { start } = serverOf(world, {
    close: (answer: CloseAnswer) => ({ ...answer, signature: otherBytes(answer.signature) }),
  });
  const { answers } = granted(await start().close(world.server.buffer(ctx)));
  expect(answers.map(({ authority }) => authority)).toEqual([1, 2, 3]);
});

/** A vote for another close, or no vote if there are enough for it. */
const otherClose = (world: Federation) => (answer: CloseAnswer) => {
  const { signer } = authorityOf(world, 0).ports;
  const { closeAnswer } = authorityMessages(SLOTS);
  const words = { ctx: answer.outcome.ctx, status: 'open', accepted: [] } as const;
  const body = {
    vote: endorse(voteCodec, world.policy, signer, { ...answer.vote, closing: otherBytes(answer.vote.closing) }),
    outcome: { ...words, signature: signer.sign(outcomeCodec.statement(words)) },
    keys: [],
  };
  return { ...body, signature: signer.sign(closeAnswer.statement(body)) };
};

it('one authority that signs a vote for another close is not waited with: the last one is', async () => {
  const { world, ctx } = atSeveralCloses();
  const { start } = serverOf(world, { close: otherClose(world) });
  const { answers } = granted(await start().close(world.server.buffer(ctx)));
  expect(answers.map(({ authority }) => authority)).toEqual([1, 2, 3]);
});

it('one authority that votes well and keeps its keys back is not waited with either', async () => {
  const { world, ctx } = atSeveralCloses();
  const lie = otherClose(world);
  const close = (answer: CloseAnswer) => (answer.outcome.status === 'closed' ? lie(answer) : answer);
  const { answers } = granted(await serverOf(world, { close }).start().close(world.server.buffer(ctx)));
  expect(answers.map(({ authority }) => authority)).toEqual([1, 2, 3]);
});

it('knows the outcome of a buffer if one authority signs something else and the last one is late', async () => {
  const { world, ctx } = atSeveralCloses();
  const { signer } = authorityOf(world, 0).ports;
  const outcome = (told: Outcome) => {
    const words = { ...told, status: 'aborted' } as const;
    return { ...words, signature: signer.sign(outcomeCodec.statement(words)) };
  };
  const outcomes = await serverOf(world, { outcome }).start().outcomes(ctx);
  expect(agreedOutcome(world.environment.tools.suite, world.policy, ctx, outcomes)?.status).toBe('open');
});

it('logs a version if one authority names an earlier version that the server does not know', async () => {
  const world = severalAuthorities();
  const { signer } = authorityOf(world, 0).ports;
  const append = (entry: ModelEntry) =>
    endorse(modelEntryCodec, world.policy, signer, { ...entry, previous: otherBytes(entry.previous) });
  const { start } = serverOf(world, { append });
  const entry = await start().appendModel(
    { version: 1, modelHash: new Uint8Array(32), ...closedBuffer(world) },
    undefined,
  );
  expect(entry.endorsements.map(({ authority }) => authority)).toEqual([1, 2, 3]);
});

it('one authority with an unsigned statement about a buffer does not count', async () => {
  const { world, ctx } = atSeveralCloses();
  const { start } = serverOf(world, { outcome: (outcome: Outcome) => ({ ...outcome, status: 'aborted' }) });
  const outcomes = await start().outcomes(ctx);
  expect(outcomes.map(({ authority, outcome }) => [authority, outcome.status])).toEqual([
    [1, 'open'],
    [2, 'open'],
    [3, 'open'],
  ]);
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

it('a version that an authority logged just before a term began is the version before the switch, and the next term signs it', async () => {
  const succession = { waitMs: 60_000, recoveryHash: undefined };
  const world = severalAuthorities({ policy: { succession } });
  const { links, start, newest } = serverOf(world);
  const append = { version: 1, modelHash: new Uint8Array(32), ...closedBuffer(world) };
  for (const n of [2, 3]) links[n]?.away.add('adopt');
  await expect(start().appendModel(append, newest)).rejects.toThrow('it is away');
  for (const link of links) link.away.clear();

  const signers = world.authorities.map(({ ports }) => ports.signer);
  const term = signedTerm(world.policy, {
    key: world.signer(),
    seat: SERVER_SEAT,
    signers,
    change: { effective: millis(world.now + succession.waitMs) },
  });
  for (const one of world.authorities) {
    granted(one.persist(one.core.followLine({ policy: world.policy, terms: [term] }, world.now)));
    granted(one.persist(one.core.tick(term.effective)));
  }
  const authorities = start(inTerm(nodeSuite, world.policy, term), [term]);
  await expect(authorities.renewModel(newest)).rejects.toThrow('wrong-version');
  const logged = await authorities.appendModel(append, newest);
  expect(logged.version).toBe(1);
  expect((await authorities.renewModel(logged)).endorsements.length).toBeGreaterThanOrEqual(3);
  const other = { ...append, modelHash: new Uint8Array(32).fill(1) };
  await expect(authorities.appendModel(other, newest)).rejects.toThrow();
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
  return { sums: [ctx], spoilt: [], closed: [{ ...vote, endorsements: votes }] };
}
