/** The secrets of epochs in the memory of a node: it has those of the database and no others, and hands out copies only. */
import { toHex } from '@basa/masking';
import { type Epoch, epochSecretOf, type LiveEpoch, type Sealing, type TaskId } from '@basa/protocol';
import { withKem } from '@basa/runtime/kem';
import { nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { expect, it } from 'vitest';
import { ShotSecrets, shotSecretName } from '../../src/keys/shot-secrets.ts';
import type { AuthorityTables, StoredShotSecret } from '../../src/store/tables.ts';
import type { Vault } from '../../src/store/vault.ts';

const suite = withKem(nodeSuite);
const task = new Uint8Array(32).fill(1) as TaskId;

function scene() {
  let stored: StoredShotSecret[] = [];
  let reads = 0;
  const tables = {
    addShotSecret: async (one: StoredShotSecret) => void stored.push(one),
    shotSecrets: async () => {
      reads++;
      return stored;
    },
    destroyShotSecret: async ({ publicKey }: StoredShotSecret) => {
      stored = stored.filter((one) => toHex(one.publicKey) !== toHex(publicKey));
    },
  } as unknown as AuthorityTables;
  const made: Uint8Array[] = [];
  const copies = new Map<string, Uint8Array>();
  const opened: string[] = [];
  const vault = {
    seal: (name: string, secret: Uint8Array) => {
      copies.set(name, secret.slice());
      return new Uint8Array(1);
    },
    open: (name: string) => {
      opened.push(name);
      return copies.get(name)?.slice();
    },
  } as unknown as Vault;
  const randomBytes = (length: number): Uint8Array => {
    const bytes = nodeRandomBytes(length);
    made.push(bytes);
    return bytes;
  };
  const secrets = new ShotSecrets({ vault, randomBytes });
  const make = async (sealing: Sealing = 'x25519'): Promise<Epoch> => {
    const epoch = (await secrets.make(tables, task, sealing)) as Epoch;
    secrets.expectChange();
    return epoch;
  };
  return { secrets, tables, copies, opened, made, make, reads: () => reads };
}

const live = (epochs: readonly Epoch[]) => epochs.map((epoch) => ({ epoch }) as LiveEpoch);

it.each(['x25519', 'x25519+mlkem768'] as const)(
  'are made, stored sealed, and open what is sealed to them (%s)',
  async (sealing) => {
    const { secrets, tables, copies, made, make } = scene();
    const epoch = await make(sealing);
    expect(made[0]?.every((byte) => byte === 0)).toBe(true); // only the sealed copy is left
    expect(secrets.openingOf(epoch)).toBeUndefined();
    await secrets.follow(tables);
    const secret = copies.get(shotSecretName({ task, publicKey: epoch.key })) as Uint8Array;
    expect(secrets.copyOf(epoch.key)).toEqual(secret);
    const { agreement, decapsulation } = epochSecretOf(suite, sealing, secret);
    for (const _ of [1, 2]) {
      const opening = secrets.openingOf(epoch);
      expect(opening).toEqual({ agreement, decapsulation });
      opening?.agreement.fill(0); // the caller overwrites its copy
      opening?.decapsulation?.fill(0);
      secrets.copyOf(epoch.key)?.fill(0);
    }
    expect(secrets.copyOf(epoch.key)).toEqual(secret);
  },
);

it('are read again only after a change', async () => {
  const { secrets, tables, make, reads } = scene();
  await secrets.follow(tables);
  await secrets.follow(tables);
  expect(reads()).toBe(1);
  const epoch = await make();
  await secrets.follow(tables);
  expect([reads(), secrets.hasAll(live([epoch]))]).toEqual([2, true]);
});

it('of epochs that have ended are destroyed in the database and then in memory', async () => {
  const { secrets, tables, make, reads } = scene();
  const [old, current] = [await make('x25519+mlkem768'), await make()];
  await secrets.follow(tables);
  for (const epoch of [old, current]) secrets.openingOf(epoch);
  expect(await secrets.destroyAllBut(tables, live([old, current]))).toBe(0);
  const before = reads();
  await secrets.follow(tables);
  expect(reads()).toBe(before); // nothing has changed
  expect(await secrets.destroyAllBut(tables, live([current]))).toBe(1);
  expect(secrets.hasAll(live([old]))).toBe(true);
  await secrets.follow(tables);
  expect([secrets.hasAll(live([old])), secrets.hasAll(live([current])), secrets.hasAll(live([current, old]))]).toEqual([
    false,
    true,
    false,
  ]);
  expect(secrets.copyOf(old.key)).toBeUndefined();
  secrets.wipe();
  expect(secrets.hasAll(live([current]))).toBe(false);
});

it('that do not open, or open to the secret of another key, are missing', async () => {
  const { secrets, tables, copies, make } = scene();
  const [damaged, swapped] = [await make(), await make()];
  copies.delete(shotSecretName({ task, publicKey: damaged.key }));
  copies.set(shotSecretName({ task, publicKey: swapped.key }), new Uint8Array(32).fill(7));
  await secrets.follow(tables);
  expect([damaged, swapped].map(({ key }) => secrets.copyOf(key))).toEqual([undefined, undefined]);
});

it('that are known are not unlocked again', async () => {
  const { secrets, tables, opened, make } = scene();
  const epoch = await make();
  for (const _ of [1, 2]) {
    await secrets.follow(tables);
    secrets.expectChange();
  }
  expect([opened.length, secrets.hasAll(live([epoch]))]).toEqual([1, true]);
});
