/** How commands find the services: flags, or the variables that `basa dev` prints. */

import type { AuthorityOperator, ServerOperator } from '@basa/client/operator';
import { CommandError, type CommandInput, type Flags, needed, textFlag, textFlags } from '../command.ts';

/** For whoever owns the network between, for example one of containers. */
export const PLAIN_HTTP_FLAGS: Flags = { 'unsafe-plain-http': { type: 'boolean', default: false } };
export const PLAIN_HTTP_USAGE =
  '  --unsafe-plain-http  let addresses be plain http to another machine (BASA_UNSAFE_PLAIN_HTTP=1)';

export const SERVER_FLAGS: Flags = { ...textFlags('server', 'token'), ...PLAIN_HTTP_FLAGS };
export const AUTHORITY_FLAGS: Flags = {
  ...textFlags('authority', 'authority-token', 'token'),
  ...PLAIN_HTTP_FLAGS,
};

export const SERVER_USAGE = `  --server <url>       the server (BASA_SERVER)
  --token <text>       an operator's token (BASA_OPERATOR_TOKEN)
${PLAIN_HTTP_USAGE}`;
export const AUTHORITIES_USAGE = `  --authority <url>    the authority; several with commas between them (BASA_AUTHORITY)
  --authority-token <text>  where another token opens it, or each has its own: one, or one each with commas (BASA_AUTHORITY_TOKEN)`;
export const AUTHORITY_USAGE = `${AUTHORITIES_USAGE}
  --token <text>       an operator's token (BASA_OPERATOR_TOKEN)
${PLAIN_HTTP_USAGE}`;

export function allowsPlainHttp({ values, environment }: CommandInput): boolean {
  return values['unsafe-plain-http'] === true || environment['BASA_UNSAFE_PLAIN_HTTP'] === '1';
}

export async function serverOperator(input: CommandInput): Promise<ServerOperator> {
  const url = needed(input, 'server', 'BASA_SERVER');
  await checkAddress(input, 'server', url);
  const { ServerOperator } = await import('@basa/client/operator');
  return new ServerOperator({ url, token: tokenOf(input), signal: input.signal });
}

/** `whenBack`: what to do about an authority that was missed. */
export async function authorityOperator(
  input: CommandInput,
  whenBack = 'give this command again when it is back',
): Promise<AuthorityOperator> {
  const url = needed(input, 'authority', 'BASA_AUTHORITY');
  for (const one of url.split(',')) await checkAddress(input, 'authority', one);
  const { AuthorityOperator } = await import('@basa/client/operator');
  return new AuthorityOperator({
    url,
    token: authorityTokenOf(input),
    signal: input.signal,
    onMissed: (error) => input.terminal.warn(`${error.message}\nThe other authorities know now; ${whenBack}.`),
  });
}

/** Whoever has an operator's token controls the service: it never goes over plain http to another machine. */
async function checkAddress(input: CommandInput, name: string, url: string): Promise<void> {
  const { protocol, hostname } = urlOf(url, name);
  const { isLoopback } = await import('@basa/protocol');
  if (protocol === 'http:' && !isLoopback(hostname) && !allowsPlainHttp(input))
    throw new CommandError(
      `--${name} ${url} is plain http to another machine; use https, or --unsafe-plain-http where the way is yours`,
    );
}

function urlOf(text: string, name: string): URL {
  try {
    return new URL(text);
  } catch {
    throw new CommandError(`--${name} takes an address like https://host:port, got "${text}"`);
  }
}

/** One for all authorities, or one each with commas between them. */
export function authorityTokenOf(input: CommandInput): string | undefined {
  return textFlag(input, 'authority-token') ?? input.environment['BASA_AUTHORITY_TOKEN'] ?? tokenOf(input);
}

function tokenOf(input: CommandInput): string | undefined {
  return textFlag(input, 'token') ?? input.environment['BASA_OPERATOR_TOKEN'];
}
