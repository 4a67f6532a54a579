/** Gives a seat to an enrolled device: a place in an open buffer for as long as the seat lives. */
import { equalBytes, toHex } from '@basa/masking';
import type { Millis, TaskId } from '../wire/brands.ts';
import { type Certificate, certificateCodec, userIdOf } from '../wire/certificate.ts';
import { type Council, isEndorsed } from '../wire/council.ts';
import type { BasaEvent } from '../wire/events.ts';
import { type Refused, refused } from '../wire/refusals.ts';
import type { SeatRequest } from '../wire/user-messages.ts';
import { type Coordinator, type OpenBuffer, type SeatGiven, takeSeat } from './coordinator.ts';
import type { ServerPorts } from './secure-buffer.ts';

export interface SeatStep {
  readonly coordinator: Coordinator;
  readonly answer: SeatGiven | Refused;
  readonly events: readonly BasaEvent[];
}

/** A task and its authorities, as a descriptor names them too. */
export interface EnrolledFor extends Council {
  readonly task: TaskId;
}

/** Nothing durable: a seat lapses unused. */
export function giveSeat(
  ports: ServerPorts,
  coordinator: Coordinator,
  task: EnrolledFor,
  { certificate, version }: Pick<SeatRequest, 'certificate' | 'version'>,
  now: Millis,
  mayEnter?: (buffer: OpenBuffer) => boolean,
): SeatStep {
  const problem = certificateProblem(ports, task, certificate, now);
  if (problem !== undefined) {
    return {
      coordinator,
      answer: problem,
      events: [{ kind: 'refused', by: 'server', step: 'seat', reason: problem.reason }],
    };
  }
  const step = takeSeat(coordinator, userIdOf(ports.suite, certificate.deviceKey), version, now, mayEnter);
  const { seat } = step;
  const events: readonly BasaEvent[] =
    seat.kind === 'seated' ? [{ kind: 'seat-given', ctx: seat.ctx, seats: seat.seats, deposits: seat.deposits }] : [];
  return { coordinator: step.coordinator, answer: seat, events };
}

/** What a server asks of a certificate, without asking the authority. */
export function certificateProblem(
  { suite }: ServerPorts,
  of: EnrolledFor,
  certificate: Certificate,
  now: Millis,
): Refused | undefined {
  const isOfTask = equalBytes(certificate.task, of.task) && isEndorsed(suite, certificateCodec, of, certificate);
  if (!isOfTask) return refused('certificate-invalid');
  return now > certificate.notAfter ? refused('certificate-expired') : undefined;
}

/** Whether the device holds a living seat in the buffer: a service takes deposits of seated devices only. */
export function holdsSeat(
  { suite }: ServerPorts,
  { seats }: Coordinator,
  certificate: Certificate,
  ctx: Uint8Array,
  now: Millis,
): boolean {
  const seat = seats.get(toHex(userIdOf(suite, certificate.deviceKey)));
  return seat !== undefined && seat.ctx === toHex(ctx) && now < seat.lapsesAt;
}
