/** Values that are derived and never sent: join tags, registrations, attributes, the chain of views, sealing contexts, commitments. */
import type { Suite } from '@basa/masking';
import type { Attribute, Ctx, DepositRoot, JoinTag, Registration, Slot, UserId, View } from './brands.ts';
import { message } from './codec.ts';
import { type Field, fixed, u8, u16 } from './fields.ts';
import { KIND } from './kinds.ts';

const ctx = fixed<Ctx>(32);
const joinTag = fixed<JoinTag>(32);

const joinLayout = message<{ ctx: Ctx; user: UserId; nonce: Uint8Array }>(KIND.join, 'join', {
  ctx,
  user: fixed(32),
  nonce: fixed(16),
});

/** g = H("join", ctx, u, n): the name under which other users see this one. No key depends on it. */
export function joinTagOf(suite: Suite, name: { ctx: Ctx; user: UserId; nonce: Uint8Array }): JoinTag {
  return joinLayout.hash(suite, name) as JoinTag;
}

const registrationLayout = message<Registered>(KIND.registration, 'registration', {
  ctx,
  slot: u16 as Field<Slot>,
  joinTag,
  root: fixed<DepositRoot>(32),
  view: fixed<View>(32),
});

/** The values of ticket, receipt and the authority's record about one slot. */
export interface Registered {
  readonly ctx: Ctx;
  readonly slot: Slot;
  readonly joinTag: JoinTag;
  readonly root: DepositRoot;
  readonly view: View;
}

/**
 * r = H("registration", ctx, l, g, D, V_l). The self key depends on it: another user that registers the slot, by a
 * repeated tag or after an unnoticed roll-back, has a different one.
 */
export function registrationOf(suite: Suite, { ctx, slot, joinTag, root, view }: Registered): Registration {
  return registrationLayout.hash(suite, { ctx, slot, joinTag, root, view }) as Registration;
}

const EDGE = 1;
const SELF = 2;
const PAPER = 4;
const NO_REGISTRATION = new Uint8Array(32) as Registration;

const attributeLayout = message<{ ctx: Ctx; role: number; slot: number; registration: Registration }>(
  KIND.attribute,
  'attribute',
  { ctx, role: u8, slot: u16, registration: fixed<Registration>(32) },
);

/** edge(j): the holder of slot j opens the seeds that earlier users sealed to it, and the backups of its own seeds. */
export function edgeAttribute(suite: Suite, ctx: Ctx, slot: Slot): Attribute {
  return attributeLayout.hash(suite, { ctx, role: EDGE, slot, registration: NO_REGISTRATION }) as Attribute;
}

/** self(r): released at close for an accepted registration; opens its self mask. */
export function selfAttribute(suite: Suite, ctx: Ctx, registration: Registration): Attribute {
  return attributeLayout.hash(suite, { ctx, role: SELF, slot: 0, registration }) as Attribute;
}

/** a_k of `paper` mode: different from edge(k), so that no paper ticket ever gets the key of a sealed slot. */
export function paperAttribute(suite: Suite, ctx: Ctx, slot: Slot): Attribute {
  return attributeLayout.hash(suite, { ctx, role: PAPER, slot, registration: NO_REGISTRATION }) as Attribute;
}

const linkLayout = message<{ view: View; slot: Slot; joinTag: JoinTag; root: DepositRoot }>(
  KIND.chainLink,
  'chainLink',
  {
    view: fixed<View>(32),
    slot: u16 as Field<Slot>,
    joinTag,
    root: fixed<DepositRoot>(32),
  },
);

/** One deposit as the chain of views sees it. */
export interface Link {
  readonly joinTag: JoinTag;
  readonly root: DepositRoot;
}

/** V_0 = ctx, V_{i+1} = H(V_i, i, g_i, D_i): all views V_0 .. V_n over n deposits. */
export function viewsOf(suite: Suite, ctx: Ctx, links: readonly Link[]): readonly View[] {
  const views = [ctx as Uint8Array as View];
  for (const [i, link] of links.entries()) views.push(nextView(suite, views[i] as View, i as Slot, link));
  return views;
}

export function nextView(suite: Suite, view: View, slot: Slot, { joinTag, root }: Link): View {
  return linkLayout.hash(suite, { view, slot, joinTag, root }) as View;
}

/** The purpose for which a seed was sealed: part of the context, so that a ciphertext opens only for its purpose. */
const ROLES = ['edge', 'self', 'backup', 'paper'] as const;
export type SealingRole = (typeof ROLES)[number];

/** `name` is g of the sealing user; for a self mask r, which is made from it. */
const contextLayout = message<{ ctx: Ctx; role: number; name: Uint8Array; slot: number }>(
  KIND.sealingContext,
  'sealingContext',
  { ctx, role: u8, name: fixed(32), slot: u16 },
);

/** Context of a seed sealed to a slot. */
export function sealingContext(
  ctx: Ctx,
  role: Exclude<SealingRole, 'self'>,
  joinTag: JoinTag,
  slot: number,
): Uint8Array {
  return contextLayout.encode({ ctx, role: ROLES.indexOf(role), name: joinTag, slot });
}

/** Context of a self mask. */
export function selfContext(ctx: Ctx, registration: Registration): Uint8Array {
  return contextLayout.encode({ ctx, role: ROLES.indexOf('self'), name: registration, slot: 0 });
}

const commitmentLayout = message<{ seed: Uint8Array }>(KIND.commitment, 'commitment', { seed: fixed(32) });

/** H(s): fixes a seed before it is opened, so that a cheat can be named. */
export function commitmentOf(suite: Suite, seed: Uint8Array): Uint8Array {
  return commitmentLayout.hash(suite, { seed });
}
