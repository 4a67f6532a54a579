/** The judgements of an authority about tasks and devices. Each is a function of its keys and of what it keeps, and changes nothing. */
import type { Signer, Suite } from '@basa/masking';
import { type Revocations, revocationsCodec } from '../wire/authority-messages.ts';
import type { UserId } from '../wire/brands.ts';
import { type Certificate, type CertificateBody, certificateCodec } from '../wire/certificate.ts';
import { type Council, endorse, indexOf } from '../wire/council.ts';
import type { TaskPolicy } from '../wire/policy.ts';
import { policyProblem } from '../wire/policy-problem.ts';
import { type Refused, refused } from '../wire/refusals.ts';
import { signStatement } from '../wire/signed.ts';

export interface AuthorityPorts {
  readonly suite: Suite;
  readonly signer: Signer;
}

/** An authority answers only for tasks that name it, and whose sums cannot wrap. */
export function taskProblem({ signer }: Pick<AuthorityPorts, 'signer'>, policy: TaskPolicy): Refused | undefined {
  const isMember = indexOf(policy, signer.publicKey) !== undefined;
  const problem = policyProblem(policy) ?? (isMember ? undefined : 'the policy does not name this authority');
  return problem === undefined ? undefined : refused('policy-invalid', { detail: problem });
}

/** A device gets the same certificate however often it asks, until it is revoked. */
export function certify(
  { signer }: Pick<AuthorityPorts, 'signer'>,
  council: Council,
  body: CertificateBody,
  isRevoked: boolean,
): Certificate | Refused {
  return isRevoked ? refused('revoked') : endorse(certificateCodec, council, signer, body);
}

/** All devices that this authority has revoked, in any order. */
export function signRevocations({ signer }: Pick<AuthorityPorts, 'signer'>, users: readonly UserId[]): Revocations {
  return signStatement(revocationsCodec, signer, { users });
}
