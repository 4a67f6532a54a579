/**
 * The promises of a federation with any faults. Every opened sum is the sum of the accepted one-hot inputs, or the buffer is quarantined
 * and contains a cheat. No acknowledged update is lost or counted twice, no assigned slot is forgotten, and no honest device is blamed.
 */
import { toHex } from '@basa/masking';
import type { AuthorityBuffer, BufferSlot, SecureBuffer, SumVerdict, UserSession } from '@basa/protocol';
import type { Federation, FederationDevice } from '@basa/simulator';
import { oneHotSum, settledFate } from '../explorer/invariants.ts';
import { CheatingDevice } from './cheating-device.ts';

/** Observations on the way: by buffer, and by join tag. */
export class Notes {
  readonly verdicts = new Map<string, SumVerdict>();
  /** The update in each deposit. */
  readonly updates = new Map<string, string>();
  /** Slots that were assigned to devices. */
  readonly told = new Map<string, { readonly buffer: string; readonly slot: number }>();
  readonly acknowledged = new Set<string>();

  see({ session, deltaId }: FederationDevice): void {
    if (session === undefined) return;
    const tag = toHex(session.member.joinTag);
    this.updates.set(tag, toHex(deltaId));
    if (session.step === 'acknowledged') this.acknowledged.add(tag);
    const slot = slotOf(session);
    if (slot !== undefined) this.told.set(tag, { buffer: toHex(session.member.ctx), slot });
  }
}

function slotOf(session: UserSession): number | undefined {
  if (session.step === 'slotted') return session.ticket.slot;
  return session.step === 'frozen' ? session.header.slot : undefined;
}

/** Returns a sentence for each promise that does not hold. */
export function brokenPromises(
  { server, authority }: Federation,
  devices: readonly FederationDevice[],
  notes: Notes,
): readonly string[] {
  const buffers = [...server.buffers.values()];
  const included = buffers.filter(({ status }) => status === 'included');
  const models =
    server.models.length === included.length + 1
      ? []
      : [`${server.models.length - 1} models of ${included.length} buffers`];
  return [
    ...buffers.flatMap((buffer, number) => {
      const named = (problem: string): string => `buffer ${number}: ${problem}`;
      return [
        ...lostSlots(buffer, authority.core.buffer(buffer.ctx)),
        ...wrongVerdict(buffer, devices, notes.verdicts.get(toHex(buffer.ctx))),
      ].map(named);
    }),
    ...countedTwice(included, notes),
    ...forgotten(server.buffers, notes),
    ...models,
  ];
}

/** Accepted slots that have no fate, or a different one at the authority. */
function lostSlots(buffer: SecureBuffer, closing: AuthorityBuffer | undefined): readonly string[] {
  return buffer.slots
    .filter((slot) => slot.status === 'accepted' && !(closing && settledFate(slot, buffer, closing)))
    .map(({ ticket }) => `slot ${ticket.slot} is lost (server ${buffer.status}, authority ${closing?.status})`);
}

function wrongVerdict(
  { status, slots, accepted }: SecureBuffer,
  devices: readonly FederationDevice[],
  verdict: SumVerdict | undefined,
): readonly string[] {
  const holders = accepted.map((slot) => holderOf(slots[slot] as BufferSlot, devices));
  if (status === 'quarantined') {
    return [
      ...(holders.some((device) => device instanceof CheatingDevice) ? [] : ['quarantined, and no cheat is in it']),
      ...blamed(verdict)
        .map((slot) => holderOf(slots[slot] as BufferSlot, devices))
        .filter((device) => !(device instanceof CheatingDevice))
        .map(({ number }) => `honest device ${number} is blamed`),
    ];
  }
  if (status !== 'included') return [];
  if (verdict?.kind !== 'good') return ['included without a good sum'];
  const expected = oneHotSum({ accepted, slots }, devices).join(' ');
  const sum = verdict.sum.join(' ');
  return sum === expected ? [] : [`the sum is ${sum} instead of ${expected}`];
}

function holderOf({ user }: BufferSlot, devices: readonly FederationDevice[]): FederationDevice {
  const device = devices.find((candidate) => toHex(candidate.user) === toHex(user));
  if (device === undefined) throw new Error('a slot of nobody');
  return device;
}

/** The slots that the opening blames. */
function blamed(verdict: SumVerdict | undefined): readonly number[] {
  const [, slots] = /^slots ([\d,]+) cheated$/.exec(verdict?.kind === 'quarantine' ? verdict.why : '') ?? [];
  return slots?.split(',').map(Number) ?? [];
}

function countedTwice(included: readonly SecureBuffer[], { updates }: Notes): readonly string[] {
  const problems: string[] = [];
  const counted = new Map<string, number>();
  for (const { accepted, slots } of included) {
    for (const slot of accepted) {
      const update = updates.get(toHex((slots[slot] as BufferSlot).ticket.joinTag));
      if (update === undefined) problems.push(`slot ${slot} holds an update nobody gave`);
      else counted.set(update, (counted.get(update) ?? 0) + 1);
    }
  }
  for (const [update, count] of counted) if (count > 1) problems.push(`update ${update} was counted ${count} times`);
  return problems;
}

/** Acknowledgements and slots that devices hold but the server does not know. */
function forgotten(buffers: ReadonlyMap<string, SecureBuffer>, { acknowledged, told }: Notes): readonly string[] {
  const slots = [...buffers.values()].flatMap((buffer) => buffer.slots);
  const kept = new Set(slots.flatMap(({ status, ticket }) => (status === 'accepted' ? [toHex(ticket.joinTag)] : [])));
  const isKnown = (tag: string, buffer: string, slot: number): boolean => {
    const known = buffers.get(buffer)?.slots[slot]?.ticket.joinTag;
    return known !== undefined && toHex(known) === tag;
  };
  return [
    ...[...acknowledged]
      .filter((tag) => !kept.has(tag))
      .map((tag) => `an acknowledged update is not there (${tag.slice(0, 8)})`),
    ...[...told]
      .filter(([tag, { buffer, slot }]) => !isKnown(tag, buffer, slot))
      .map(([tag, { slot }]) => `slot ${slot} was told to a device and forgotten (${tag.slice(0, 8)})`),
  ];
}
