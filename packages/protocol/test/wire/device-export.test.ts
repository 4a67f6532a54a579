/** The word of a task's authorities about its devices: for one successor, signed, and believed if one honest authority must be among them. */
import { millis, type TaskId } from '@basa/protocol';
import { DeviceExport, exporterOf, exportersNeeded, importedDevice } from '@basa/protocol/internal/wire/devices.ts';
import { taskIdOf } from '@basa/protocol/policy';
import { signStatement } from '@basa/protocol/wire';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { describe, expect, it } from 'vitest';

const world = new ShotWorld();
const { policy } = world;
const task = taskIdOf(nodeSuite, policy);
const successor = new Uint8Array(32).fill(9) as TaskId;
const devices = [{ deviceKey: new Uint8Array(32).fill(1), isRevoked: false, participations: 3 }];

function exported(change: Partial<DeviceExport> = {}, signer = world.authority(2).base.ports.signer): DeviceExport {
  return signStatement(DeviceExport, signer, { task, successor, at: millis(1), devices, ...change });
}

describe('an export of devices', () => {
  const judged = (told: DeviceExport) => exporterOf(nodeSuite, policy, successor, told);

  it('is of the authority that signed it, for one successor', () => {
    const told = DeviceExport.decode(DeviceExport.encode(exported()));
    expect(judged(told)).toEqual({ kind: 'exporter', authority: 2 });
  });

  it.each([
    ['of another task', exported({ task: successor })],
    ['for another successor', exported({ successor: task })],
    ['of a stranger', exported({}, createNodeSigner(nodeRandomBytes(32)))],
    ['that was changed', { ...exported(), devices: [] }],
  ])('%s is refused', (_, told) => {
    expect(judged(told)).toMatchObject({ reason: 'export-invalid' });
  });
});

describe('a device of the task before', () => {
  const said = (...revoked: readonly boolean[]) =>
    importedDevice(exportersNeeded(policy), { told: revoked.length, revoked: revoked.filter(Boolean).length });

  it('is enrolled or revoked if more authorities say so than may lie, and revoked if both do', () => {
    expect(exportersNeeded(policy)).toBe(2);
    expect([said(), said(false), said(true)]).toEqual(['unknown', 'unknown', 'unknown']);
    expect([said(false, false), said(false, true), said(false, false, true)]).toEqual([
      'enrolled',
      'unknown',
      'enrolled',
    ]);
    expect([said(true, true), said(true, true, false, false)]).toEqual(['revoked', 'revoked']);
  });
});
