/** The newest version after a succession or a rollback: it is repeated once, also if the server fails at any moment or is away for terms. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Signer } from '@basa/masking';
import {
  AttributeAuthority,
  type AuthorityRecord,
  agreedOn,
  type Ctx,
  endorse,
  inTerm,
  isEndorsed,
  isRefused,
  type ModelAppend,
  type ModelEntry,
  modelAppendCodec,
  modelEntryCodec,
  type Refused,
  SERVER_SEAT,
  type TaskPolicy,
  type Term,
  taskIdOf,
} from '@basa/protocol';
import { createNodeSigner, nodeSuite as suite } from '@basa/runtime/node';
import { signedTerm } from '@basa/testkit/core/signed-terms.ts';
import { GOOD_POLICY } from '@basa/testkit/vectors/policies.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AuthorityRefusal } from '../../src/authority/authority-http.ts';
import { TaskAuthorities } from '../../src/authority/task-authorities.ts';
import { openFileBlobs } from '../../src/blobs/files.ts';
import { ModelKeeper } from '../../src/closing/model-keeper.ts';
import { Repeats } from '../../src/closing/repeats.ts';
import type { ReadTask } from '../../src/specification/task-specification.ts';
import { volatileTickets } from '../support/volatile-tickets.ts';

const signerOf = (n: number): Signer => createNodeSigner(new Uint8Array(32).fill(n));
const recovery = signerOf(99);
const TERMS = 3;
/** The keys of each term: of one authority or of four, of which `seat` is replaced, or the server. */
const COUNCILS = [
  { what: 'one authority, and new keys of the server', count: 1, threshold: 1, seats: Array(TERMS).fill(SERVER_SEAT) },
  { what: 'one authority, replaced each time', count: 1, threshold: 1, seats: [0, 0, 0] },
  { what: 'three of four, and new keys of the server', count: 4, threshold: 3, seats: Array(TERMS).fill(SERVER_SEAT) },
  { what: 'three of four, of which one is replaced each time', count: 4, threshold: 3, seats: [0, 1, 2] },
];

type Step = { readonly answer: object | Refused; readonly records: readonly AuthorityRecord[] };

