/** The authority refuses what it does not know, writes nothing twice, and gives up exactly what is overdue or lost. */

import { ascii, DecodeError } from '@basa/masking';
import {
  bufferRequestCodec,
  type CertificateBody,
  type Ctx,
  decodeAuthorityRecord,
  type ModelEntry,
  millis,
  modelAppendCodec,
  type TaskId,
} from '@basa/protocol';
import { CLOSE_MS, granted, OPEN_MS, reasonOf } from '@basa/simulator';
import { atClose, closed } from '@basa/testkit/core/at-close.ts';
import { nodeFederation } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';

const nobody = new Uint8Array(32).fill(9);

describe('an unknown name', () => {
  it('of a task gets no certificate, no buffer and no model', () => {
    const world = nodeFederation({ bufferSize: 2 });
    const { core } = world.authority;
    const { signer } = world.server.ports;
    const task = nobody as TaskId;
    const body: CertificateBody = { task, deviceKey: nobody, issuedAt: millis(0), notAfter: millis(10 ** 9) };
    expect(reasonOf(core.enrol(body).answer)).toBe('task-unknown');
    const draw = {
      task,
      nonce: new Uint8Array(16),
      model: world.server.entry(),
      newest: world.server.entry(),
      plan: [],
    };
    const request = { ...draw, signature: signer.sign(bufferRequestCodec.statement(draw)) };
    const fresh = { offer: new Uint8Array(16), sealingKey: world.sealings.issuer.publicKey };
    expect(reasonOf(core.drawBuffer(request, fresh, world.now).answer)).toBe('task-unknown');
    const append = { task, version: 0, modelHash: nobody, sums: [], spoilt: [], closed: [] };
    const signature = signer.sign(modelAppendCodec.statement(append));
    expect(core.appendModel({ ...append, signature }).answer).toMatchObject({ reason: 'task-unknown' });
  });

  it('of a buffer is refused for every caller', () => {
    const { world, request } = atClose();
    expect(closed(world, request, { ctx: nobody as Ctx })).toMatchObject({ reason: 'buffer-unknown' });
    expect(world.authority.outcome(nobody as Ctx).status).toBe('unknown');
  });

  it('of a device cannot be revoked', () => {
    const world = nodeFederation({ bufferSize: 2 });
    expect(reasonOf(world.authority.core.revoke(nobody as never, world.now).answer)).toBe('not-enrolled');
  });
});

describe('a repeated statement', () => {
  it('is written once: a task, a device, a revocation', () => {
    const world = nodeFederation({ bufferSize: 2 });
    const device = world.device();
    const { core } = world.authority;
    expect(core.createTask(world.policy)).toMatchObject({ records: [], answer: { task: world.task } });
    const { endorsements: _, ...body } = device.certificate;
    expect(core.enrol(body)).toMatchObject({ records: [], answer: device.certificate });
    expect(core.enrol({ ...body, notAfter: millis(body.notAfter + 1) }).records).toHaveLength(1);
    expect(world.authority.persist(core.revoke(device.user, world.now))).toEqual({ kind: 'revoked' });
    expect(core.revoke(device.user, world.now)).toMatchObject({ records: [], answer: { kind: 'revoked' } });
    expect(reasonOf(core.enrol(body).answer)).toBe('revoked');
  });
});

describe('a second task', () => {
  /** Another policy of the same server, with no model yet. */
  function withSecondTask() {
    const scene = atClose();
    const { world } = scene;
    const { core } = world.authority;
    const created = world.authority.persist(core.createTask({ ...world.policy, name: ascii('other') }));
    const { task } = granted(created);
    const { signer } = world.server.ports;
    const appended = (version: number, sums: readonly Ctx[]) => {
      const body = { task, version, modelHash: new Uint8Array(32), sums, spoilt: [], closed: [] };
      return core.appendModel({ ...body, signature: signer.sign(modelAppendCodec.statement(body)) });
    };
    return { ...scene, core, task, signer, appended };
  }

  it('draws no buffer before its first model, which names no sum', () => {
    const { world, core, task, signer, ctx, appended } = withSecondTask();
    const fresh = { offer: new Uint8Array(16), sealingKey: world.sealings.issuer.publicKey };
    const draw = (model: ModelEntry) => {
      const body = { task, nonce: new Uint8Array(16), model, newest: model, plan: [] };
      const request = { ...body, signature: signer.sign(bufferRequestCodec.statement(body)) };
      return core.drawBuffer(request, fresh, world.now);
    };
    expect(reasonOf(draw(world.server.entry()).answer)).toBe('model-not-logged');
    const almostNone = new Uint8Array(32).fill(1, 31) as Ctx;
    for (const source of [ctx, almostNone]) expect(reasonOf(appended(0, [source]).answer)).toBe('buffer-unknown');
    const first = granted(world.authority.persist(appended(0, [])));
    expect(draw(first).records).toHaveLength(1);
    expect(reasonOf(draw(world.server.entry()).answer)).toBe('model-not-logged');
  });

  it('makes no model of a buffer of the first', () => {
    const { world, ctx, request, appended } = withSecondTask();
    granted(world.authority.persist(appended(0, [])));
    granted(closed(world, request));
    expect(reasonOf(appended(1, [ctx]).answer)).toBe('buffer-unknown');
  });
});

