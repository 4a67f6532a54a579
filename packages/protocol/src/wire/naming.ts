/** What is derived and never sent: join tags, attributes, the chain of views, sealing contexts, commitments. */
import type { Suite } from '@basa/masking';
import type { Attribute, Ctx, DepositRoot, JoinTag, Slot, UserId, View } from './brands.ts';
import type { Field } from './codec.ts';
import { fixed, message, u8, u16 } from './codec.ts';
import { KIND } from './kinds.ts';

const ctx = fixed<Ctx>(32);
const joinTag = fixed<JoinTag>(32);

const joinLayout = message<{ ctx: Ctx; user: UserId; nonce: Uint8Array }>(KIND.join, 'join', {
  ctx,
  user: fixed(32),
  nonce: fixed(16),
});

/** g = H("join", ctx, u, n). It binds u: a tag of n alone could be repeated by another user (attack J1). */
export function joinTagOf(suite: Suite, name: { ctx: Ctx; user: UserId; nonce: Uint8Array }): JoinTag {
  return joinLayout.hash(suite, name) as JoinTag;
}

const EDGE = 1;
const SELF = 2;
const DROP = 3;
const PAPER = 4;
const NO_TAG = new Uint8Array(32) as JoinTag;

const attributeLayout = message<{ ctx: Ctx; role: number; slot: number; joinTag: JoinTag }>(
  KIND.attribute,
  'attribute',
  {
    ctx,
    role: u8,
    slot: u16,
    joinTag,
  },
);

/** edge(j): whoever holds slot j opens the seeds earlier users sealed to it. */
export function edgeAttribute(suite: Suite, ctx: Ctx, slot: Slot): Attribute {
  return attributeLayout.hash(suite, { ctx, role: EDGE, slot, joinTag: NO_TAG }) as Attribute;
}

/** self(g): released at close for an accepted user; opens its self mask. */
export function selfAttribute(suite: Suite, ctx: Ctx, joinTag: JoinTag): Attribute {
  return attributeLayout.hash(suite, { ctx, role: SELF, slot: 0, joinTag }) as Attribute;
}

/** drop(g): released at close for a user left out; opens the backups later users made of its seeds. */
export function dropAttribute(suite: Suite, ctx: Ctx, joinTag: JoinTag): Attribute {
  return attributeLayout.hash(suite, { ctx, role: DROP, slot: 0, joinTag }) as Attribute;
}

/** a_k of `paper` mode: apart from edge(k), so that no paper ticket ever gets the key of a sealed slot. */
export function paperAttribute(suite: Suite, ctx: Ctx, slot: Slot): Attribute {
  return attributeLayout.hash(suite, { ctx, role: PAPER, slot, joinTag: NO_TAG }) as Attribute;
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

/** Why a seed was sealed: kept apart in the context, so that a ciphertext opens only where it was meant to. */
export type SealingRole = 'edge' | 'self' | 'backup' | 'paper';
const ROLES: readonly SealingRole[] = ['edge', 'self', 'backup', 'paper'];

const contextLayout = message<{ ctx: Ctx; role: number; joinTag: JoinTag; slot: number }>(
  KIND.sealingContext,
  'sealingContext',
  {
    ctx,
    role: u8,
    joinTag,
    slot: u16,
  },
);

/** AEAD context of a sealed seed: ctx, kind, g of the one who seals, and the slot (0 for a self mask). */
export function sealingContext(ctx: Ctx, role: SealingRole, joinTag: JoinTag, slot: number): Uint8Array {
  return contextLayout.encode({ ctx, role: ROLES.indexOf(role), joinTag, slot });
}

const commitmentLayout = message<{ seed: Uint8Array }>(KIND.commitment, 'commitment', { seed: fixed(32) });

/** H(s): fixes a seed before anybody opens it, so that a cheat can be named. */
export function commitmentOf(suite: Suite, seed: Uint8Array): Uint8Array {
  return commitmentLayout.hash(suite, { seed });
}
