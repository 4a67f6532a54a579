/** The records of a device are read back unchanged, and nothing else is accepted. */
import { deviceRecordCodec } from '@basa/protocol/one-shot';
import { expect, it } from 'vitest';

it('the record of a device is named if it is cut before its kind', () => {
  expect(() => deviceRecordCodec.decode(new Uint8Array(2))).toThrow('no byte names no record');
});
