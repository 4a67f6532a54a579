/** Tasks and the model log are the authority's word: one policy, one model a version. */
import { ascii } from '@basa/masking';
import {
  bufferRequestCodec,
  DEFAULT_TRAINING,
  decodePolicy,
  encodePolicy,
  type ModelAppend,
  modelAppendCodec,
  type TaskPolicy,
  taskIdOf,
} from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { type Federation, granted, reasonOf } from '@basa/simulator';
import { atClose, closed } from '@basa/testkit/core/at-close.ts';
import { nodeFederation } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';

describe('the model log', () => {
  function appended(
    world: Federation,
    body: Omit<ModelAppend, 'signature' | 'task' | 'closed'>,
    signer = world.server.ports.signer,
  ) {
    const whole = { ...body, task: world.task, closed: [] };
    return world.authority.appendModel(
      modelAppendCodec.encode({ ...whole, signature: signer.sign(modelAppendCodec.statement(whole)) }),
    );
  }

  it('takes one hash for the next version only, from a closed and unused buffer, signed by the server [R14] [R15] [R16] [R17]', () => {
    const { world, ctx, request } = atClose();
    const modelHash = new Uint8Array(32).fill(1);
    const next = { version: 1, modelHash, sums: [ctx], spoilt: [] };
    expect(reasonOf(appended(world, next))).toBe('buffer-not-closed');
    granted(closed(world, request));
    expect(reasonOf(appended(world, { ...next, version: 2 }))).toBe('wrong-version');
    expect(reasonOf(appended(world, { ...next, sums: [new Uint8Array(32) as never] }))).toBe('buffer-unknown');
    expect(reasonOf(appended(world, next, world.signer()))).toBe('server-unknown');
    const entry = granted(appended(world, next));
    expect(appended(world, next)).toEqual(entry);
    expect(reasonOf(appended(world, { ...next, modelHash: new Uint8Array(32) }))).toBe('other-model');
    expect(reasonOf(appended(world, { ...next, version: 2 }))).toBe('buffer-used');
    const first = {
      version: 0,
      modelHash: world.server.ports.suite.sha256(Uint8Array.of(0)),
      sums: [],
      spoilt: [],
    };
    expect(appended(world, first)).toMatchObject({ version: 0 });
    expect(reasonOf(appended(world, { ...first, sums: [ctx] }))).toBe('other-model');
  });
});

describe('a task', () => {
  it('whose sums could wrap is refused with a sentence that names the change to make', () => {
    expect(() => nodeFederation({ bufferSize: 4000, modulus: { kind: 'ring', bits: 12 } })).toThrow();
    const world = nodeFederation({ bufferSize: 4 });
    const step = world.authority.core.createTask({ ...world.policy, level: 2 ** 31, clip: 100 });
    expect(step.answer).toMatchObject({ reason: 'policy-invalid', detail: expect.stringContaining('could wrap') });
  });

  it.each<Partial<TaskPolicy>>([
    { blockFloor: 2.8 },
    { training: { ...DEFAULT_TRAINING, learningRate: 0.2 } },
    { training: { ...DEFAULT_TRAINING, epochs: 2 } },
    { training: { ...DEFAULT_TRAINING, batchSize: 11 } },
    { training: { ...DEFAULT_TRAINING, loss: 'own' } },
  ])('with %o is another task, and reads as it was written', (change) => {
    const { policy } = nodeFederation({ bufferSize: 4 });
    const changed = { ...policy, ...change };
    expect(decodePolicy(encodePolicy(changed))).toEqual(changed);
    expect(taskIdOf(nodeSuite, changed)).not.toEqual(taskIdOf(nodeSuite, policy));
  });

  it("starts its log from no buffer: version 0 cannot use up another task's sum", () => {
    const { world, ctx, request } = atClose();
    granted(closed(world, request));
    const policy = { ...world.policy, name: ascii('other') };
    const { task } = granted(world.authority.persist(world.authority.core.createTask(policy)));
    const body = { task, version: 0, modelHash: new Uint8Array(32), sums: [ctx], spoilt: [], closed: [] };
    const { signer } = world.server.ports;
    const append = { ...body, signature: signer.sign(modelAppendCodec.statement(body)) };
    expect(reasonOf(world.authority.appendModel(modelAppendCodec.encode(append)))).toBe('buffer-unknown');
  });

  it('gives the same buffer for the same nonce, and no buffer to a stranger', () => {
    const world = nodeFederation({ bufferSize: 4 });
    const body = {
      task: world.task,
      nonce: new Uint8Array(16),
      model: world.server.entry(),
      newest: world.server.entry(),
      plan: [],
    };
    const fresh = () => ({ offer: world.randomBytes(16), sealingKey: new Uint8Array() });
    const { signer } = world.server.ports;
    const draw = (by = signer) => {
      const request = { ...body, signature: by.sign(bufferRequestCodec.statement(body)) };
      return world.authority.persist(world.authority.core.drawBuffer(request, fresh(), world.now));
    };
    expect(draw()).toEqual(draw());
    expect(reasonOf(draw(world.signer()))).toBe('server-unknown');
  });
});
