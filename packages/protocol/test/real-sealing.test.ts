/** `sealed` mode with real cryptography: the sum comes out, and nothing else does. */

import { applyMasksInPlace, RING_32, Secret, subtractInPlace, toHex } from '@basa/masking';
import {
  closeRequestOf,
  millis,
  type ReleasedKey,
  readSealedParts,
  registrationOf,
  type Slot,
  type UserRecord,
  uploadLayout,
} from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { type Federation, type FederationDevice, granted, LEASE_MS, type Sealings } from '@basa/simulator';
import { keysFor } from '@basa/testkit/core/endorsed.ts';
import { nodeFederation } from '@basa/testkit/core/tools.ts';
import { abeSealings, slotKeySealings } from '@basa/virtual-time/real-sealings';
import { describe, expect, it } from 'vitest';

describe.each([
  ['CP-ABE', abeSealings],
  ['slot keys', slotKeySealings],
])('with %s', (_, sealings: () => Sealings) => {
  it('a full buffer of ten opens to the exact sum', () => {
    const world = nodeFederation({ bufferSize: 10, dimension: 12, sealings: sealings() });
    const devices = Array.from({ length: 10 }, () => world.device());
    const ctx = world.fill(devices);
    expect(world.server.finish(ctx)).toMatchObject({
      kind: 'good',
      sum: Uint32Array.from([...Array(10).fill(1), 0, 0]),
    });
  });

  it('the masks of drop-outs at every step are removed', () => {
    const world = nodeFederation({ bufferSize: 5, dimension: 6, sealings: sealings() });
    const steps = ['upload', 'deposit', 'upload', 'key', 'upload'] as const;
    const devices = steps.map((step) => {
      const device = world.device();
      granted(device.contribute(step));
      return device;
    });
    world.now = millis(world.now + LEASE_MS + 1);
    world.server.tick();
    expect(world.server.finish((devices[0] as FederationDevice).ctx)).toMatchObject({
      sum: Uint32Array.of(1, 0, 1, 0, 1, 0),
    });
  });

  it('a crash of every party in the middle changes nothing', () => {
    const world = nodeFederation({ bufferSize: 3, dimension: 4, sealings: sealings() });
    const devices = Array.from({ length: 3 }, () => world.device());
    for (const device of devices) device.contribute('key');
    world.server.restart();
    world.authority.restart();
    for (const device of devices) {
      device.restart();
      granted(device.contribute());
    }
    expect(world.server.finish((devices[0] as FederationDevice).ctx)).toMatchObject({
      sum: Uint32Array.of(1, 1, 1, 0),
    });
  });
});

