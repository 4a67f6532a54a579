/** The adversaries of the attacks on the paper's protocol, in the one-shot mode: three devices in a batch, one of which may collude. */
import { ring } from '@basa/masking';
import type { Ctx } from '@basa/protocol';
import { epochKeysOf } from '@basa/protocol/internal/one-shot/epochs.ts';
import { oneShotOf } from '@basa/protocol/internal/wire/one-shot-policy.ts';
import { withKem } from '@basa/runtime/kem';
import { nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import type { AttackResult } from '@basa/simulator/attacks';
import type { Adversary, Colluder } from './adversary.ts';
import { playRule } from './rules/rule.ts';
import { withEpochs } from './shown-models.ts';

type Play = (adversary: Adversary) => Promise<unknown>;

/** Holds one update of up to 2^10 - 1 in either direction, but not three. */
const TOO_SMALL = ring(11);
const LEVEL = 1024;

const PLAYS: Readonly<Record<string, Play>> = {
  async A1(adversary) {
    const [u0, u1, u2] = (await adversary.honestUploads(3)) as [Ctx, Ctx, Ctx];
    const [eve] = (await adversary.colluders(1)) as [Colluder];
    await adversary.close([u0, u1, eve.name]);
    await adversary.close([u0, u1, u2]);
  },

  async A2(adversary) {
    const honest = await adversary.honestUploads(3);
    const eve = await adversary.twoUploads();
    for (const name of honest) await adversary.close([name, ...eve]);
    await adversary.close(honest);
  },

  async B1(adversary) {
    const [u0, u1, ub] = (await adversary.honestUploads(3)) as [Ctx, Ctx, Ctx];
    await adversary.close([u0, u1, ub]);
    const [ua] = (await adversary.honestUploads(1)) as [Ctx];
    await adversary.close([u0, u1, ua]);
  },

  async B2(adversary) {
    const [u0, u1, ua] = (await adversary.honestUploads(3)) as [Ctx, Ctx, Ctx];
    const [ub] = (await adversary.colluders(1)) as [Colluder];
    const { sealed } = adversary.ownParts(adversary.upload(ua).header);
    for (const party of adversary.honest)
      await adversary.inspect(party, [ua], { sealed: adversary.instead(ua, sealed) });
    await adversary.close([u0, u1, ub.name]);
    await adversary.close([ua, u1, ub.name]);
  },

  async C1(adversary) {
    const others = await adversary.honestUploads(2);
    const device = await adversary.device();
    const first = (await adversary.give(device, { crashes: true })) as Ctx;
    await device.restart();
    await adversary.give(device);
    const second = await adversary.give(device);
    await adversary.close([...others, first]);
    if (second !== undefined && second !== first) await adversary.close([...others, second]);
  },

  async D1(adversary) {
    await adversary.honestUploads(1);
    const keys = epochKeysOf(withKem(nodeSuite), oneShotOf(adversary.policy).sealing, nodeRandomBytes(32));
    const { serverSigner } = adversary.world;
    adversary.shown = withEpochs(
      adversary.kept.at(-1) as Uint8Array,
      () => keys,
      () => serverSigner,
    );
    if ((await adversary.give(await adversary.device())) !== undefined)
      adversary.trace.broken.add('a device seals its seeds to a key of the server');
    adversary.shown = undefined;
    await adversary.close(await adversary.honestUploads(3));
  },

  async D2(adversary) {
    const [u0, u2] = (await adversary.honestUploads(2)) as [Ctx, Ctx];
    const [u1] = (await adversary.colluders(1)) as [Colluder];
    const names = [u0, u1.name, u2];
    for (const party of adversary.honest) await adversary.vote(party, names);
    for (const party of adversary.honest) await adversary.release(party, names, { withheld: u0 });
    await adversary.close(names);
  },

  async E1(adversary) {
    const first = await adversary.honestUploads(2);
    const [eve] = (await adversary.colluders(1)) as [Colluder];
    await adversary.close([...first, eve.name]);
    const [u0, u1, u2] = (await adversary.honestUploads(3)) as [Ctx, Ctx, Ctx];
    await adversary.close([u0, u1, eve.name]);
    await adversary.close([u0, u1, u2]);
  },

  async G1(adversary) {
    const behind = await adversary.honestUploads(2);
    await adversary.makeVersion();
    const names = await adversary.honestUploads(3);
    await adversary.close([...behind, ...names.slice(0)]);
    await adversary.close(names);
  },

  async H1(adversary) {
    const policy = { ...adversary.policy, modulus: TOO_SMALL, level: LEVEL };
    for (const { url } of adversary.honest)
      if (await adversary.world.isServed(url, policy))
        adversary.trace.broken.add('an authority takes part in a task whose sums overflow');
    adversary.trace.refused('authority', 'policy-invalid');
    await adversary.close(await adversary.honestUploads(3));
  },

  async I1(adversary) {
    const devices = [await adversary.device(), await adversary.device(), await adversary.device()];
    const names: Ctx[] = [];
    for (const device of devices) names.push((await adversary.give(device)) as Ctx);
    await adversary.close(names);
    const [eve] = (await adversary.colluders(1)) as [Colluder];
    for (const device of devices.slice(0, 2)) {
      await device.restart();
      const again = await adversary.give(device);
      if (again !== undefined) await adversary.close([again, eve.name]);
    }
  },
};

export async function playOnOneShot(id: string): Promise<AttackResult> {
  const play = PLAYS[id];
  if (play === undefined) throw new Error(`no attack ${id} on one-shot mode`);
  const { leaked, broken, refusals, sumsFound } = await playRule({ world: { policy: { minimum: 3 } }, play });
  return { findings: [...leaked, ...broken], refusals, hasSum: sumsFound > 0 };
}
