/** `basa login`: a token of an OpenID provider for this terminal, by the device-code flow. */
import { type Command, command, needed, text } from '../shell/command.ts';
import { serviceOf } from './config.ts';

/** The commands of tasks and devices read them. */
const VARIABLE = { server: 'BASA_OPERATOR_TOKEN', authority: 'BASA_AUTHORITY_TOKEN' } as const;

export const login: Command = command({
  name: 'login',
  summary: 'sign in at the OpenID provider of a service, and print its token as a variable',
  takes: { 'server | authority': 'the service that you operate' },
  flags: {
    issuer: needed({ value: 'url', help: 'address of the provider', variable: 'BASA_OIDC_ISSUER' }),
    'client-id': needed({ help: 'the id of this program at the provider', variable: 'BASA_OIDC_CLIENT_ID' }),
    audience: needed({ help: 'the audience of the service at the provider', variable: 'BASA_OIDC_AUDIENCE' }),
    scope: text({ help: 'the scopes to ask for', variable: 'BASA_OIDC_SCOPE', default: 'openid' }),
  },
  notes: [
    'Type it as eval "$(basa login server --issuer ...)". It asks only the provider, so a service cannot send you to another one.',
    'The token is written nowhere else, and ends when the provider says so.',
  ],
  async run(input) {
    const { flags, signal, terminal } = input;
    const service = serviceOf(input);
    const { signInByDevice } = await import('@basa/client/operator');
    const place = {
      issuer: flags.issuer,
      clientId: flags['client-id'],
      audience: flags.audience,
      scope: flags.scope,
    };
    const show = ({ address, code }: { readonly address: string; readonly code: string }): void =>
      terminal.warn(`Open ${address} in a browser, check that it shows the code ${code}, and sign in.`);
    const { token, expiresInS } = await signInByDevice(place, show, signal);
    const variable = VARIABLE[service];
    if (expiresInS !== undefined) terminal.warn(`signed in for ${Math.floor(expiresInS / 60)} minutes`);
    terminal.line(`export ${variable}=${token}`);
    return { json: { variable, token, expiresInS } };
  },
});
