/** A buffer of several authorities: what each signs, and which descriptor a user takes. */

import {
  AttributeAuthority,
  allSteps,
  type BufferPart,
  type BufferPlan,
  checkDrawnBuffer,
  descriptorCodec,
  endorse,
  listsOf,
  type ModelEntry,
  millis,
  modelEntryCodec,
  type SignedDescriptor,
} from '@basa/protocol';
import { type Federation, granted, OPEN_MS, reasonOf } from '@basa/simulator';
import {
  authorityOf,
  drawnBy,
  offerOf,
  planOf,
  SLOTS,
  severalAuthorities,
  together,
  withRecords,
} from '@basa/testkit/core/several.ts';
import { slotKeySealings } from '@basa/virtual-time/real-sealings';
import { describe, expect, it } from 'vitest';

const ALL = [0, 1, 2, 3];

/** The newest entry with other words, signed by these authorities. */
function entryOf(world: Federation, indices: readonly number[], change: Partial<ModelEntry>): ModelEntry {
  const entry = world.authority.core.newestModel(world.task) as ModelEntry;
  const body = { ...entry, ...change };
  return together(indices.map((n) => endorse(modelEntryCodec, world.policy, authorityOf(world, n).ports.signer, body)));
}

describe('an authority', () => {
  it('signs once a plan that holds its own unchanged offer', () => {
    const world = severalAuthorities();
    const { plan } = planOf(world, ALL);
    const nonce = world.randomBytes(16);
    const drawn = granted(drawnBy(world, 1, [plan], { nonce }));
    expect(drawn.parts).toEqual(plan.parts);
    expect(drawnBy(world, 1, [plan], { nonce })).toEqual(drawn);
    expect(reasonOf(drawnBy(world, 1, [plan]))).toBe('offer-unknown');
    expect(reasonOf(drawnBy(world, 1, [{ ...plan, expiry: millis(plan.expiry - 1) }]))).toBe('offer-unknown');
  });

  const wrong: [string, string, (world: Federation, plan: BufferPlan) => Partial<BufferPlan>][] = [
    ['without its part', 'offer-unknown', (_, { parts }) => ({ parts: parts.slice(1) })],
    [
      'with other keys under its offer',
      'offer-unknown',
      (_, { parts: [own, ...others] }) => ({
        parts: [{ ...(own as BufferPart), sealingKey: new Uint8Array(64) }, ...others],
      }),
    ],
    [
      'with an offer that it did not make',
      'offer-unknown',
      (_, { parts: [own, ...others] }) => ({
        parts: [{ ...(own as BufferPart), offer: new Uint8Array(16) }, ...others],
      }),
    ],
    [
      "with its offer under another's name",
      'offer-unknown',
      (_, { parts: [own, second, ...others] }) => ({
        parts: [{ ...(own as BufferPart), authority: 1 }, ...others, second as BufferPart].slice(0, 3),
      }),
    ],
    [
      "with another's offer beside its own in its name",
      'offer-unknown',
      (_, { parts: [own, second, ...others] }) => ({
        parts: [{ ...(second as BufferPart), authority: 0 }, { ...(own as BufferPart), authority: 1 }, ...others],
      }),
    ],
    ['with parts of too few', 'plan-invalid', (_, { parts }) => ({ parts: parts.slice(0, 2) })],
    [
      'with a part of an authority that there is not',
      'plan-invalid',
      (_, { parts }) => ({ parts: [...parts, { ...(parts[3] as BufferPart), authority: 4 }] }),
    ],
    ['that is over', 'plan-invalid', (world) => ({ expiry: world.now })],
    [
      'that is open for longer than the policy says',
      'plan-invalid',
      (world) => ({ expiry: millis(world.now + OPEN_MS + 5 * 60_000 + 1) }),
    ],
  ];
  it.each(wrong)('signs no plan %s (%s)', (_, reason, change) => {
    const world = severalAuthorities();
    const { plan } = planOf(world, ALL);
    expect(reasonOf(drawnBy(world, 0, [{ ...plan, ...change(world, plan) }]))).toBe(reason);
    // The offer is still open.
    granted(drawnBy(world, 0, [plan]));
  });

  const wrongModels: readonly [string, string, (world: Federation) => ModelEntry][] = [
    ['that too few authorities signed', 'model-not-logged', (world) => entryOf(world, [0, 1], {})],
    ['of another task', 'model-not-logged', (world) => entryOf(world, ALL, { task: new Uint8Array(32) as never })],
    [
      'that is another one of its newest version',
      'other-model',
      (world) => entryOf(world, ALL, { modelHash: new Uint8Array(32) }),
    ],
  ];
  it.each(wrongModels)('signs no buffer for a model %s (%s)', (_, reason, modelOf) => {
    const world = severalAuthorities();
    const { plan } = planOf(world, ALL);
    expect(reasonOf(drawnBy(world, 0, [plan], { model: modelOf(world) }))).toBe(reason);
    // The offer is still open.
    granted(drawnBy(world, 0, [plan]));
  });

  it('signs a plan that is open as long as the policy says by a clock that is five minutes ahead', () => {
    const world = severalAuthorities();
    const { plan } = planOf(world, ALL);
    const expiry = millis(world.now + OPEN_MS + 5 * 60_000);
    expect(granted(drawnBy(world, 0, [{ ...plan, expiry }])).expiry).toBe(expiry);
  });

  it('takes a newer model for its newest, and with mixed versions signs no buffer for an older one', () => {
    const world = severalAuthorities({ versions: 'unsafeMixed' });
    const first = world.server.entry();
    const next = entryOf(world, [1, 2, 3], { version: 1, modelHash: new Uint8Array(32).fill(7) });
    expect(granted(drawnBy(world, 0, [planOf(world, ALL).plan], { model: next })).version).toBe(1);
    expect(authorityOf(world, 0).core.newestModel(world.task)).toEqual(next);
    const again = planOf(world, ALL).plan;
    expect(reasonOf(drawnBy(world, 0, [again], { model: first }))).toBe('wrong-version');
  });

  it('with one version a buffer signs buffers for its newest version and as many before it as the policy allows', () => {
    const world = severalAuthorities({ maxStaleness: 2 });
    const hash = (version: number) => new Uint8Array(32).fill(version);
    const entries = [1, 2, 3].map((version) => entryOf(world, [1, 2, 3], { version, modelHash: hash(version) }));
    const newest = entries[2] as ModelEntry;
    const draw = (model: ModelEntry) => drawnBy(world, 0, [planOf(world, ALL).plan], { model, newest });
    for (const entry of entries) expect(granted(draw(entry)).version).toBe(entry.version);
    expect(reasonOf(drawnBy(world, 0, [planOf(world, ALL).plan], { model: entries[1] as ModelEntry }))).toBe(
      'wrong-version',
    );
    expect(granted(draw(entries[0] as ModelEntry))).toMatchObject({ version: 1, modelHash: hash(1) });
    expect(reasonOf(draw(world.server.entry(0)))).toBe('wrong-version');
    expect(reasonOf(draw(entryOf(world, ALL, { version: 3, modelHash: hash(9) })))).toBe('other-model');
    expect(reasonOf(draw(entryOf(world, [0, 1], { version: 2, modelHash: hash(2) })))).toBe('model-not-logged');
  });

  it('that has no model yet takes the one of the plan for its newest, durably', () => {
    const world = severalAuthorities();
    withRecords(world, 0, (record) => (record.kind.startsWith('model-') ? [] : [record]));
    const { core } = authorityOf(world, 0);
    expect(core.newestModel(world.task)).toBeUndefined();
    expect(core.showNewestModel(world.task, new Uint8Array(16))).toBeUndefined();
    const newest = authorityOf(world, 1).core.newestModel(world.task) as ModelEntry;
    const offers = ALL.map((index) => granted(offerOf(world, index)));
    const plan = { parts: offers.map(({ part }) => part), expiry: millis(world.now + OPEN_MS) };
    expect(granted(drawnBy(world, 0, [plan], { model: newest })).version).toBe(0);
    expect(core.newestModel(world.task)).toEqual(newest);
  });

  it('draws nothing without the other authorities of the task, and offers nothing to a stranger', () => {
    const world = severalAuthorities();
    expect(reasonOf(drawnBy(world, 0, []))).toBe('plan-invalid');
    expect(reasonOf(offerOf(world, 0, world.signer()))).toBe('server-unknown');
  });

  it('forgets an offer after a while, and all of them with its memory', () => {
    const world = severalAuthorities();
    const { plan } = planOf(world, ALL);
    world.now = millis(world.now + 10 * 60_000);
    const later = { ...plan, expiry: millis(world.now + OPEN_MS) };
    expect(reasonOf(drawnBy(world, 0, [later]))).toBe('offer-unknown');
    const fresh = planOf(world, ALL).plan;
    const authority = authorityOf(world, 0);
    authority.core = AttributeAuthority.restore(authority.ports, authority.records);
    expect(reasonOf(drawnBy(world, 0, [fresh]))).toBe('offer-unknown');
  });
});

