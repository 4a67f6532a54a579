/** The newest version after a succession: it is signed again and repeated once, also if the server fails anywhere between. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Signer } from '@basa/masking';
import {
  AttributeAuthority,
  inTerm,
  isEndorsed,
  isRefused,
  type ModelAppend,
  type ModelEntry,
  modelAppendCodec,
  modelEntryCodec,
  type Refused,
  type TaskPolicy,
  taskIdOf,
} from '@basa/protocol';
import { createNodeSigner, nodeSuite as suite } from '@basa/runtime/node';
import { signedTerm } from '@basa/testkit/core/signed-terms.ts';
import { GOOD_POLICY } from '@basa/testkit/vectors/policies.ts';
import { expect, it } from 'vitest';
import type { TaskAuthorities } from '../../src/authority/task-authorities.ts';
import { openFileBlobs } from '../../src/blobs/files.ts';
import { ModelKeeper } from '../../src/closing/model-keeper.ts';
import type { ReadTask } from '../../src/specification/task-specification.ts';
import { volatileTickets } from '../support/volatile-tickets.ts';

const signerOf = (n: number): Signer => createNodeSigner(new Uint8Array(32).fill(n));
const [server, first, successor, recovery] = [signerOf(1), signerOf(2), signerOf(3), signerOf(4)];
const policy: TaskPolicy = {
  ...GOOD_POLICY,
  authorities: [first.publicKey],
  threshold: 1,
  serverKey: server.publicKey,
  succession: { waitMs: 1000, recoveryHash: suite.sha256(recovery.publicKey) },
};
const task = taskIdOf(suite, policy);
const term = signedTerm(policy, { isLost: true, key: successor, signers: [], recovery });
const policyNow = inTerm(suite, policy, term);

interface Step {
  readonly answer: ModelEntry | Refused;
  readonly records: Parameters<AttributeAuthority['apply']>[0];
}

/** A task with one authority, whose calls fail when `mayCall` says so, before or after they took effect. */
async function scene() {
  const { store } = await volatileTickets(task, () => 0, policy);
  const blobs = await openFileBlobs(mkdtempSync(join(tmpdir(), 'basa-renewal-')));
  const cores = [first, successor].map(
    (signer) => new AttributeAuthority({ suite, signer, issuerFor: () => undefined }),
  );
  const [old, current] = cores as [AttributeAuthority, AttributeAuthority];
  old.apply(old.createTask(policy).records);
  current.apply(current.followLine({ policy, terms: [term] }, term.effective).records);
  let failsAt = Number.POSITIVE_INFINITY;
  let calls = 0;
  const asked = (core: AttributeAuthority, step: () => Step): ModelEntry => {
    if (calls++ === failsAt) throw new Error('lost before it');
    const { answer, records } = step();
    core.apply(records);
    if (calls++ === failsAt) throw new Error('lost after it');
    if (isRefused(answer)) throw new Error(answer.reason);
    return answer;
  };
  const keeperOf = (core: AttributeAuthority, ofTerm: TaskPolicy): ModelKeeper => {
    const authorities = {
      renewModel: async (entry: ModelEntry) => asked(core, () => core.renewModel(entry)),
      appendModel: async (words: Omit<ModelAppend, 'task' | 'signature'>) => {
        const body = { task, ...words };
        const signature = server.sign(modelAppendCodec.statement(body));
        return asked(core, () => core.appendModel({ ...body, signature }));
      },
    };
    return new ModelKeeper({
      task,
      read: { policy: ofTerm, mode: 'sealed', specification: {}, model: undefined } as unknown as ReadTask,
      store,
      blobs,
      authorities: authorities as unknown as TaskAuthorities,
      ports: { suite },
      nodes: { upToDate: (_, again) => again() },
    });
  };
  const opened = keeperOf(old, policy);
  await opened.open();
  const failAt = (call: number): void => {
    [failsAt, calls] = [call, 0];
  };
  return { store, failAt, keeper: () => keeperOf(current, policyNow) };
}

it.each([0, 1, 2, 3, Number.POSITIVE_INFINITY])('a failure at moment %d changes nothing in the end', async (moment) => {
  const { store, failAt, keeper } = await scene();
  failAt(moment);
  const failed = await keeper()
    .renew()
    .then(() => undefined, String);
  expect(failed?.includes('lost')).toBe(moment > 3 ? undefined : true);
  failAt(Number.POSITIVE_INFINITY);
  const again = keeper();
  await again.renew();
  expect(again.newest?.version).toBe(1);
  await again.renew();
  const models = await store.models(task);
  expect(models.map(({ version, modelHash }) => [version, modelHash])).toEqual(
    [0, 1].map((version) => [version, models[0]?.modelHash]),
  );
  for (const { entry } of models)
    expect(entry !== undefined && isEndorsed(suite, modelEntryCodec, policyNow, entry)).toBe(true);
});
