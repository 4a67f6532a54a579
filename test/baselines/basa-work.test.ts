/** Work that BASA's parties do not do twice. */
import { ascii, equalBytes } from '@basa/masking';
import { basaOneShot, type Environment } from '@basa/simulator';
import { nodeEnvironment } from '@basa/simulator/node';
import { expect, it } from 'vitest';

const USERS = 6;
const LEAVERS = [1, 3];
const inputs = Array.from({ length: USERS }, (_, user) => new Uint32Array(8).fill(user + 1));
const gathering = {
  inputs,
  leavesBefore: (user: number) => (LEAVERS.includes(user) ? 'upload' : undefined),
};

it('each mask is expanded by its device and by the authority, whoever leaves', () => {
  const { tools } = nodeEnvironment;
  let expansions = 0;
  const environment: Environment = {
    ...nodeEnvironment,
    tools: {
      ...tools,
      suite: {
        ...tools.suite,
        hkdf(input) {
          if (equalBytes(input.info, ascii('mask'))) expansions++;
          return tools.suite.hkdf(input);
        },
      },
    },
  };
  // Guard words are a few words of a mask, and not counted.
  expect(basaOneShot(environment, { guardTools: tools }).aggregate(gathering).kind).toBe('sum');
  expect(expansions).toBe(2 * (USERS - LEAVERS.length));
});
