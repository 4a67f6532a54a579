/** The server accepts an upload of a device of the task, on a version that still counts, sealed to open epochs. */
import { millis } from '@basa/protocol';
import { type IntakeView, shotProblem } from '@basa/protocol/internal/one-shot/server.ts';
import { type Epoch, ShotHeader, type ShotUpload, shotLayout } from '@basa/protocol/wire';
import type { ShotDevice } from '@basa/simulator';
import { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { describe, expect, it } from 'vitest';

function scene() {
  const world = new ShotWorld();
  const [device] = world.contributed(1) as [ShotDevice];
  const { upload } = world.server.shots[0] as (typeof world.server.shots)[number];
  const signed = (change: object): ShotUpload => {
    const header = { ...upload.header, ...change };
    return { ...upload, header: { ...header, signature: device.own.signer.sign(ShotHeader.statement(header)) } };
  };
  const problem = (sent: ShotUpload, view: Partial<IntakeView> = {}) =>
    shotProblem({ ...world.server.view, ...view }, sent)?.reason;
  return { world, device, upload, signed, problem };
}

const OTHER = new Uint8Array(32).fill(5);

describe('the server', () => {
  it('takes an honest upload, even on the oldest version and in the last millisecond of its epochs', () => {
    const { upload, problem, world } = scene();
    expect(problem(upload)).toBeUndefined();
    expect(problem(upload, { newest: 2 })).toBeUndefined();
    expect(problem(upload, { now: millis(world.now + 3_600_000 - 1) })).toBeUndefined();
  });

  it('refuses uploads of another device or task', () => {
    const { upload, signed, problem, device } = scene();
    const certified = (change: object) => ({ ...upload, certificate: { ...device.own.certificate, ...change } });
    expect(problem(certified({ task: OTHER }))).toBe('certificate-invalid');
    expect(problem(certified({ endorsements: device.own.certificate.endorsements.slice(2) }))).toBe(
      'certificate-invalid',
    );
    expect(problem(signed({ task: OTHER }))).toBe('certificate-invalid');
    expect(problem(signed({ user: OTHER }))).toBe('tag-not-yours');
    expect(problem({ ...upload, header: { ...upload.header, joinTag: OTHER.slice(16) as never } })).toBe(
      'signature-invalid',
    );
  });

  it('refuses a model that it did not sign, or that is over', () => {
    const { upload, signed, problem } = scene();
    expect(problem(signed({ model: OTHER }))).toBe('model-unknown');
    expect(problem(upload, { newest: 3 })).toBe('version-over');
  });

  it('refuses epochs that it never heard of, of another authority, that are over, or too few', () => {
    const { world, upload, signed, problem } = scene();
    const [first, ...rest] = upload.header.epochs as [(typeof upload.header.epochs)[number]];
    expect(problem(signed({ epochs: [{ ...first, statement: OTHER }, ...rest] }))).toBe('epoch-invalid');
    const epoch = (statement: Uint8Array): Epoch | undefined => {
      const found = world.server.view.epoch(statement);
      return found && { ...found, authority: (found.authority + 1) % 4 };
    };
    expect(problem(upload, { epoch })).toBe('epoch-invalid');
    expect(problem(upload, { now: millis(world.now + 3_600_000) })).toBe('epoch-over');
    const fewer = signed({ epochs: rest });
    expect(problem(fewer)).toBe('body-mismatch');
    const { bodyBytes } = shotLayout(world.policy, rest);
    expect(problem({ ...fewer, bodyBytes })).toBeUndefined();
    expect(problem(signed({ epochs: rest.slice(1) }))).toBe('epoch-invalid');
  });
});
