/** Sign-in of an operator at an OpenID provider: by device code from a terminal (RFC 8628), by authorization code with PKCE from a page (RFC 7636). */
import { Network } from '@basa/protocol/http';
import { SettingsError } from '../errors.ts';
import { sleep } from '../outside.ts';
import { wordsOf } from '../services/answers.ts';

/** What the issuer knows this client and its services as. */
export interface SignInPlace {
  readonly issuer: string;
  readonly clientId: string;
  /** A service takes tokens of this audience. That of the client itself stands for ID tokens. */
  readonly audience: string;
  readonly scope: string;
}

export interface SignedIn {
  readonly token: string;
  /** Undefined if the issuer does not say it. */
  readonly expiresInS: number | undefined;
}

/** The address and code that a person confirms in a browser. */
export interface DeviceCode {
  readonly address: string;
  readonly code: string;
}

const PATIENCE_MS = 10_000;
const SLOWER_S = 5;
const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** Resolves once the person has confirmed the code that `show` got. */
export async function signInByDevice(
  place: SignInPlace,
  show: (code: DeviceCode) => void,
  signal: AbortSignal,
): Promise<SignedIn> {
  const { device_authorization_endpoint: start, token_endpoint: end } = await endpointsOf(place);
  if (start === undefined) throw new SettingsError(`${place.issuer} has no device-code flow; use a token`);
  const { clientId: client_id, scope, audience } = place;
  const begun = await post(start, { client_id, scope, audience });
  const { device_code, user_code, verification_uri, verification_uri_complete } = begun;
  if (device_code === undefined) throw refusedBy(place, begun);
  show({ address: wordsOf(verification_uri_complete ?? verification_uri) ?? '', code: wordsOf(user_code) ?? '' });
  const asked = Number(begun['interval']);
  let waitS = Number.isFinite(asked) ? asked : SLOWER_S;
  for (;;) {
    await sleep(waitS * 1000, signal);
    const told = await post(end, { grant_type: DEVICE_GRANT, device_code, client_id });
    if (told['error'] === 'slow_down') waitS += SLOWER_S;
    else if (told['error'] !== 'authorization_pending') return grantedBy(place, told);
  }
}

/** What a page keeps until the browser comes back to it. */
export interface Begun {
  readonly state: string;
  readonly verifier: string;
}

/** The address to send the browser to. `random`: 32 fresh bytes. */
export async function beginSignIn(
  place: SignInPlace,
  back: string,
  random: () => Uint8Array,
): Promise<{ readonly address: string; readonly begun: Begun }> {
  const { authorization_endpoint: address } = await endpointsOf(place);
  if (address === undefined) throw new SettingsError(`${place.issuer} has no browser flow; use a token`);
  const begun = { state: base64Url(random()), verifier: base64Url(random()) };
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(begun.verifier));
  const url = new URL(address);
  const { clientId: client_id, scope, audience } = place;
  const asked = {
    response_type: 'code',
    client_id,
    scope,
    audience,
    redirect_uri: back,
    state: begun.state,
    code_challenge: base64Url(new Uint8Array(hash)),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value);
  return { address: url.href, begun };
}

/** `answer`: the query with which the browser came back. Refused unless this page began it. */
export async function endSignIn(
  place: SignInPlace,
  back: string,
  begun: Begun,
  answer: URLSearchParams,
): Promise<SignedIn> {
  const code = answer.get('code');
  const sender = answer.get('iss'); // RFC 9207
  if (answer.get('state') !== begun.state || (sender !== null && sender !== place.issuer))
    throw new SettingsError('the answer is not for the sign-in that this page began; sign in again');
  if (code === null) throw refusedBy(place, { error: answer.get('error') ?? 'no code' });
  const { token_endpoint: end } = await endpointsOf(place);
  const { clientId: client_id } = place;
  const given = {
    grant_type: 'authorization_code',
    code,
    redirect_uri: back,
    client_id,
    code_verifier: begun.verifier,
  };
  return grantedBy(place, await post(end, given));
}

/** Whatever an endpoint of the issuer may answer. */
type Told = Readonly<Partial<Record<string, string>>>;

interface Endpoints {
  readonly token_endpoint: string;
  readonly authorization_endpoint?: string;
  readonly device_authorization_endpoint?: string;
}

async function endpointsOf({ issuer }: SignInPlace): Promise<Endpoints> {
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const told = isSafe(address) ? await fetched(address) : {};
  const { authorization_endpoint, device_authorization_endpoint, token_endpoint = '' } = told;
  const all = [token_endpoint, authorization_endpoint, device_authorization_endpoint];
  if (told['issuer'] !== issuer || !all.every((one) => one === undefined || isSafe(one)))
    throw new SettingsError(`${address} does not describe ${issuer}; check the address of the issuer`);
  return {
    token_endpoint,
    ...(authorization_endpoint !== undefined && { authorization_endpoint }),
    ...(device_authorization_endpoint !== undefined && { device_authorization_endpoint }),
  };
}

function isSafe(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || (protocol === 'http:' && Network.isLoopback(hostname));
}

function post(address: string, given: Readonly<Record<string, string>>): Promise<Told> {
  return fetched(address, { method: 'POST', body: new URLSearchParams(given) });
}

async function fetched(address: string, how: RequestInit = {}): Promise<Told> {
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const answer = await fetch(address, { ...how, signal, redirect: 'error', credentials: 'omit' });
    return Object(await answer.json()) as Told;
  } catch (error) {
    throw new SettingsError(
      `${address} cannot be asked (${(error as Error).message}); check the address of the issuer`,
    );
  }
}

function grantedBy(place: SignInPlace, told: Told): SignedIn {
  const token = place.audience === place.clientId ? told['id_token'] : told['access_token'];
  if (token === undefined) throw refusedBy(place, told);
  // RFC 6750, section 2.1; a terminal makes a command of it.
  if (!/^[\w.~+/-]+=*$/.test(token)) throw new SettingsError(`${place.issuer} gave something that is no token`);
  return { token, expiresInS: told['expires_in'] === undefined ? undefined : Number(told['expires_in']) };
}

function refusedBy({ issuer }: SignInPlace, told: Told): SettingsError {
  const [error, more] = [wordsOf(told['error']), wordsOf(told['error_description'])];
  return new SettingsError(`${issuer} refused: ${error ?? 'no token'}${more === undefined ? '' : ` (${more})`}`);
}

function base64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