async function scene({ count, threshold, seats }: (typeof COUNCILS)[number]) {
  const signers = new Map(Array.from({ length: 20 }, (_, n) => [n + 1, signerOf(n + 1)]));
  const keyOf = (n: number): Signer => signers.get(n) as Signer;
  const root: TaskPolicy = {
    ...GOOD_POLICY,
    authorities: Array.from({ length: count }, (_, n) => keyOf(n + 1).publicKey),
    threshold,
    serverKey: keyOf(10).publicKey,
    succession: { waitMs: 1000, recoveryHash: suite.sha256(recovery.publicKey) },
  };
  const task = taskIdOf(suite, root);
  const [policies, terms]: [TaskPolicy[], Term[]] = [[root], []];
  let held = Array.from({ length: count }, (_, n) => keyOf(n + 1));
  const holders = [held];
  for (const [n, seat] of seats.entries()) {
    const last = policies.at(-1) as TaskPolicy;
    const others = held.filter((_, index) => index !== seat).slice(0, threshold);
    const key = keyOf(11 + n);
    terms.push(signedTerm(last, { seat, key, isLost: true, signers: others, ...(count === 1 && { recovery }) }));
    policies.push(inTerm(suite, last, terms.at(-1) as Term));
    if (seat !== SERVER_SEAT) held = held.map((one, index) => (index === seat ? key : one));
    holders.push(held);
  }
  const cores = new Map(
    [...signers.values()].map((signer) => [
      signer,
      new AttributeAuthority({ suite, signer, issuerFor: () => undefined }),
    ]),
  );
  for (const one of holders[0] as Signer[]) {
    const core = cores.get(one) as AttributeAuthority;
    core.apply(core.createTask(root).records);
  }
  const begin = (number: number): void => {
    const effective = terms[number - 1]?.effective ?? terms[0]?.effective;
    for (const signer of holders[number] as Signer[]) {
      const core = cores.get(signer) as AttributeAuthority;
      for (let n = 1; n <= number; n++)
        core.apply(core.followLine({ policy: root, terms: terms.slice(0, n) }, effective as never).records);
      core.apply(core.tick(effective as never).records);
    }
  };
  const { store } = await volatileTickets(task, () => 0, root);
  const folder = mkdtempSync(join(tmpdir(), 'basa-away-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const blobs = await openFileBlobs(folder);
  let left = Number.POSITIVE_INFINITY;
  let requests = 0;
  /** The server dies before or after one of its requests took effect; then nothing of it leaves any more. */
  const asked = async (core: AttributeAuthority, step: () => Step): Promise<unknown> => {
    requests++;
    if (left-- <= 0) throw new Error('the server is down');
    const { answer, records } = step();
    core.apply(records);
    if (left-- <= 0) throw new Error('the server is down');
    if (isRefused(answer)) throw new AuthorityRefusal(answer.reason, answer.reason);
    return answer;
  };
  const linkTo = (signer: Signer, server: Signer) => {
    const core = cores.get(signer) as AttributeAuthority;
    return {
      get head() {
        return core.head();
      },
      renewModel: (entry: never) => asked(core, () => core.renewModel(entry)),
      adoptModel: (entry: never) => asked(core, () => core.adoptModel(entry)),
      appendModel: (body: Omit<ModelAppend, 'signature'>) =>
        asked(core, () => core.appendModel({ ...body, signature: server.sign(modelAppendCodec.statement(body)) })),
    };
  };
  const serverIn = (number: number) => {
    const policy = policies[number] as TaskPolicy;
    const server = [...signers.values()].find(({ publicKey }) => publicKey === policy.serverKey) as Signer;
    const links = (holders[number] as Signer[]).map((one) => linkTo(one, server)) as never[];
    const ports = { suite } as never;
    const read = { policy, mode: 'sealed', specification: {}, model: undefined } as unknown as ReadTask;
    const authorities = new TaskAuthorities({
      task,
      policy,
      ports,
      terms: async () => terms,
      links,
      graceMs: 0,
      clock: () => 0,
    });
    const tools = { task, read, store, blobs, authorities };
    const models = new ModelKeeper({ ...tools, nodes: { upToDate: (_, again) => again() } });
    return { models, repeats: new Repeats({ ...tools, models, ports: { suite } }) };
  };
  await serverIn(0).models.open();
  /** Each version, its model, and whether its entry counts in this term. */
  const models = async (number: number) =>
    (await store.models(task)).map(({ version, modelHash, entry }) => ({
      version,
      modelHash,
      isOfTerm: entry !== undefined && isEndorsed(suite, modelEntryCodec, policies[number] as TaskPolicy, entry),
    }));
  /** A thief of the server's first key appends a version that has a sum and no model. */
  const steal = async (): Promise<void> => {
    const body = { task, version: 1, modelHash: new Uint8Array(32).fill(7), sums: [new Uint8Array(32).fill(8) as Ctx] };
    const before = (await store.model(task, 0))?.entry as ModelEntry;
    const words = { ...body, spoilt: [], previous: modelEntryCodec.statementHash(suite, before) };
    const parts = (holders[0] as Signer[]).map((one) => endorse(modelEntryCodec, root, one, words));
    const entry = agreedOn(modelEntryCodec, root, parts) as ModelEntry;
    for (const one of holders[0] as Signer[]) cores.get(one)?.apply([{ kind: 'model-appended', entry }]);
    const own = { task, version: 1, modelHash: new Uint8Array(32), blobKey: 'own', madeAt: 0, accepted: 3, dropped: 0 };
    await store.addModel(own, { sums: body.sums, spoilt: [] });
  };
  const dieAfter = (moments: number): void => {
    left = moments;
  };
  /** Every authority of the first term comes back without a witness of its log. */
  const rollBack = (): void => {
    for (const one of holders[0] as Signer[]) {
      const core = cores.get(one) as AttributeAuthority;
      core.apply(core.start(undefined, one.publicKey.subarray(0, 16), 0 as never).records);
    }
  };
  return { begin, serverIn, models, dieAfter, steal, rollBack, store, requests: () => requests };
}

describe.each(COUNCILS)('with $what', (council) => {
  it('a version that no term between has signed is signed again and repeated', async () => {
    const { begin, serverIn, models } = await scene(council);
    for (const number of [1, 2, 3]) begin(number);
    const server = serverIn(3);
    await server.repeats.inTerm();
    expect(server.models.newest?.version).toBe(1);
    const all = await models(3);
    expect(all.map(({ version, isOfTerm }) => [version, isOfTerm])).toEqual([
      [0, true],
      [1, true],
    ]);
    expect(all[1]?.modelHash).toEqual(all[0]?.modelHash);
  });

  const each = council.count === 1 ? 1 : 4;
  it.each([1, 2, 3])('after a failure at any moment of a repeat, the task goes on in term %d', async (back) => {
    for (let moments = 0, isDead = true; isDead; moments += each) {
      const { begin, serverIn, models, dieAfter } = await scene(council);
      begin(1);
      dieAfter(moments);
      isDead = await serverIn(1)
        .repeats.inTerm()
        .then(
          () => false,
          () => true,
        );
      dieAfter(Number.POSITIVE_INFINITY);
      for (let number = 2; number <= back; number++) begin(number);
      const server = serverIn(back);
      await server.repeats.inTerm();
      const all = await models(back);
      expect(all.at(-1)).toMatchObject({ version: server.models.newest?.version, isOfTerm: true });
      expect(all.map(({ modelHash }) => modelHash)).toEqual(all.map(() => all[0]?.modelHash));
      if (back === 1) expect(all.map(({ isOfTerm }) => isOfTerm)).toEqual([true, true]);
      await server.repeats.inTerm();
      expect(await models(back)).toEqual(all);
    }
  });
});

describe.each(COUNCILS.filter(({ seats }) => seats.includes(SERVER_SEAT)))('after a theft, with $what', (council) => {
  it.each([1, 2])(
    'the last own model follows the one of the thief, after a failure at any moment, in term %d',
    async (back) => {
      for (let moments = 0, isDone = false; !isDone; moments += council.count === 1 ? 1 : 4) {
        const { begin, serverIn, models, dieAfter, steal } = await scene(council);
        await steal();
        begin(1);
        dieAfter(moments);
        await serverIn(1)
          .repeats.inTerm()
          .catch(() => undefined);
        isDone = (await models(1)).map(({ isOfTerm }) => isOfTerm).join() === 'false,true';
        dieAfter(Number.POSITIVE_INFINITY);
        for (let number = 2; number <= back; number++) begin(number);
        const server = serverIn(back);
        await server.repeats.inTerm();
        const all = await models(back);
        expect(all.map(({ version, isOfTerm }) => [version, isOfTerm])).toEqual(
          back === 2 && isDone
            ? [
                [0, false],
                [2, true],
                [3, true],
              ]
            : [
                [0, false],
                [2, true],
              ],
        );
        expect(all.map(({ modelHash }) => modelHash)).toEqual(all.map(() => all[0]?.modelHash));
        await server.repeats.inTerm();
        expect(await models(back)).toEqual(all);
      }
    },
  );
});

describe('after a rollback', () => {
  const [alone, , several] = COUNCILS as [(typeof COUNCILS)[number], unknown, (typeof COUNCILS)[number]];
  const versionsOf = (all: readonly { readonly version: number }[]) => all.map(({ version }) => version);

  it('of the only authority the newest version is repeated once, after a failure at any moment', async () => {
    for (let moments = 0, isDead = true; isDead; moments++) {
      const { serverIn, models, dieAfter, rollBack, requests } = await scene(alone);
      expect(serverIn(0).repeats.isBranched).toBe(false);
      rollBack();
      expect(serverIn(0).repeats.isBranched).toBe(true);
      dieAfter(moments);
      isDead = await serverIn(0)
        .repeats.inBranch(undefined)
        .then(
          () => false,
          () => true,
        );
      dieAfter(Number.POSITIVE_INFINITY);
      await serverIn(0).repeats.inBranch(undefined);
      const all = await models(0);
      expect(versionsOf(all)).toEqual([0, 1]);
      expect(all[1]).toMatchObject({ modelHash: all[0]?.modelHash, isOfTerm: true });
      const before = requests();
      await serverIn(0).repeats.inBranch(undefined);
      expect(requests()).toBe(before);
    }
  });

  it('that is older than the newest version no repeat stays on its way, and it is asked for once', async () => {
    const { serverIn, models, rollBack, store, requests } = await scene(alone);
    rollBack();
    const server = serverIn(0);
    await server.models.refresh();
    const next = await server.models.repeat({ sums: [], spoilt: [] }, { accepted: 0, dropped: 0 }, undefined);
    await store.setEntry(await server.models.log(next, { sums: [], spoilt: [] }, []));
    await server.repeats.inBranch(undefined);
    expect(versionsOf(await models(0))).toEqual([0, 1]);
    const before = requests();
    await server.repeats.inBranch(undefined);
    expect(requests()).toBe(before);
  });

  it('of several authorities none is asked: some could sign the repeat while others refuse it', async () => {
    const { serverIn, models, rollBack, requests } = await scene(several);
    rollBack();
    const before = requests();
    const { repeats } = serverIn(0);
    expect(repeats.isBranched).toBe(false);
    await repeats.inBranch(undefined);
    expect(requests()).toBe(before);
    expect(versionsOf(await models(0))).toEqual([0]);
  });
});
