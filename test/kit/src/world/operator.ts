/** The operator of every service of a test: one token with every role of both services, which no real party may have. */
import { toHex } from '@basa/masking';
import { nodeSuite } from '@basa/runtime/node';

export const OPERATOR_TOKEN = 'operator-of-the-tests';

export const OPERATORS = [
  {
    tokenHash: toHex(nodeSuite.sha256(new TextEncoder().encode(OPERATOR_TOKEN))),
    roles: ['operator', 'auditor', 'tasks', 'enrol', 'revoke', 'admin'],
  },
] as const;

/** Sends a request of the operator. */
export function asOperator(send: typeof fetch, method: string, url: URL, body?: object): Promise<Response> {
  const isBytes = body instanceof Uint8Array;
  return send(url, {
    method,
    headers: {
      authorization: `Bearer ${OPERATOR_TOKEN}`,
      ...(body !== undefined && { 'content-type': isBytes ? 'application/octet-stream' : 'application/json' }),
    },
    ...(body !== undefined && { body: isBytes ? body.slice() : JSON.stringify(body) }),
  });
}

/** The same; an answer other than success is an error. */
export async function operate(send: typeof fetch, method: string, url: URL, body?: object): Promise<Uint8Array> {
  const response = await asOperator(send, method, url, body);
  if (!response.ok) throw new Error(`${method} ${url.pathname}: ${response.status} ${await response.text()}`);
  return new Uint8Array(await response.arrayBuffer());
}
