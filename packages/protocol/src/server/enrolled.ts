/** Checks that a device is enrolled for a task. */
import { equalBytes } from '@basa/masking';
import type { TaskId } from '../wire/brands.ts';
import { type Certificate, isCertified } from '../wire/certificate.ts';
import type { Council } from '../wire/council.ts';
import { type Refused, refused } from '../wire/refusals.ts';
import type { ServerPorts } from './ports.ts';

/** The server's checks of a certificate, without asking the authority. */
export function certificateProblem(
  { suite }: ServerPorts,
  of: Council & { readonly task: TaskId },
  certificate: Certificate,
): Refused | undefined {
  const isOfTask = equalBytes(certificate.task, of.task) && isCertified(suite, of, certificate);
  return isOfTask ? undefined : refused('certificate-invalid');
}
