/** Operators: bearer tokens, of which the service knows only the SHA-256 and the roles, or tokens of an issuer (sign-in.ts). */
import { equalBytes, fromHex } from '@basa/masking';
import { nodeSuite } from '@basa/runtime/node';
import type { FastifyRequest } from 'fastify';
import { fail } from './problems.ts';

/** `metrics` reads `/metrics` and nothing else. */
export const SERVER_ROLES = ['operator', 'auditor', 'metrics'] as const;
/** `tasks` creates tasks, and is the only one that its owner hands out; `enrol` and `revoke` decide about devices; `admin` looks at everything. */
export const AUTHORITY_ROLES = ['tasks', 'enrol', 'revoke', 'admin', 'metrics'] as const;
export type Role = (typeof SERVER_ROLES)[number] | (typeof AUTHORITY_ROLES)[number];

export interface Operator {
  /** SHA-256 of the token, in hexadecimal. */
  readonly tokenHash: string;
  readonly roles: readonly Role[];
}

/** Of an issuer (sign-in.ts). */
export interface SignIn {
  /** The roles of a token that the issuer signed, and the name of its owner; any other token is refused. */
  check(token: string): Promise<{ readonly roles: readonly Role[]; readonly subject: string }>;
}

export type RequireRole = (...roles: readonly [Role, ...Role[]]) => (request: FastifyRequest) => Promise<void>;

export interface OperatorRequests {
  /** Returns the `onRequest` hook of routes that need one of these roles. */
  readonly requireRole: RequireRole;
  /** Returns the roles of the token that the request shows. */
  rolesOf(request: FastifyRequest): Promise<readonly Role[]>;
}

export function operatorRequests(operators: readonly Operator[], signIn?: SignIn): OperatorRequests {
  const known = operators.map(({ tokenHash, roles }) => {
    const hash = fromHex(tokenHash);
    if (hash?.length !== 32) throw new RangeError('tokenHash must be SHA-256 in lower-case hexadecimal');
    return { hash, roles };
  });
  const rolesOf = async (request: FastifyRequest): Promise<readonly Role[]> => {
    const token = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
    if (token === undefined) fail('operator-token-missing', { detail: 'send Authorization: Bearer <token>' });
    const hash = nodeSuite.sha256(Buffer.from(token, 'utf8'));
    // Compares every operator, each in constant time.
    const [operator] = known.filter((candidate) => equalBytes(candidate.hash, hash));
    if (operator !== undefined) return operator.roles;
    if (signIn === undefined || !isSigned(token))
      fail('operator-token-missing', { detail: 'this token is unknown here' });
    const { roles, subject } = await signIn.check(token);
    request.log.info({ operator: subject, roles }, 'operator signed in');
    return roles;
  };
  return {
    rolesOf,
    requireRole:
      (...wanted) =>
      async (request) => {
        const roles = await rolesOf(request);
        if (roles.some((role) => wanted.includes(role))) return;
        const has = roles.length === 0 ? 'none' : roles.join(', ');
        fail('role-missing', { detail: `the role ${wanted.join(' or ')} is needed; this token has ${has}` });
      },
  };
}

/** A token of an issuer; those in the configuration are of any other form. */
function isSigned(token: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]*$/.test(token);
}
