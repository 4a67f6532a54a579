/** How commands find the services: flags, or the variables that `basa dev` prints. */
import type { CommandInput, Flags } from '../command.ts';
import { needed, textFlag } from '../command.ts';
import { AuthorityOperator, ServerOperator } from '../operator.ts';

export const SERVER_FLAGS: Flags = { server: { type: 'string' }, token: { type: 'string' } };
export const AUTHORITY_FLAGS: Flags = { authority: { type: 'string' }, token: { type: 'string' } };

export const SERVER_USAGE = `  --server <url>       the server (BASA_SERVER)
  --token <text>       an operator's token (BASA_OPERATOR_TOKEN)`;
export const AUTHORITY_USAGE = `  --authority <url>    the authority (BASA_AUTHORITY)
  --token <text>       an operator's token (BASA_OPERATOR_TOKEN)`;

export function serverOperator(input: CommandInput): ServerOperator {
  return new ServerOperator({
    url: needed(input, 'server', 'BASA_SERVER'),
    token: tokenOf(input),
    signal: input.signal,
  });
}

export function authorityOperator(input: CommandInput): AuthorityOperator {
  const url = needed(input, 'authority', 'BASA_AUTHORITY');
  return new AuthorityOperator({ url, token: tokenOf(input), signal: input.signal });
}

function tokenOf(input: CommandInput): string | undefined {
  return textFlag(input, 'token') ?? input.environment['BASA_OPERATOR_TOKEN'];
}
