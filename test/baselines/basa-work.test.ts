/** Work that BASA's parties do not do twice. */
import { NOBODY_LISTENS, type Observer } from '@basa/baselines';
import { ascii, equalBytes, toHex, unsafeTransparentIssuer, unsafeTransparentSealing } from '@basa/masking';
import { basaSealed, type Environment, overAttributes } from '@basa/simulator';
import { nodeEnvironment } from '@basa/virtual-time/simulation';
import { expect, it } from 'vitest';

const USERS = 6;
const LEAVERS = [1, 3];
const inputs = Array.from({ length: USERS }, (_, user) => new Uint32Array(8).fill(user + 1));
const gathering = {
  inputs,
  leavesBefore: (user: number) => (LEAVERS.includes(user) ? 'upload' : undefined),
};

it('each seed of an upload is expanded once, and each that the server opens', () => {
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
  expect(basaSealed(environment).aggregate(gathering).kind).toBe('sum');
  const stayed = USERS - LEAVERS.length;
  expect(expansions).toBe(stayed * USERS + stayed * (1 + LEAVERS.length));
});

it('the server opens all seeds under one key in a row, so that it decodes each key once', () => {
  const sealing = unsafeTransparentSealing({ seed: 32, attribute: 32, context: 70 });
  const opened: string[] = [];
  let isClosing = false;
  const { suite } = nodeEnvironment.tools;
  const sealings = overAttributes(suite, 0, {
    issuer: unsafeTransparentIssuer(suite),
    sealing: {
      ...sealing,
      open(sealed, key, context) {
        if (isClosing) opened.push(toHex(key));
        return sealing.open(sealed, key, context);
      },
    },
  });
  const observer: Observer = {
    ...NOBODY_LISTENS,
    compute(party, phase, _user, work) {
      isClosing ||= party === 'server' && phase === 'close';
      return work();
    },
  };
  expect(basaSealed(nodeEnvironment, { sealings }).aggregate(gathering, observer).kind).toBe('sum');
  const keys = opened.filter((key, n) => key !== opened[n - 1]);
  expect(keys.length).toBe(new Set(opened).size);
  expect(opened.length).toBeGreaterThan(keys.length);
});
