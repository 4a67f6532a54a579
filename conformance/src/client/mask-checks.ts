/** Nothing that leaves the client tells its update: neither as it was given nor quantised. */
import { packedLength, toHex, unpackVector } from '@basa/masking';
import { HEADER, prefixElements } from '@basa/protocol';
import { updateOf } from '../exact-updates.ts';
import type { Report } from '../report.ts';
import type { ServiceProxy } from '../service-proxy.ts';
import { isStep } from '../steps.ts';
import { ITSELF, type Scene } from './client-trial.ts';

export function noteMasks(scene: Scene, report: Report, mode = ''): void {
  const { level, clip, dimension, modulus } = scene.policy;
  const update = updateOf(ITSELF, scene.policy);
  const quantised = Int32Array.from(update, (value) => Math.max(-clip, Math.min(clip, value)) * level);
  const telling = [update, quantised].map((plain) => toHex(new Uint8Array(plain.buffer, 0, 64)));
  const told = scene.asked.filter(({ body }) => telling.some((hex) => toHex(body).includes(hex)));
  report.note(`${mode}sends no plain update`, told.length === 0, {
    expected: 'no request that holds the update, as floats or quantised',
    seen: told.length === 0 ? `none of ${scene.asked.length}` : told.map(({ path }) => path).join(', '),
  });
  const body = uploadedBody(scene.server);
  const prefix = prefixElements(scene.policy);
  const elements = dimension + prefix;
  const unpacked = unpackVector(body.subarray(0, packedLength(elements, modulus)), elements, modulus);
  const y = unpacked.kind === 'vector' ? unpacked.vector : undefined;
  const bare = quantised.filter((value, k) => y?.[prefix + k] === value >>> 0).length;
  report.note(`${mode}masks every entry`, y !== undefined && bare < 3, {
    expected: 'an upload that agrees with the quantised update nowhere but by chance',
    seen: y === undefined ? `an upload of ${body.length} bytes` : `${bare} of ${dimension} entries as they were`,
  });
}

/** The whole body out of its pieces. */
function uploadedBody({ passed }: ServiceProxy): Uint8Array {
  const body: number[] = [];
  for (const { asked, answer } of passed) {
    if (!(isStep('upload', asked) || isStep('shot', asked)) || answer.status !== 200) continue;
    asked.body.forEach((byte, n) => {
      body[Number(asked.headers[HEADER.uploadOffset]) + n] = byte;
    });
  }
  return Uint8Array.from(body);
}
