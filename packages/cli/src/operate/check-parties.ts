/** Whether one party holds both sides: who operates the server and lets devices in can put its own beside a victim. */
import { AuthorityOperator, ServerOperator } from '@basa/client/operator';
import type { ServiceName } from '../flags/places.ts';
import { type Finding, fine, warning } from './finding.ts';

const CHECK = 'tokens';
/** Of an authority: the roles that never leave its owner's hands. */
const OWNERS: ReadonlySet<string> = new Set(['enrol', 'revoke', 'admin']);
const TIMEOUT_MS = 10_000;

interface Held {
  /** The sides that the tokens of this terminal operate, in words. */
  readonly server: readonly string[];
  readonly authorities: readonly string[];
  readonly unknown: readonly string[];
}

/** `checked`: the service whose configuration is read here, so that its side is in this party's hands. */
export async function checkParties(
  environment: Readonly<Record<string, string | undefined>>,
  checked: ServiceName | undefined,
): Promise<readonly Finding[]> {
  const { server, authorities, unknown } = await heldIn(environment);
  const servers = checked === 'server' ? ['the server of this configuration'] : server;
  const owned =
    checked === 'authority' && authorities.length === 0 ? ['the authority of this configuration'] : authorities;
  const todo = 'let each owner keep its own tokens, and give the operator of the task only those with the role tasks';
  const findings = unknown.map((url) =>
    warning(CHECK, `${url} did not tell the roles of its token`, 'start it, or check the token and the address'),
  );
  if (servers.length > 0 && owned.length > 0)
    findings.push(
      warning(
        CHECK,
        `one party holds ${servers.join()} and lets devices in at ${owned.join(', ')}: it could put its own devices beside a victim`,
        todo,
      ),
    );
  if (owned.length > 1)
    findings.push(warning(CHECK, `one party is the owner of ${owned.length} authorities: together they collude`, todo));
  return findings.length === 0 && server.length + authorities.length > 0
    ? [fine(CHECK, 'they are of one side only')]
    : findings;
}

async function heldIn(environment: Readonly<Record<string, string | undefined>>): Promise<Held> {
  const { BASA_SERVER: serverUrl, BASA_OPERATOR_TOKEN: token } = environment;
  const { BASA_AUTHORITY: urls = '', BASA_AUTHORITY_TOKEN: tokens = '' } = environment;
  const server: string[] = [];
  const authorities: string[] = [];
  const unknown: string[] = [];
  const look = async (url: string, roles: () => Promise<readonly string[]>, of: (found: readonly string[]) => void) =>
    of(
      await roles().catch(() => {
        unknown.push(url);
        return [];
      }),
    );
  if (serverUrl !== undefined && token !== undefined)
    await look(
      serverUrl,
      () => new ServerOperator({ url: serverUrl, token, timeoutMs: TIMEOUT_MS }).roles(),
      (found) => found.includes('operator') && server.push(`the server ${serverUrl}`),
    );
  for (const [n, one] of tokens.split(',').entries()) {
    const url = urls.split(',')[n] ?? '';
    if (url === '' || one === '') continue;
    await look(
      url,
      () => new AuthorityOperator({ url, token: one, timeoutMs: TIMEOUT_MS }).roles(),
      (found) => found.some((role) => OWNERS.has(role)) && authorities.push(url),
    );
  }
  return { server, authorities, unknown };
}
