/**
 * Revocations, reported to servers: they are numbered in the order of the log, from 1. A head gives their number, and
 * this statement lists the devices of a task among them.
 */
import { equalBytes } from '@basa/masking';
import {
  MAX_REVOCATIONS,
  type RevocationRequest,
  type Revocations,
  type RevocationsBody,
  revocationRequestCodec,
  revocationsCodec,
} from '../wire/authority-messages.ts';
import type { TaskId } from '../wire/brands.ts';
import { refused } from '../wire/refusals.ts';
import { isSigned, signStatement } from '../wire/signed.ts';
import { declined, type Transition, unchanged } from '../wire/transition.ts';
import type { EnrolledDevice } from './device.ts';
import type { AuthorityPorts } from './ports.ts';
import type { AuthorityTask } from './task.ts';

/** Reports some numbers after the requested one; the server continues from there. `revoked` are all, in order. */
export function tellRevocations(
  { suite, signer }: AuthorityPorts,
  { id, policy }: AuthorityTask,
  { branch, revoked }: { readonly branch: Uint8Array; readonly revoked: readonly EnrolledDevice[] },
  request: RevocationRequest,
): Transition<undefined, never, Revocations> {
  if (!isSigned(suite, revocationRequestCodec, request, policy.serverKey))
    return declined(undefined, refused('server-unknown'));
  const { after } = request;
  const told = revoked.slice(after, after + MAX_REVOCATIONS);
  const users = told.filter(({ tasks }) => isOf(tasks, id)).map(({ user }) => user);
  const body: RevocationsBody = { task: id, branch, after, upTo: after + told.length, users };
  return unchanged(undefined, signStatement(revocationsCodec, signer, body));
}

function isOf(tasks: readonly TaskId[], task: TaskId): boolean {
  return tasks.some((one) => equalBytes(one, task));
}
