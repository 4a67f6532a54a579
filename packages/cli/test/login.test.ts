/** `basa login` at a real issuer, in this process. */
import { basaHere as basa } from '@basa/testkit/programs/basa.ts';
import { type Issuer, startIssuer } from '@basa/testkit/services/issuer.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';

let issuer: Issuer;
beforeAll(async () => {
  issuer = await startIssuer({ aud: 'basa' });
});
afterAll(() => issuer.close());

const login = (...more: string[]) =>
  basa(['login', 'authority', '--issuer', issuer.url, '--client-id', 'terminal', '--audience', 'basa', ...more]);

it('shows a code, waits until it is confirmed, and prints the token as a variable', async () => {
  issuer.deviceErrors.push('authorization_pending', 'authorization_pending');
  const { code, out, errors } = await login();
  expect([code, out]).toEqual([0, expect.stringMatching(/^export BASA_AUTHORITY_TOKEN=[\w-]+\.[\w-]+\.[\w-]+\n$/)]);
  expect(errors).toContain(`Open ${issuer.url}/activate in a browser, check that it shows the code ABCD-EFGH`);
  expect(issuer.asked.filter((path) => path === '/token')).toHaveLength(3);
});

it('says why there is no token', async () => {
  issuer.deviceErrors.push('access_denied');
  expect((await login()).errors).toContain(`${issuer.url} refused: access_denied`);
  expect((await login('--audience', 'terminal')).errors).toContain('refused: no token'); // that would be an ID token
  expect((await login('--issuer', `${issuer.url}/other`)).errors).toContain('does not describe');
  expect((await login('--issuer', 'http://login.example.org')).errors).toContain('does not describe');
});
