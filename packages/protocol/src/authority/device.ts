/** Enrolment: a device's key becomes a certificate that servers check without asking. */
import { equalBytes, type Suite } from '@basa/masking';
import type { Millis, TaskId, UserId } from '../wire/brands.ts';
import { type Certificate, type CertificateBody, certificateCodec, userIdOf } from '../wire/certificate.ts';
import { type Council, endorse } from '../wire/council.ts';
import { refused } from '../wire/refusals.ts';
import { declined, type Transition, unchanged } from '../wire/transition.ts';
import type { AuthorityPorts } from './ports.ts';
import type { AuthorityRecord } from './records.ts';
import type { AuthorityTask } from './task.ts';

export interface EnrolledDevice {
  readonly user: UserId;
  /** Its last certificate of this authority; missing if it was revoked before it had one. */
  readonly certificate?: Certificate;
  /** The tasks for which it ever had a certificate, or in which it could have been admitted when it was revoked. */
  readonly tasks: readonly TaskId[];
  readonly revoked: boolean;
  /** The time at which it was revoked. */
  readonly revokedAt?: Millis;
}

/** Returns the device with one more certificate. */
export function withCertificate(
  suite: Suite,
  device: EnrolledDevice | undefined,
  certificate: Certificate,
): EnrolledDevice {
  const { task, deviceKey } = certificate;
  const tasks = device?.tasks ?? [];
  const isKnown = tasks.some((one) => equalBytes(one, task));
  const user = device?.user ?? userIdOf(suite, deviceKey);
  return { user, certificate, tasks: isKnown ? tasks : [...tasks, task], revoked: false };
}

/** A repeated enrolment with the same words gives the same certificate. A revoked device stays revoked. */
export function enrolDevice(
  { suite, signer }: AuthorityPorts,
  council: Council,
  device: EnrolledDevice | undefined,
  body: CertificateBody,
): Transition<EnrolledDevice | undefined, AuthorityRecord, Certificate> {
  if (device?.revoked) return declined(device, refused('revoked'));
  const certificate = endorse(certificateCodec, council, signer, body);
  const known = device?.certificate && certificateCodec.encode(device.certificate);
  if (known !== undefined && equalBytes(known, certificateCodec.encode(certificate)))
    return unchanged(device, certificate);
  return {
    state: withCertificate(suite, device, certificate),
    records: [{ kind: 'device-enrolled', certificate }],
    answer: certificate,
    events: [{ kind: 'device-enrolled', task: body.task }],
  };
}

/** True if devices take part in the task that other authorities have certified. */
export function admitsByOthers({ policy }: Pick<AuthorityTask, 'policy'>): boolean {
  return policy.threshold > 1;
}

/**
 * From now on the authority votes for no update of the device, and servers learn about it. A device that this authority does not know can be
 * revoked in `tasks` that admit it by others.
 */
export function revokeDevice(
  device: EnrolledDevice | undefined,
  user: UserId,
  tasks: readonly AuthorityTask[],
  now: Millis,
): Transition<EnrolledDevice | undefined, AuthorityRecord, { readonly kind: 'revoked' }> {
  if (device === undefined && !tasks.some(admitsByOthers)) return declined(device, refused('not-enrolled'));
  if (device?.revoked) return unchanged(device, { kind: 'revoked' });
  return {
    state: { ...(device ?? { user, tasks: [] }), revoked: true },
    records: [{ kind: 'device-revoked', user, at: now }],
    answer: { kind: 'revoked' },
    events: [{ kind: 'device-revoked' }],
  };
}
