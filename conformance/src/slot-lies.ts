/** Lies of a server about a slot: its honest answer to a deposit, changed, and signed with its own key if that helps. */
import type { Signer } from '@basa/masking';
import {
  type Deposit,
  type DepositAnswer,
  depositRootOf,
  ENGINE,
  type JoinTag,
  outboxOf,
  type Slot,
  sealedBytesOf,
  type Ticket,
  ticketCodec,
  userMessages,
  type View,
  viewsOf,
} from '@basa/protocol';
import { nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import type { Answer, Asked } from './service-proxy.ts';
import { isStep } from './steps.ts';

const SEALED_BYTES = sealedBytesOf(ENGINE.slotKeys) ?? 0;

export interface SlotLie {
  readonly name: string;
  /** The code with which an honest device, or the authority it asks, refuses it. */
  readonly reason: string;
  tell(honest: DepositAnswer): DepositAnswer;
}

/** They need a slot of another device before the victim's. */
export function slotLies(serverKey: Signer, bufferSize: number): readonly SlotLie[] {
  const resigned = (ticket: Ticket): Ticket => ({
    ...ticket,
    signature: serverKey.sign(ticketCodec.statement(ticket)),
  });
  return [
    {
      name: 'forges an entry of the inbox',
      reason: 'inbox-proof',
      tell: (honest) => ({
        ...honest,
        inbox: honest.inbox.map((entry) => ({ ...entry, commitment: nodeRandomBytes(32) })),
      }),
    },
    { name: 'omits an edge', reason: 'inbox-incomplete', tell: (honest) => ({ ...honest, inbox: [] }) },
    {
      name: 'tells two users the same slot: the authority gave its key away',
      reason: 'slot-registered',
      tell: ({ ticket }) => ({
        inbox: [],
        ticket: resigned({ ...ticket, slot: 0 as Slot, view: ticket.ctx as Uint8Array as View }),
      }),
    },
    {
      name: 'tells each user another history, all of it consistent: the authority knows better',
      reason: 'server-equivocated',
      tell: ({ ticket }) => {
        const { inbox, view } = inventedSlot(ticket, bufferSize);
        return { inbox, ticket: resigned({ ...ticket, view }) };
      },
    },
    {
      name: 'signs a view that the inbox does not give',
      reason: 'view-mismatch',
      tell: ({ ticket, inbox }) => ({ inbox, ticket: resigned({ ...ticket, view: nodeRandomBytes(32) as View }) }),
    },
    {
      name: 'gives a ticket for a deposit of its own',
      reason: 'ticket-not-mine',
      tell: ({ ticket, inbox }) => ({
        inbox,
        ticket: resigned({ ...ticket, root: nodeRandomBytes(32) as Ticket['root'] }),
      }),
    },
    {
      name: 'gives a ticket that it did not sign',
      reason: 'ticket-invalid',
      tell: ({ ticket, inbox }) => ({ inbox, ticket: { ...ticket, signature: nodeRandomBytes(64) } }),
    },
  ];
}

/** A proxy that tells the lie in place of the truth. */
export function tellingSlotLie(lie: SlotLie, bufferSize: number): (asked: Asked, answer: Answer) => Answer {
  const { depositAnswer } = userMessages(bufferSize, { sealedBytes: SEALED_BYTES });
  return (asked, answer) =>
    isStep('deposit', asked) && answer.status === 200
      ? { ...answer, body: depositAnswer.encode(lie.tell(depositAnswer.decode(answer.body))) }
      : answer;
}

/** A deposit that nobody made, as slot 0. */
function inventedSlot({ ctx }: Ticket, bufferSize: number): { inbox: DepositAnswer['inbox']; view: View } {
  const entries = Array.from({ length: bufferSize - 1 }, () => ({
    commitment: nodeRandomBytes(32),
    sealed: nodeRandomBytes(SEALED_BYTES),
  }));
  const deposit = { entries, root: depositRootOf(nodeSuite, entries) } as unknown as Deposit;
  const inbox = outboxOf(nodeSuite, deposit, { joinTag: nodeRandomBytes(32) as JoinTag, slot: 0 as Slot }).slice(0, 1);
  return { inbox, view: viewsOf(nodeSuite, ctx, inbox).at(-1) as View };
}