describe('a descriptor', () => {
  function drawn(indices: readonly number[] = ALL) {
    const world = severalAuthorities();
    const { plan, offers } = planOf(world, indices);
    const signed = indices.map((index) => granted(drawnBy(world, index, [plan])));
    const check = (descriptor: SignedDescriptor, slotKeys = listsOf(offers)) =>
      checkDrawnBuffer(world.server.ports.suite, world.pins, { descriptor, slotKeys }, world.now, descriptor);
    return { world, plan, offers, signed, check };
  }

  it('is taken with parts of all authorities or of as many as are needed, each signed by its owner', () => {
    for (const indices of [ALL, [0, 1, 3]]) {
      const { signed, check } = drawn(indices);
      expect(check(together(signed)).kind).toBe('seated');
    }
  });

  it('with a part that its owner did not sign is refused: the server may have invented it', () => {
    const { world, offers, plan, check } = drawn([0, 1, 2]);
    const { issuer } = slotKeySealings();
    const offer = world.randomBytes(16);
    const list = allSteps(issuer.slotKeys({ task: world.task, offer, bufferSize: SLOTS }));
    const invented: BufferPart = { authority: 3, offer, sealingKey: issuer.sealingKey(list) };
    // The three others cannot know it, and sign.
    const again = planOf(world, [0, 1, 2]);
    const parts = [...again.plan.parts, invented];
    const signed = [0, 1, 2].map((index) => granted(drawnBy(world, index, [{ ...plan, parts }])));
    const lists = Uint8Array.from([...listsOf(again.offers), ...list]);
    expect(offers).toHaveLength(3);
    expect(reasonOf(check(together(signed), lists))).toBe('descriptor-invalid');
  });

  it('is refused without the signature of one of its parts, with one of somebody without a part, or with a bad one', () => {
    const { world, signed, check } = drawn([0, 1, 2]);
    expect(reasonOf(check(together(signed.slice(0, 2))))).toBe('descriptor-invalid');
    const { endorsements: _, ...body } = signed[0] as SignedDescriptor;
    const stranger = endorse(descriptorCodec, world.policy, authorityOf(world, 3).ports.signer, body);
    expect(reasonOf(check(together([...signed, stranger])))).toBe('descriptor-invalid');
    expect(reasonOf(check(together([...signed.slice(0, 2), stranger])))).toBe('descriptor-invalid');
    const bad = { ...together(signed) };
    const endorsements = bad.endorsements.map((one, n) => (n === 1 ? { ...one, signature: new Uint8Array(64) } : one));
    expect(reasonOf(check({ ...bad, endorsements }))).toBe('descriptor-invalid');
    const twice = [0, 0, 1].map((n) => bad.endorsements[n] as (typeof endorsements)[number]);
    expect(reasonOf(check({ ...bad, endorsements: twice }))).toBe('descriptor-invalid');
  });

  it('is refused with the lists of its parts in another order, without one of them, or with a byte more', () => {
    const { offers, signed, check } = drawn();
    const descriptor = together(signed);
    expect(reasonOf(check(descriptor, listsOf([...offers].reverse())))).toBe('slot-keys-invalid');
    expect(reasonOf(check(descriptor, listsOf(offers.slice(1))))).toBe('slot-keys-invalid');
    const lists = listsOf(offers);
    expect(check(descriptor, Uint8Array.of(...lists, 0))).toMatchObject({
      reason: 'slot-keys-invalid',
      detail: `4 lists of ${SLOTS} slots have ${lists.length} bytes, got ${lists.length + 1}`,
    });
  });
});
