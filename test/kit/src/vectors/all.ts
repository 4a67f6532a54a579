/** Every vector file, by the function that makes it. */
import { WIRE_VERSION } from '@basa/protocol/internal/wire/codec.ts';
import { abeVectors } from './abe.ts';
import { baselineVectors } from './baselines.ts';
import { maskingVectors } from './masking.ts';
import { networkVectors } from './networks.ts';
import { policyVectors } from './policies.ts';
import { protocolVectors } from './protocol.ts';

export const VECTOR_FILES: Readonly<Record<string, () => object | Promise<object>>> = {
  'abe.json': () => abeVectors(),
  'baselines.json': baselineVectors,
  'masking.json': maskingVectors,
  'networks.json': networkVectors,
  'policies.json': policyVectors,
  'protocol.json': protocolVectors,
};

/** The text of a vector file, with the version of the layouts: one vector per line, so that a change shows in a diff. */
export function formatVectors(vectors: object): string {
  const sections = Object.entries({ wire: WIRE_VERSION, ...vectors }).map(([name, value]) => {
    const list = Array.isArray(value)
      ? `[\n${value.map((vector) => `    ${JSON.stringify(vector)}`).join(',\n')}\n  ]`
      : JSON.stringify(value);
    return `  ${JSON.stringify(name)}: ${list}`;
  });
  return `{\n${sections.join(',\n')}\n}\n`;
}
