/** `basa doctor` in the terminal of one party: it warns if the tokens there are of both sides. */
import { toHex } from '@basa/masking';
import { nodeSuite } from '@basa/runtime/node';
import { basaHere, lastLine } from '@basa/testkit/programs/basa.ts';
import { TestServices } from '@basa/testkit/services/test-services.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';

const token = (name: string, ...roles: readonly ('operator' | 'tasks' | 'enrol' | 'revoke' | 'admin')[]) => ({
  tokenHash: toHex(nodeSuite.sha256(Buffer.from(name))),
  roles,
});

let services: TestServices;
let other: Awaited<ReturnType<TestServices['furtherAuthority']>>;
beforeAll(async () => {
  services = await TestServices.open();
  await services.restartServer({ operators: [token('operator', 'operator')] });
  other = await services.furtherAuthority('another-owner');
});
afterAll(async () => {
  await other.close();
  await services.close();
});

interface Finding {
  readonly check: string;
  readonly state: string;
  readonly says: string;
}

async function tokensSay(environment: Readonly<Record<string, string>>): Promise<readonly Finding[]> {
  const { findings } = lastLine((await basaHere(['doctor', '--json'], environment)).out) as { findings: Finding[] };
  return findings.filter(({ check }) => check === 'tokens');
}

it.each([
  ['enrol', ['enrol']],
  ['revoke', ['revoke']],
  ['admin', ['admin']],
] as const)('the server and an authority with the role %s in one hand are a warning', async (name, roles) => {
  const owned = await services.furtherAuthority(`owner-${name}`, 0, [token('mine', ...roles)]);
  const found = await tokensSay({
    BASA_SERVER: services.server.url,
    BASA_OPERATOR_TOKEN: 'operator',
    BASA_AUTHORITY: owned.url,
    BASA_AUTHORITY_TOKEN: 'mine',
  });
  await owned.close();
  expect(found).toEqual([
    expect.objectContaining({ state: 'warning', says: expect.stringContaining(`lets devices in at ${owned.url}`) }),
  ]);
});

it('the server with tokens for tasks only is fine', async () => {
  const owned = await services.furtherAuthority('owner-tasks', 0, [token('given', 'tasks')]);
  const found = await tokensSay({
    BASA_SERVER: services.server.url,
    BASA_OPERATOR_TOKEN: 'operator',
    BASA_AUTHORITY: owned.url,
    BASA_AUTHORITY_TOKEN: 'given',
  });
  await owned.close();
  expect(found).toEqual([expect.objectContaining({ state: 'fine' })]);
});

it('two authorities in one hand are a warning, and a token that nobody knows is told', async () => {
  const both = { BASA_AUTHORITY: `${services.authority.url},${other.url}` };
  const owned = await tokensSay({ ...both, BASA_AUTHORITY_TOKEN: 'operator-of-the-tests,operator-of-the-tests' });
  expect(owned).toEqual([
    expect.objectContaining({ state: 'warning', says: expect.stringContaining('owner of 2 authorities') }),
  ]);
  const unknown = await tokensSay({ ...both, BASA_AUTHORITY_TOKEN: 'operator-of-the-tests,guessed' });
  expect(unknown).toEqual([
    expect.objectContaining({ state: 'warning', says: expect.stringContaining(`${other.url} did not tell`) }),
  ]);
  expect(await tokensSay({})).toEqual([]);
});
