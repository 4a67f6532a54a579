/** A device trains only on a model that the server signed, and seals only to open epochs of enough authorities. */
import { granted } from '@basa/protocol';
import { Epoch, ModelStatement, type ShownModel } from '@basa/protocol/wire';
import { reasonOf } from '@basa/simulator';
import { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { describe, expect, it } from 'vitest';

const HOUR = 3_600_000;

function scene() {
  const world = new ShotWorld();
  const device = world.device();
  const shown = world.shown();
  const received = (change: Partial<ShownModel>) => device.receive({ ...shown, ...change });
  const authoritiesOf = (change: Partial<ShownModel>) =>
    granted(received(change)).epochs.map(({ authority }) => authority);
  return { world, device, shown, received, authoritiesOf };
}

/** Another statement of authority 0. */
function restated(
  world: ShotWorld,
  epoch: Epoch,
  change: Partial<Epoch>,
  signer = world.authority(0).base.ports.signer,
) {
  const body = { ...epoch, ...change };
  return { ...body, signature: signer.sign(Epoch.statement(body)) };
}

describe('a model', () => {
  it('counts if the server of the task signed it for this task', () => {
    const { world, shown, received } = scene();
    expect(granted(received({})).statement).toEqual(shown.statement);
    for (const change of [{ version: 1 }, { serial: 1 }, { modelHash: new Uint8Array(32) }])
      expect(reasonOf(received({ statement: { ...shown.statement, ...change } }))).toBe('model-invalid');
    const signedBy = (signer: typeof world.server.signer, change: object) => {
      const body = { ...shown.statement, ...change };
      return { statement: { ...body, signature: signer.sign(ModelStatement.statement(body)) } };
    };
    expect(reasonOf(received(signedBy(world.authority(0).base.ports.signer, {})))).toBe('model-invalid');
    const task = new Uint8Array(32) as never;
    expect(reasonOf(received(signedBy(world.server.signer, { task })))).toBe('model-invalid');
  });

  it('has a serial that rises with every version, and is at least the time in seconds', () => {
    const { world } = scene();
    const serials = [world.shown().statement.serial, world.nextVersion().serial];
    world.pass(HOUR);
    serials.push(world.nextVersion().serial);
    expect(serials).toEqual([10_000, 10_001, 13_600]);
  });
});

describe('an upload names', () => {
  it('of each authority the epoch that closes last', () => {
    const { world, shown, device } = scene();
    const [first, ...others] = shown.epochs as [Epoch];
    world.pass((3 * HOUR) / 4);
    world.openEpochs();
    const later = world.shown().epochs.filter(({ authority }) => authority === 0);
    expect(later).toHaveLength(2);
    for (const own of [later, [...later].reverse()]) {
      const { epochs } = granted(device.receive({ ...shown, epochs: [...own, ...others] }));
      expect(epochs[0]?.closes).toBe(first.closes + (3 * HOUR) / 4);
    }
  });

  it('no epoch that has closed, or closes in more than two epochs, by the clock of the device', () => {
    const { world, shown, device, authoritiesOf } = scene();
    const [first, ...others] = shown.epochs as [Epoch];
    const closing = (ms: number) => restated(world, first, { opens: (ms - HOUR) as never, closes: ms as never });
    const at = (ms: number) => authoritiesOf({ epochs: [closing(world.now + ms), ...others] });
    expect([at(1), at(2 * HOUR)]).toEqual([
      [0, 1, 2, 3],
      [0, 1, 2, 3],
    ]);
    expect([at(0), at(2 * HOUR + 1)]).toEqual([
      [1, 2, 3],
      [1, 2, 3],
    ]);
    device.clockMs = 2 * HOUR;
    expect(reasonOf(device.receive(shown))).toBe('epochs-missing');
    device.clockMs = -2 * HOUR;
    expect(reasonOf(device.receive(shown))).toBe('epochs-missing');
  });

  it('no epoch that its authority did not sign, or of another task', () => {
    const { world, shown, authoritiesOf } = scene();
    const [first, ...others] = shown.epochs as [Epoch];
    const task = new Uint8Array(32) as never;
    for (const wrong of [restated(world, first, {}, world.signer()), restated(world, first, { task })])
      expect(authoritiesOf({ epochs: [wrong, ...others] })).toEqual([1, 2, 3]);
  });

  it('at least as many authorities as are needed', () => {
    const { shown, received, authoritiesOf } = scene();
    expect(authoritiesOf({ epochs: shown.epochs.slice(1) })).toEqual([1, 2, 3]);
    expect(reasonOf(received({ epochs: shown.epochs.slice(2) }))).toBe('epochs-missing');
    expect(reasonOf(received({ epochs: [] }))).toBe('epochs-missing');
  });
});
