/** Curves as an event file of TensorBoard: records of TensorFlow (TFRecord), each an `Event` with a summary of scalars. */
import { joinBytes, u32 } from './bytes.ts';
import { crc32c } from './crc.ts';
import { bytesField, doubleField, floatField, intField, textField } from './protobuf.ts';

/** The values measured at one step. */
export interface CurvePoint {
  readonly step: number;
  readonly atMs: number;
  /** By tag; TensorBoard groups a tag with slashes by the part before the first one. */
  readonly values: Readonly<Record<string, number>>;
}

/** For a file whose name holds `tfevents`. The numbers are fields of tensorflow/core/util/event.proto and summary.proto. */
export function encodeTensorboard(points: readonly CurvePoint[]): Uint8Array {
  const startedMs = points[0]?.atMs ?? 0;
  const first = record(doubleField(1, startedMs / 1000), textField(3, 'brain.Event:2'));
  const events = points.map(({ step, atMs, values }) =>
    record(doubleField(1, atMs / 1000), intField(2, step), bytesField(5, ...Object.entries(values).map(scalar))),
  );
  return joinBytes([first, ...events]);
}

function scalar([tag, value]: readonly [string, number]): Uint8Array {
  return bytesField(1, textField(1, tag), floatField(2, value));
}

/** Length, its checksum, the event, its checksum. */
function record(...fields: readonly Uint8Array[]): Uint8Array {
  const event = joinBytes(fields);
  const length = joinBytes([u32(event.length), u32(0)]);
  return joinBytes([length, u32(masked(length)), event, u32(masked(event))]);
}

/** Checksums of data that holds checksums are turned and shifted, so that they do not cancel (tensorflow/core/lib/hash/crc32c.h). */
function masked(bytes: Uint8Array): number {
  const crc = crc32c(bytes);
  return (((crc >>> 15) | (crc << 17)) + 0xa282_ead8) >>> 0;
}