describe('a record', () => {
  it('without a kind, or with an unknown kind, is a decode error', () => {
    expect(() => decodeAuthorityRecord(new Uint8Array(2))).toThrow(DecodeError);
    expect(() => decodeAuthorityRecord(new Uint8Array(40).fill(255))).toThrow(DecodeError);
  });
});

describe('an overdue buffer', () => {
  /** Three buffers: one closed, one overdue, one drawn later. */
  function atTick() {
    const scene = atClose();
    const { world, request } = scene;
    world.now = millis(world.now + 100);
    const overdue = world.server.drawBuffer();
    granted(closed(world, request));
    world.now = millis(world.now + 100);
    const later = world.server.drawBuffer();
    world.now = millis(world.now + 100);
    const last = world.server.drawBuffer();
    return { ...scene, overdue, later, last };
  }

  it('is aborted by a tick, which names the next time; closed buffers and buffers with time left do not change', () => {
    const { world, overdue, later } = atTick();
    const { core } = world.authority;
    const closeBy = (ctx: Ctx) => core.buffer(ctx)?.descriptor.closeBy ?? 0;
    expect(core.tick(world.now)).toMatchObject({ records: [], answer: { nextAt: closeBy(overdue) } });
    const step = core.tick(millis(closeBy(overdue)));
    expect(step.records).toEqual([{ kind: 'buffer-aborted', ctx: overdue }]);
    expect(step.events).toEqual([{ kind: 'buffer-aborted', ctx: overdue }]);
    expect(step.answer).toEqual({ nextAt: closeBy(later) });
  });

  it('is aborted once, and a closed buffer never', () => {
    const { world, ctx } = atTick();
    world.now = millis(world.now + OPEN_MS + CLOSE_MS);
    const step = world.authority.core.tick(world.now);
    expect(step).toMatchObject({ answer: { nextAt: undefined } });
    expect(step.records).toHaveLength(3);
    world.authority.persist(step);
    expect(world.authority.core.tick(world.now).records).toEqual([]);
    expect(world.authority.outcome(ctx).status).toBe('closed');
  });

  it('in a log that was rolled back is given up if it was open, and stays closed if it was closed', () => {
    const { world, ctx, overdue, later, last } = atTick();
    const { core } = world.authority;
    const step = core.start(undefined, new Uint8Array(16).fill(1), world.now);
    expect(step.records.slice(0, -1)).toEqual(
      [overdue, later, last].map((lost) => ({ kind: 'buffer-unknown', ctx: lost })),
    );
    expect(step.events).toEqual([
      ...[overdue, later, last].map((lost) => ({ kind: 'buffer-unknown', ctx: lost })),
      { kind: 'authority-rolled-back', givenUp: 3 },
    ]);
    world.authority.persist(step);
    expect(world.authority.outcome(ctx).status).toBe('closed');
    expect(world.authority.outcome(overdue).status).toBe('unknown');
  });
});

describe('an epoch whose keys are gone', () => {
  it('closes nothing and issues nothing any more', () => {
    const { world, request } = atClose();
    const device = world.device();
    device.contribute('deposit');
    Object.assign(world.authority.ports, { issuerFor: () => undefined });
    const records = world.authority.log.length;
    expect(reasonOf(closed(world, request))).toBe('buffer-over');
    expect(reasonOf(world.authority.issueKey(device.keyRequestBytes()))).toBe('buffer-not-open');
    expect(world.authority.log.length).toBe(records);
  });
});
