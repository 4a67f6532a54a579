/** Tokens by role: what the operator of a task holds at an authority, what its owner keeps, and what a device shows of a token. */
import { enrolmentHashes, newEnrolmentTokens } from '@basa/client/operator';
import { signingDevice } from '@basa/conformance/signing-device.ts';
import { defineModel, dense, flatten, initialParameters, type Samples } from '@basa/learning';
import { toHex } from '@basa/masking';
import { AUTHORITY_PATH } from '@basa/protocol/http';
import { nodeSuite } from '@basa/runtime/node';
import type { AuthorityParty } from '@basa/testkit/world/authority-party.ts';
import { OPERATOR_TOKEN } from '@basa/testkit/world/operator.ts';
import { deviceStore, THREE_OF_FOUR, World, type WorldOptions } from '@basa/testkit/world/world.ts';
import { Fleet } from './fleet.ts';
import { picturesFor, SAME_PICTURE } from './pictures.ts';
import { cosine, type Play, type Reading, type ReadingAttack } from './reading.ts';

const OWNER_TOKEN = 'owner-of-an-authority';
const hashOf = (token: string): string => toHex(nodeSuite.sha256(Buffer.from(token)));

/** Authorities as the guide sets them up: the operator of the task has a token for tasks, and nothing else. */
const BY_THE_BOOK: NonNullable<WorldOptions['authority']> = {
  operators: [
    { tokenHash: hashOf(OPERATOR_TOKEN), roles: ['tasks'] },
    { tokenHash: hashOf(OWNER_TOKEN), roles: ['enrol', 'revoke', 'admin'] },
  ],
};

/** Lets devices in by their keys. False if the authority refuses. */
async function allow(world: World, keys: readonly Uint8Array[], by: 'owner' | 'operator'): Promise<boolean> {
  const token = by === 'owner' ? OWNER_TOKEN : OPERATOR_TOKEN;
  const body = { deviceKeys: keys.map(toHex) };
  const asked = world.authorities.map((party) =>
    ask(world, party, 'PUT', AUTHORITY_PATH.allowList(world.task), token, body),
  );
  return (await Promise.all(asked)).every(({ ok }) => ok);
}

/** Each owner registers the hash of a token for its own key. */
async function register(world: World, token: string): Promise<void> {
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

const SYBILS = 9;
const EACH = 20;

/** Sybils by the book: the operator of the task has what the guide gives it, and lets nine devices of its own in beside a victim. */
async function sybils({ level, seed }: Play): Promise<Reading> {
  const { shares } = await picturesFor(1, EACH, seed);
  const [share] = shares as readonly [Samples];
  const model = defineModel('digits', { height: 28, width: 28, channels: 1 }, [flatten, dense(10)]);
  const initial = initialParameters(model, seed);
  return Fleet.run(
    async (fleet) => {
      const { world } = fleet;
      const bufferSize = 1 + SYBILS;
      const task = { level, model, initial, bufferSize, examples: EACH, learningRate: 0.1, clip: 1 };
      const { trainer } = await fleet.create(task);
      const stores = Array.from({ length: bufferSize }, () => deviceStore());
      const [own, ...theirs] = stores.map(({ signer }) => signer.publicKey) as [Uint8Array, ...Uint8Array[]];
      await allow(world, [own], 'owner');
      if (!(await allow(world, theirs, 'operator'))) return { read: 0, of: 1 };
      const devices = await fleet.devicesOf(stores);
      for (const [n, device] of devices.entries()) {
        if (n === 0) await fleet.give(device, share);
        else await fleet.giveZeros(device);
      }
      const request = { start: initial, samples: share, batchSize: EACH, learningRate: 0.1, seed: 1 };
      return { read: cosine(await fleet.sum(), trainer.train(request).delta) >= SAME_PICTURE ? 1 : 0, of: 1 };
    },
    { authority: BY_THE_BOOK },
  );
}

export const SYBILS_READ: ReadingAttack = {
  id: 'sybils',
  attack: 'the operator of the task lets nine devices of its own in beside a victim, which give zeros',
  counts: 'the update of the victim (cosine of at least 0.95)',
  sizes: 'K = 10',
  mayRead: ['none'],
  without: {
    rule: 'the token for tasks, which the operator has, may do everything',
    edits: [
      {
        file: 'service/src/http/operators.ts',
        find: 'if (roles.some((role) => wanted.includes(role))) return;',
        replace: "if (roles.some((role) => role === 'tasks' || wanted.includes(role))) return;",
      },
    ],
  },
  play: sybils,
};

/**
 * A stolen token: one of four authorities colludes. It sees with what a device enrols, holds the device up, and enrols a device of its own
 * with it at the others.
 */
async function theft({ isSmall }: Play): Promise<Reading> {
  const tokens = newEnrolmentTokens(isSmall ? 2 : 24);
  const world = await World.open({ shape: THREE_OF_FOUR, authority: BY_THE_BOOK });
  try {
    const [colluder, ...others] = world.authorities as [AuthorityParty, ...AuthorityParty[]];
    let read = 0;
    for (const token of tokens) {
      await register(world, token);
      const proof = await proofSeen(world, colluder, token);
      const device = signingDevice();
      let letIn = 1; // the colluder's own word
      for (const party of others) if (await isLetIn(world, party, device, proof)) letIn++;
      if (letIn >= world.policy.threshold) read++;
    }
    return { read, of: tokens.length };
  } finally {
    await world.close();
  }
}

/** What a device shows the colluder, while nothing of it reaches the others. */
async function proofSeen(world: World, colluder: AuthorityParty, token: string): Promise<string> {
  let seen = '';
  world.wire.faults.push(({ host, path, body }) => {
    if (!path.endsWith('/enrolments')) return undefined;
    if (host === colluder.host) ({ proof: seen } = JSON.parse(Buffer.from(body ?? []).toString()) as { proof: string });
    return 'lost';
  });
  const victim = world.device({ store: deviceStore(), isAllowed: false, token });
  await victim.then((client) => client.close()).catch(() => undefined);
  world.wire.faults.pop();
  if (seen === '') throw new Error('no authority saw a proof');
  return seen;
}

async function isLetIn(
  world: World,
  { url, publicKey: audience }: AuthorityParty,
  device: ReturnType<typeof signingDevice>,
  proof: string,
): Promise<boolean> {
  const target = AUTHORITY_PATH.enrolments(world.task);
  const body = JSON.stringify({ proof });
  const signed = device.headers({ audience, method: 'POST', target, body, at: world.now });
  const headers = { ...signed, 'content-type': 'application/json' };
  return (await world.wire.fetch(new URL(target, url), { method: 'POST', headers, body })).ok;
}

export const THEFT: ReadingAttack = {
  id: 'theft',
  attack: 'one of four authorities enrols a device of its own with what it saw of a token',
  counts: 'tokens with which a device of the colluder has a certificate of three authorities',
  sizes: '24 tokens',
  mayRead: ['none'],
  without: {
    rule: 'what a device shows of its token is the same for each authority',
    edits: [
      {
        file: 'protocol/src/wire/devices.ts',
        find: 'info: authorityKey,',
        replace: 'info: new Uint8Array(authorityKey.length),',
      },
    ],
  },
  play: theft,
};
