/** The records of a device are read back unchanged, and nothing else is accepted. */
import { DecodeError } from '@basa/masking';
import { type DeviceRecord, deviceRecordCodec } from '@basa/protocol';
import { describe, expect, it } from 'vitest';

describe('the record of a device that left a buffer', () => {
  it('has its reason by name', () => {
    const left: DeviceRecord = { kind: 'abandoned', reason: 'inbox-proof' };
    expect(deviceRecordCodec.decode(deviceRecordCodec.encode(left))).toEqual(left);
  });

  it('is named if it is cut before its kind', () => {
    expect(() => deviceRecordCodec.decode(new Uint8Array(2))).toThrow('no byte names no record');
  });

  it('is not read with a reason that is in no table', () => {
    const bytes = deviceRecordCodec.encode({ kind: 'abandoned', reason: 'inbox-proof' });
    bytes[bytes.length - 1] = 'x'.charCodeAt(0);
    expect(() => deviceRecordCodec.decode(bytes)).toThrow(DecodeError);
  });
});
