/** Tokens by role: what the operator of a task holds at an authority, and what its owner keeps. */
import { enrolmentHashes } from '@basa/client/operator';
import { toHex } from '@basa/masking';
import { AUTHORITY_PATH } from '@basa/protocol/http';
import { nodeSuite } from '@basa/runtime/node';
import type { AuthorityParty } from '@basa/testkit/world/authority-party.ts';
import { OPERATOR_TOKEN } from '@basa/testkit/world/operator.ts';
import type { World, WorldOptions } from '@basa/testkit/world/world.ts';

const OWNER_TOKEN = 'owner-of-an-authority';
const hashOf = (token: string): string => toHex(nodeSuite.sha256(Buffer.from(token)));

/** Authorities as the guide sets them up: the operator of the task has a token for tasks, and nothing else. */
export const BY_THE_BOOK: NonNullable<WorldOptions['authority']> = {
  operators: [
    { tokenHash: hashOf(OPERATOR_TOKEN), roles: ['tasks'] },
    { tokenHash: hashOf(OWNER_TOKEN), roles: ['enrol', 'revoke', 'admin'] },
  ],
};

/** Lets devices in by their keys. False if the authority refuses. */
export async function allow(world: World, keys: readonly Uint8Array[], by: 'owner' | 'operator'): Promise<boolean> {
  const token = by === 'owner' ? OWNER_TOKEN : OPERATOR_TOKEN;
  const body = { deviceKeys: keys.map(toHex) };
  const asked = world.authorities.map((party) =>
    ask(world, party, 'PUT', AUTHORITY_PATH.allowList(world.task), token, body),
  );
  return (await Promise.all(asked)).every(({ ok }) => ok);
}

/** Each owner registers the hash of a token for its own key. */
export async function register(world: World, token: string): Promise<void> {
  for (const party of world.authorities) {
    const body = { hashes: enrolmentHashes([token], toHex(party.publicKey)), endsAt: world.now + 3_600_000 };
    const { ok, status } = await ask(world, party, 'POST', AUTHORITY_PATH.tokens(world.task), OWNER_TOKEN, body);
    if (!ok) throw new Error(`an owner cannot register a token: ${status}`);
  }
}

function ask({ wire }: World, { url }: AuthorityParty, method: string, path: string, token: string, body: object) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return wire.fetch(new URL(path, url), { method, headers, body: JSON.stringify(body) });
}
