/** The places of devices that dropped out: nobody else waits for the end of their leases. */
import { millis, openSecureBuffer, type SecureBuffer } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { expect, it } from 'vitest';
import { TaskAdmission } from '../../src/admission/task-admission.ts';
import { buffersOf, slotOf, task, userOf } from '../support/store-samples.ts';
import { volatileTickets } from '../support/volatile-tickets.ts';

const LEASE_MS = 60_000;

it('the first buffer of a task, with too many drop-outs to be summed, frees its places long before their leases end', async () => {
  let now = 0;
  const clock = () => now;
  const [bufferSize, minimum, uploaded] = [8, 6, 5];
  const options = { bufferSize, places: bufferSize, targetAge: 3, maxWaitingBuffers: 2, uploadLeaseMs: LEASE_MS };
  const { tickets } = await volatileTickets(task, clock);
  const places = new TaskAdmission({ ...options, task, tickets, clock, jitter: () => 0 });
  const { ctx, descriptor, slotKeys } = buffersOf(1, { bufferSize, minimum, uploadLeaseMs: LEASE_MS });
  const slots = Array.from({ length: bufferSize }, (_, n) => {
    const slot = slotOf(ctx, n);
    const status = n < uploaded ? ('accepted' as const) : slot.status;
    return { ...slot, status, ticket: { ...slot.ticket, deadline: millis(LEASE_MS) } };
  });
  const begun = openSecureBuffer(nodeSuite, { descriptor, slotKeys });
  const buffer: SecureBuffer = { ...begun, slots };
  for (let n = 0; n < bufferSize; n++) {
    expect(await places.ask(userOf(n))).toMatchObject({ kind: 'place' });
    await tickets.endPlace(task, userOf(n), 'used');
    places.deposited(userOf(n), ctx);
  }
  now = 500;
  for (let n = 0; n < uploaded; n++) places.uploaded(userOf(n));
  places.track(buffer);
  expect(await places.ask(userOf(bufferSize))).toMatchObject({ kind: 'later', why: 'every place is taken' });
  now = 5_001; // they deposited at 0; the others uploaded 0.5 s after that
  places.track(buffer);
  expect(await places.ask(userOf(bufferSize))).toMatchObject({ kind: 'place' });
});