describe.each([
  ['CP-ABE', abeSealings],
  ['slot keys', slotKeySealings],
])("the paper's theorem with %s", (_, sealings: () => Sealings) => {
  const K = 4;
  const honestPairs = Array.from({ length: K }, (_, a) =>
    Array.from({ length: K - a - 1 }, (__, n) => [a, a + 1 + n] as const),
  ).flat();

  it.each(honestPairs)(
    'K-2 colluders and the server pool all they have, and learn only the sum of users %d and %d',
    (a, b) => {
      const world = nodeFederation({ bufferSize: K, dimension: 64, sealings: sealings() });
      const devices = Array.from({ length: K }, () => world.device());
      const inputs = devices.map((device) => {
        granted(
          device.contribute(
            'upload',
            new Float32Array(64).map((__, k) => ((k * 7 + device.number) % 3) - 1),
          ),
        );
        return device.input as Uint32Array;
      });
      const { ctx } = devices[0] as FederationDevice;
      granted(world.server.freeze(ctx));
      const request = granted(closeRequestOf(world.server.ports, world.server.buffer(ctx)));
      const { keys } = granted(world.authority.close(world.authority.messages.closeRequest.encode(request)));

      const colluders = devices.filter((_, l) => l !== a && l !== b);
      const pool = poolOfSeeds(world, colluders, keys);
      const [cleanA, cleanB] = [a, b].map((slot) => cleaned(world, slot as Slot, pool)) as [Uint32Array, Uint32Array];
      const sum = cleanA.map((value, k) => value + (cleanB[k] as number));
      expect(sum).toEqual(
        (inputs[a] as Uint32Array).map((value, k) => value + ((inputs[b] as Uint32Array)[k] as number)),
      );

      // Each by itself is still under exactly the one mask that nobody could open.
      const secret = recordOf(devices[a] as FederationDevice, 'prepared').edges[b - 1] as Uint8Array;
      const mask = new Uint32Array(69);
      applyMasksInPlace(
        mask,
        { modulus: RING_32, salt: ctx, terms: [{ seed: new Secret(secret.slice()), sign: 1 }] },
        world.environment.tools,
      );
      const rest = cleanA.slice();
      subtractInPlace(rest, inputs[a] as Uint32Array, RING_32, world.environment.tools.kernel);
      expect(rest).toEqual(mask);
      expect(cleanA.filter((value, k) => value === (inputs[a] as Uint32Array)[k]).length).toBeLessThan(3);
    },
  );

  /** Removes from y every mask whose seed the pool holds or can open with any key it holds. */
  function cleaned(world: Federation, slot: Slot, known: readonly PooledSeed[]): Uint32Array {
    const { ctx } = world.devices[0] as FederationDevice;
    const y = world.server.vector(ctx, slot).slice();
    const terms = [
      ...known
        .filter(({ owner, role }) => owner === slot && role === 'self')
        .map(({ seed }) => ({ seed, sign: -1 as const })),
      ...known
        .filter(({ owner, role, to }) => owner === slot && role === 'edge' && to > slot)
        .map(({ seed }) => ({ seed, sign: -1 as const })),
      ...known
        .filter(({ role, to, owner }) => role === 'edge' && to === slot && owner < slot)
        .map(({ seed }) => ({ seed, sign: 1 as const })),
    ];
    applyMasksInPlace(
      y,
      { modulus: RING_32, salt: ctx, terms: terms.map(({ seed, sign }) => ({ seed: new Secret(seed.slice()), sign })) },
      world.environment.tools,
    );
    return y;
  }

  interface PooledSeed {
    readonly owner: number;
    readonly role: 'self' | 'edge';
    readonly to: number;
    readonly seed: Uint8Array;
  }

  /** Every sealed seed of every deposit and upload tried with every key: of the colluders' slots, and of the close. */
  function poolOfSeeds(
    world: Federation,
    colluders: readonly FederationDevice[],
    keys: readonly ReleasedKey[],
  ): PooledSeed[] {
    const { ctx } = world.devices[0] as FederationDevice;
    const { sealing, issuer } = world.sealings;
    const buffer = world.server.buffer(ctx);
    const colluding = colluders.map((device) => device.number);
    const held = [
      ...keys.map(({ key }) => key),
      ...colluding.map((slot) => issuer.keysOf(keysFor(buffer)).edge(slot as Slot)),
    ];
    const own = colluders.flatMap((device) => {
      const owner = device.number;
      return [
        { owner, role: 'self' as const, to: 0, seed: recordOf(device, 'frozen').self },
        ...recordOf(device, 'prepared').edges.map((seed, n) => ({ owner, role: 'edge' as const, to: n + 1, seed })),
      ];
    });
    const honest = world.devices.map(({ number }) => number).filter((number) => !colluding.includes(number));
    // Key by key: a sealing keeps the last key decoded.
    const opened = held.flatMap((key) =>
      honest.flatMap((owner): PooledSeed[] => {
        const { ticket, header } = buffer.slots[owner] as (typeof buffer.slots)[number];
        const layout = uploadLayout(buffer.descriptor, header as NonNullable<typeof header>, sealing);
        const body = world.server.bodies.get(`${toHex(ctx)}:${owner}`) as Uint8Array;
        const self = sealing.openSelf(buffer, registrationOf(nodeSuite, ticket), readSealedParts(body, layout).self, [
          { authority: 0, key },
        ]);
        const use = { role: 'edge', joinTag: ticket.joinTag } as const;
        const edges = world.server.deposits(ctx)[owner]?.entries.map(({ sealed }, n) => ({
          to: n + 1,
          seed: sealing.edgeOpener(buffer, (n + 1) as Slot, [{ authority: 0, key }])?.(sealed, use),
        }));
        return [
          ...(self === undefined ? [] : [{ owner, role: 'self' as const, to: 0, seed: self.seed }]),
          ...(edges ?? []).flatMap(({ to, seed }) =>
            seed === undefined ? [] : [{ owner, role: 'edge' as const, to, seed }],
          ),
        ];
      }),
    );
    return [...own, ...opened];
  }
});

function recordOf<Kind extends UserRecord['kind']>(
  { records }: FederationDevice,
  kind: Kind,
): Extract<UserRecord, { kind: Kind }> {
  const found = records.find((record) => record.kind === kind);
  if (found === undefined) throw new Error(`no record of kind ${kind}`);
  return found as Extract<UserRecord, { kind: Kind }>;
}
