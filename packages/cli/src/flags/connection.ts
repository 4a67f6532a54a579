/** The addresses of the services: from flags, or from the variables that `basa dev` prints. */

import type { AuthorityOperator, ServerOperator } from '@basa/client/operator';
import { CommandError, type CommandInput } from '../shell/command.ts';
import { needed, text, yes } from '../shell/flag.ts';

/** For the owner of the network in between, for example one of containers. */
export const PLAIN_HTTP_FLAGS = {
  'unsafe-plain-http': yes('allow plain http to another machine', 'BASA_UNSAFE_PLAIN_HTTP'),
};

export const SERVER_TOKEN = { help: "the operator's token of the server", variable: 'BASA_OPERATOR_TOKEN' };

export const SERVER_FLAGS = {
  server: needed({ value: 'url', help: 'address of the server', variable: 'BASA_SERVER' }),
  token: text(SERVER_TOKEN),
  ...PLAIN_HTTP_FLAGS,
};

export const AUTHORITY_TOKEN = {
  help: 'token of the authority; for several, one each, separated by commas, and empty for those of other owners',
  variable: 'BASA_AUTHORITY_TOKEN',
};

export const AUTHORITY_FLAGS = {
  authority: needed({
    value: 'url',
    help: 'address of the authority, or several separated by commas',
    variable: 'BASA_AUTHORITY',
  }),
  ...PLAIN_HTTP_FLAGS,
  'authority-token': needed(AUTHORITY_TOKEN),
};

type ServerInput = CommandInput<typeof SERVER_FLAGS>;
type AuthorityInput = CommandInput<Omit<typeof AUTHORITY_FLAGS, 'authority-token'>> & {
  readonly flags: { readonly 'authority-token'?: string | undefined };
};

export async function serverOperator({ flags, signal }: ServerInput): Promise<ServerOperator> {
  const { server: url, token } = flags;
  await checkAddress(flags, 'server', url);
  const { ServerOperator } = await import('@basa/client/operator');
  return new ServerOperator({ url, token, signal, unsafeAllowPlainHttp: flags['unsafe-plain-http'] });
}

/** `whenBack`: the advice about an authority that was missed. */
export async function authorityOperator(
  { flags, signal, terminal }: AuthorityInput,
  whenBack = 'run this command again when it is back',
): Promise<AuthorityOperator> {
  const { authority: url } = flags;
  for (const one of url.split(',')) await checkAddress(flags, 'authority', one);
  const { AuthorityOperator } = await import('@basa/client/operator');
  return new AuthorityOperator({
    url,
    token: flags['authority-token'],
    signal,
    unsafeAllowPlainHttp: flags['unsafe-plain-http'],
    onMissed: (error) => terminal.warn(`${error.message}\nThe other authorities have accepted it; ${whenBack}.`),
  });
}

/** A holder of an operator's token controls the service, so the token never goes over plain http to another machine. */
async function checkAddress(
  flags: CommandInput<typeof PLAIN_HTTP_FLAGS>['flags'],
  name: string,
  url: string,
): Promise<void> {
  const { protocol, hostname } = urlOf(url, name);
  const { isLoopback } = await import('@basa/protocol/http');
  if (protocol === 'http:' && !isLoopback(hostname) && !flags['unsafe-plain-http'])
    throw new CommandError(
      `--${name} ${url} is plain http to another machine; use https, or add --unsafe-plain-http if you control the network in between`,
    );
}

function urlOf(address: string, name: string): URL {
  try {
    return new URL(address);
  } catch {
    throw new CommandError(`--${name} takes an address such as https://host:port, got "${address}"`);
  }
}
