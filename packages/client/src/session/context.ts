/** The parts that every step of a connected client uses, and the two requests before a training: for a certificate and for a place. */
import { equalBytes } from '@basa/masking';
import type { TaskId } from '@basa/protocol';
import type { TaskPolicy } from '@basa/protocol/policy';
import { Certificate, Councils } from '@basa/protocol/wire';
import type { DeviceState } from '../device/state.ts';
import { RefusedError } from '../errors.ts';
import type { Outside } from '../outside.ts';
import { type AuthorityClient, enrolAt } from '../services/authorities.ts';
import type { ServerClient } from '../services/server-client.ts';
import type { Models } from './models.ts';
import { type Emitter, type Rejection, rejected, rejectionOf } from './results.ts';

export interface DeviceContext {
  readonly outside: Outside;
  readonly server: ServerClient;
  /** In the order of the policy. */
  readonly authorities: readonly AuthorityClient[];
  readonly state: DeviceState;
  readonly models: Models;
  readonly events: Emitter;
  /** The pinned policy of the task. */
  readonly policy: TaskPolicy;
  readonly task: TaskId;
  readonly token: Uint8Array | undefined;
  readonly pieceBytes: number;
}

/** Keeps the stored certificate; a device without one enrols, with the token if there is one. */
export async function ensureEnrolled(context: DeviceContext, signal: AbortSignal): Promise<void> {
  if (context.state.certificate === undefined) await enrol(context, signal);
}

/** Sends a request with the certificate. */
export async function withCertificate<Answer>(
  context: DeviceContext,
  signal: AbortSignal,
  ask: (certificate: Certificate) => Promise<Answer>,
): Promise<Answer | Rejection> {
  const { state } = context;
  try {
    await ensureEnrolled(context, signal);
    return state.certificate === undefined ? rejected('not-enrolled', 'free') : await ask(state.certificate);
  } catch (error) {
    return rejectionOf(error);
  }
}

async function enrol(context: DeviceContext, signal: AbortSignal): Promise<void> {
  const { authorities, outside, policy, state, task, token } = context;
  const { suite } = outside;
  const asked = { suite, task, token };
  const certificate = await enrolAt(authorities, policy, asked, (answer) => isMine(context, answer), signal);
  if (!Councils.isEndorsed(suite, Certificate, policy, certificate)) throw new RefusedError('wrong-certificate');
  await state.keepCertificate(certificate);
}

/** Checks the certificate of one authority: there may be too few signatures, but every one must be valid. */
function isMine({ outside, policy, state, task }: DeviceContext, certificate: Certificate): boolean {
  return (
    certificate.endorsements.length > 0 &&
    Councils.hasGoodEndorsements(outside.suite, Certificate, policy, certificate) &&
    equalBytes(certificate.task, task) &&
    equalBytes(certificate.deviceKey, state.signer.publicKey)
  );
}

/** A place to train in. */
export interface Place {
  readonly kind: 'place';
  /** It lapses then; a later update is still accepted if there is room. */
  readonly endsInMs: number;
}

/** A place, or a rejection that says when to ask again. */
export function askForPlace(context: DeviceContext, signal: AbortSignal): Promise<Place | Rejection> {
  const { server, models, task } = context;
  return withCertificate(context, signal, async (certificate): Promise<Place> => {
    const place = await server.admission(task, certificate, signal);
    models.handed(place.model);
    return { kind: 'place', endsInMs: place.endsInMs };
  });
}
