/**
 * A stolen token: one of four authorities colludes. It sees with what a device enrols, holds the device up, and enrols a device of its own
 * with it at the others.
 */
import { newEnrolmentTokens } from '@basa/client/operator';
import { signingDevice } from '@basa/conformance/signing-device.ts';
import { AUTHORITY_PATH } from '@basa/protocol/http';
import type { AuthorityParty } from '@basa/testkit/world/authority-party.ts';
import { deviceStore, THREE_OF_FOUR, World } from '@basa/testkit/world/world.ts';
import { BY_THE_BOOK, register } from './owners.ts';
import type { Play, Reading, ReadingAttack } from './reading.ts';

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
