/** The sums of masks of a batch: each part is taken from a holder that enough others agree with, although some are silent or lie. */
import { toHex } from '@basa/masking';
import type { BasaEvent, Ctx } from '@basa/protocol';
import { isHolder, type Part, taskParts } from '@basa/protocol/policy';
import { type MaskSum, maskSumCodec, type ReleaseRequest, signStatement, type WantedSum } from '@basa/protocol/wire';
import { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { describe, expect, it } from 'vitest';
import { AuthorityRefusal, AuthorityUnreachable } from '../../src/authority/authority-http.ts';
import { BatchLost, MaskSums, type VotedBatch } from '../../src/shots/votes.ts';
import { bytes } from '../support/store-samples.ts';

type Take = {
  answer(answer: { readonly sums: readonly MaskSum[] }): Promise<number>;
  piece(n: number, bytes: Uint8Array): Promise<void>;
};
/** `sums`: changes the signed sums. `vector`: the sum of a part, honest by default. `sent`: the bytes that are sent as that sum. */
interface Behaviour {
  readonly fails?: Error;
  vector?(part: Part): Uint8Array;
  sent?(part: Part): Uint8Array;
  sums?(sums: readonly MaskSum[]): readonly MaskSum[];
}

const honest = (part: Part): Uint8Array => bytes(part);

/** Four authorities, of which one may lie: every part has three holders, and two must agree on its sum. */
function scene(behaviours: readonly (Behaviour | undefined)[], isAddressed: readonly boolean[] = []) {
  const world = new ShotWorld();
  const { task, policy } = world;
  const { suite } = world.environment.tools;
  const ctx = bytes(9) as Ctx;
  const asked: [number, readonly WantedSum[], number][] = [];
  const blobs = new Map<string, Uint8Array>();
  const closed = { closed: 0, discarded: 0 };
  const events: BasaEvent[] = [];
  const release =
    (authority: number, behaviour: Behaviour) =>
    async ({ wanted }: Pick<ReleaseRequest, 'wanted'>, take: Take, { extraMs }: { readonly extraMs: number }) => {
      asked.push([authority, wanted, extraMs]);
      if (behaviour.fails !== undefined) throw behaviour.fails;
      const { vector = honest, sent = vector, sums = (all) => all } = behaviour;
      const { signer } = world.authority(authority).base.ports;
      const signed = wanted.map(({ part }) =>
        signStatement(maskSumCodec, signer, { task, ctx, part, hash: suite.sha256(vector(part)) }),
      );
      await take.answer({ sums: sums(signed) });
      for (const [n, { part }] of wanted.filter((one) => one.vector).entries()) {
        await take.piece(n, sent(part).subarray(0, 7));
        await take.piece(n, sent(part).subarray(7));
      }
    };
  const members = world.indices.flatMap((authority) =>
    isAddressed[authority] === false
      ? []
      : [{ authority, link: { release: release(authority, behaviours[authority] ?? {}) } }],
  );
  const stage = async (key: string) => {
    let staged = new Uint8Array();
    return {
      append: async (more: Uint8Array) => {
        staged = new Uint8Array([...staged, ...more]);
      },
      commit: async () => void blobs.set(key, staged),
      close: async () => void closed.closed++,
      discard: async () => void closed.discarded++,
    };
  };
  const epochs = world.indices.map((authority) => ({ authority, statement: bytes(1) }));
  const headers = [{ epochs }, { epochs }];
  const voted = {
    sum: { ctx: new Uint8Array(32) },
    closing: { suite, task, policy, ctx, headers },
  } as unknown as VotedBatch;
  const sums = new MaskSums(
    { blobs: { stage }, authorities: members, onEvent: (event: BasaEvent) => events.push(event) } as never,
    voted,
    {} as never,
  );
  const parts = taskParts(policy);
  const collect = () => sums.collect([]);
  /** The sums that come out, which must be the honest ones. */
  const collected = async (): Promise<readonly (string | undefined)[]> =>
    (await collect()).map((key) => (blobs.has(key) ? toHex(blobs.get(key) as Uint8Array) : undefined));
  return {
    policy,
    asked,
    blobs,
    closed,
    events,
    parts,
    collect,
    collected,
    expected: parts.map((part) => toHex(honest(part))),
  };
}

const silent = { fails: new AuthorityUnreachable('silent') };
const gone = { fails: new AuthorityRefusal('epoch-over', 'gone') };
const liar = { vector: (part: Part) => bytes(100 + part) };

describe('the sums of a batch', () => {
  it('are asked of as many holders as must agree, the vector of one of them, within a time that grows with the work', async () => {
    const { collected, expected, asked, closed, policy } = scene([]);
    expect(await collected()).toEqual(expected);
    const wanted = asked.flatMap(([, all]) => all);
    expect([wanted.length, wanted.filter(({ vector }) => vector).length]).toEqual([8, 4]);
    expect(asked.every(([authority, all]) => all.every(({ part }) => isHolder(part, authority)))).toBe(true);
    for (const [, all, extraMs] of asked)
      expect(extraMs).toBeCloseTo(2 * all.length * (1 + 4e-6 * policy.dimension), 9);
    expect(closed).toEqual({ closed: 4, discarded: 0 });
  });

  it.each([0, 1, 2, 3])(
    'are complete if authority %i is silent, has no address, or lies, and no sum is asked for twice',
    async (index) => {
      const withOne = (behaviour: Behaviour) => [0, 1, 2, 3].map((n) => (n === index ? behaviour : undefined));
      const scenes = [
        scene(withOne(silent)),
        scene(
          [],
          [0, 1, 2, 3].map((n) => n !== index),
        ),
        scene(withOne(liar)),
        scene(withOne({ sent: () => bytes(200) })),
        scene(withOne({ sent: () => new Uint8Array() })),
        scene(withOne({ sums: (all) => all.slice(1) })),
        scene(withOne({ sums: (all) => [...all].reverse() })),
        scene(withOne({ sums: (all) => all.map((sum) => ({ ...sum, signature: bytes(1, 64) })) })),
        scene(withOne({ sums: (all) => all.map((sum, n) => (n > 0 ? { ...sum, signature: bytes(1, 64) } : sum)) })),
        scene(withOne({ sums: (all) => [...all, ...all] })),
      ];
      for (const [n, { collected, expected, asked }] of scenes.entries()) {
        expect(await collected()).toEqual(expected);
        const others = asked.filter(([authority]) => authority !== index);
        const names = others.flatMap(([authority, all]) => all.map((one) => `${authority} ${one.part} ${one.vector}`));
        expect(new Set(names).size).toBe(names.length);
        // It is left out afterwards; a liar once the others agree.
        expect(asked.length - others.length).toBeLessThanOrEqual(n === 2 ? 2 : 1);
        expect(asked.every(([, all]) => all.length > 0)).toBe(true);
      }
    },
  );

  it('that differ from those of enough others are reported once, with the seat of their authority', async () => {
    for (const index of [0, 1, 2, 3]) {
      const { collect, events, parts } = scene([0, 1, 2, 3].map((n) => (n === index ? liar : undefined)));
      await collect();
      expect(events).toMatchObject([{ kind: 'authority-fault', authority: index, subject: 'mask-sum' }]);
      expect(parts.length).toBeGreaterThan(1);
    }
    for (const behaviours of [[], [silent], [{ sent: () => bytes(200) }]]) {
      const { collect, events } = scene(behaviours);
      await collect();
      expect(events).toEqual([]);
    }
  });

  it('that a liar sent with bytes that it did not sign are discarded', async () => {
    const { collect, blobs, closed, expected } = scene([{ sent: () => bytes(200) }]);
    const keys = await collect();
    expect(keys.map((key) => toHex(blobs.get(key) as Uint8Array))).toEqual(expected);
    expect(closed.discarded).toBeGreaterThan(0);
  });

  it('are lost if too few authorities have not given up, and otherwise wait for silent ones', async () => {
    await expect(scene([gone, gone]).collect()).rejects.toThrow(BatchLost);
    await expect(scene([silent, silent]).collect()).rejects.toThrow('too few authorities sum the masks of a batch');
    await expect(scene([gone, silent]).collect()).rejects.toThrow('too few authorities sum the masks of a batch');
    await expect(scene([{ fails: new AuthorityRefusal('too-few-votes', 'later') }, gone]).collect()).rejects.toThrow(
      AuthorityUnreachable,
    );
  });

  it('are never those of a single authority', async () => {
    const lies = [1, 2, 3].map((n) => ({ vector: (part: Part) => bytes(50 * n + part) }));
    await expect(scene([undefined, ...lies]).collect()).rejects.toThrow(
      'the authorities do not agree on a sum of masks',
    );
  });
});
