/** Sign-in of an operator from a page: the code is for whoever began, and goes to nobody but the issuer. */
import { beginSignIn, endSignIn, signInByDevice } from '@basa/client/operator';
import { nodeRandomBytes } from '@basa/runtime/node';
import { type Issuer, startIssuer } from '@basa/testkit/services/issuer.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const BACK = 'http://localhost/';
let issuer: Issuer;
beforeEach(async () => {
  issuer = await startIssuer({ aud: 'basa' });
});
afterEach(() => issuer.close());

const place = () => ({ issuer: issuer.url, clientId: 'page', audience: 'basa', scope: 'openid' });

/** The browser goes to the issuer, and comes back with these words. */
async function back() {
  const { address, begun } = await beginSignIn(place(), BACK, () => nodeRandomBytes(32));
  const { headers } = await fetch(address, { redirect: 'manual' });
  return { address, begun, answer: new URL(headers.get('location') ?? '').searchParams };
}

describe('an answer', () => {
  it('gives a token to the page that began, once, and its verifier is in no address', async () => {
    const { address, begun, answer } = await back();
    expect(address).not.toContain(begun.verifier);
    expect((await endSignIn(place(), BACK, begun, answer)).token.split('.')).toHaveLength(3);
    await expect(endSignIn(place(), BACK, begun, answer)).rejects.toThrow('refused: invalid_grant');
  });

  it.each<[string, (answer: URLSearchParams) => void]>([
    ['with another state', (answer) => answer.set('state', 'another')],
    ['without a state', (answer) => answer.delete('state')],
    ['of another issuer', (answer) => answer.set('iss', 'https://evil.example')],
  ])('%s is for another sign-in: its code is sent nowhere', async (_, change) => {
    const { begun, answer } = await back();
    change(answer);
    await expect(endSignIn(place(), BACK, begun, answer)).rejects.toThrow('sign in again');
    expect(issuer.asked).not.toContain('/token');
  });

  it('to a page that knows another verifier gives nothing', async () => {
    const [{ answer, begun }, other] = [await back(), await back()];
    const stolen = { ...other.begun, state: begun.state };
    await expect(endSignIn(place(), BACK, stolen, answer)).rejects.toThrow('refused: invalid_grant');
  });
});

it('an issuer whose words go to others, or that is another one, is not asked', async () => {
  const described = { issuer: issuer.url, token_endpoint: `${issuer.url}/token` };
  for (const change of [
    { token_endpoint: 'http://login.example.org/token' },
    { authorization_endpoint: 'http://login.example.org/authorize' },
    { issuer: 'https://evil.example' },
  ]) {
    issuer.instead.set('/.well-known/openid-configuration', { ...described, ...change });
    await expect(beginSignIn(place(), BACK, () => nodeRandomBytes(32))).rejects.toThrow('does not describe');
  }
});

it('what an issuer says controls neither a terminal nor a shell', async () => {
  const signal = new AbortController().signal;
  const shown: unknown[] = [];
  const signIn = () => signInByDevice(place(), (code) => shown.push(code), signal);
  const code = { verification_uri: 'https://a\u001b[2J', user_code: '\u202eAB', device_code: 'x', interval: 0 };
  issuer.instead.set('/device', code);
  issuer.instead.set('/token', { access_token: 'a;reboot' });
  await expect(signIn()).rejects.toThrow('gave something that is no token');
  expect(shown).toEqual([{ address: 'https://a [2J', code: ' AB' }]);
  issuer.instead.set('/token', { error: 'no\u001b[2J', error_description: 'never\n' });
  await expect(signIn()).rejects.toThrow('refused: no [2J (never )');
});
