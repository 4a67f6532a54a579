/** Operators: bearer tokens, of which the service knows only the SHA-256 and the roles. */
import { equalBytes, fromHex } from '@basa/masking';
import { nodeSuite } from '@basa/runtime/node';
import type { FastifyRequest } from 'fastify';
import { fail } from './problem.ts';

/** `metrics` reads `/metrics` and nothing else. */
export type Role = 'operator' | 'auditor' | 'metrics';

export interface Operator {
  /** SHA-256 of the token, in hexadecimal. */
  readonly tokenHash: string;
  readonly roles: readonly Role[];
}

export type RequireRole = (...roles: readonly [Role, ...Role[]]) => (request: FastifyRequest) => Promise<void>;

/** Returns the `onRequest` hook of routes that need a role. */
export function operatorRequests(operators: readonly Operator[]): RequireRole {
  const known = operators.map(({ tokenHash, roles }) => {
    const hash = fromHex(tokenHash);
    if (hash?.length !== 32) throw new RangeError('tokenHash must be SHA-256 in lower-case hexadecimal');
    return { hash, roles };
  });
  return (...wanted) =>
    async (request) => {
      const token = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
      if (token === undefined) fail('operator-token-missing', { detail: 'send Authorization: Bearer <token>' });
      const hash = nodeSuite.sha256(Buffer.from(token, 'utf8'));
      // Compares every operator, each in constant time.
      const [operator] = known.filter((candidate) => equalBytes(candidate.hash, hash));
      if (operator === undefined) fail('operator-token-missing', { detail: 'this token is unknown here' });
      if (!operator.roles.some((role) => wanted.includes(role)))
        fail('role-missing', { detail: `the role ${wanted.join(' or ')} is needed` });
    };
}
