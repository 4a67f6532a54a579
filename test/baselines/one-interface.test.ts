/** BASA behind the interface of the baselines gives the same sums, and what servers see before the end is uniform. */
import type { AggregationProtocol, AggregationTools } from '@basa/baselines';
import {
  bufferedLightSecAgg,
  LightSecAggUser,
  lightSecAgg,
  MaskCode,
  plainAggregation,
  plainCombinationKernel,
  primeField,
  publishedCode,
  SecAggUser,
  SYNCHRONISATION_READINGS,
  secAgg,
  secAggParameters,
  secAggPlus,
} from '@basa/baselines';
import { nodeEnvironment, seededWords } from '@basa/experiments/simulation';
import { applyMasksInPlace, FIELD, FIELD_PRIME } from '@basa/masking';
import { createWasmCombinationKernel } from '@basa/runtime/node';
import { basaSealed, uniformityOf, unsafeBasaPaper } from '@basa/simulator';
import { describe, expect, it } from 'vitest';
import { wasmTools } from '../support/tools.ts';

function toolsFrom(seed: number): AggregationTools {
  const words = seededWords(seed);
  const randomBytes = (length: number): Uint8Array => {
    const drawn = new Uint32Array(Math.ceil(length / 4));
    words(drawn);
    return new Uint8Array(drawn.buffer, 0, length).slice();
  };
  const combinations = createWasmCombinationKernel() ?? plainCombinationKernel();
  return { masks: wasmTools(), combinations, randomBytes };
}

function inputsOf(users: number, dimension: number): Uint32Array[] {
  return Array.from({ length: users }, (_, user) => {
    const drawn = new Uint32Array(dimension);
    seededWords(user + 1)(drawn);
    return drawn.map((word) => (word % 2 === 0 ? word % 10 ** 6 : FIELD_PRIME - 1 - (word % 10 ** 6)));
  });
}

const USERS = 6;

function everyProtocol(tools: AggregationTools): AggregationProtocol[] {
  return [
    secAgg(tools),
    secAggPlus(tools, { corrupt: 0.05, dropped: 0.05, securityBits: 4, correctnessBits: 2 }),
    lightSecAgg(tools, publishedCode),
    bufferedLightSecAgg(tools, {
      codeFor: publishedCode,
      bufferSize: USERS - 1,
      weightScale: 1,
      weightOf: () => 1,
      inputBound: 10 ** 6,
      reading: SYNCHRONISATION_READINGS.barrier,
    }),
    unsafeBasaPaper(nodeEnvironment),
    basaSealed(nodeEnvironment),
  ];
}

describe('one interface', () => {
  const tools = toolsFrom(5);
  const inputs = inputsOf(USERS, 40);
  const leaver = 2;

  it.each(everyProtocol(tools).map((protocol) => [protocol.name, protocol] as const))(
    '%s gives the plain sum, bit for bit, with a user that leaves before it uploads',
    (_, protocol) => {
      const beforeUpload = protocol.phases.find(({ name }) => name === 'upload' || name === 'masked-input')?.name;
      const leavesBefore = (user: number) => (user === leaver ? beforeUpload : undefined);
      const found = protocol.aggregate({ inputs, leavesBefore });
      const plain = plainAggregation(tools).aggregate({
        inputs,
        leavesBefore: (user) => (user === leaver ? 'upload' : undefined),
      });
      expect(found).toEqual(plain);
    },
  );
});

describe('what the server sees before unmasking', () => {
  const DIMENSION = 1 << 16;
  /** Runs repeat with their seeds: a p-value is the same each time. */
  const QUIET = 1e-5;

  const tools = toolsFrom(9);
  const ids = [0, 1, 2];
  const inputs = ids.map((user) => new Uint32Array(DIMENSION).fill(1 + user));

  function secAggUploads(): Uint32Array[] {
    const ports = { suite: tools.masks.suite, randomBytes: tools.randomBytes };
    const parameters = secAggParameters(3, { session: tools.randomBytes(32), modulus: FIELD });
    const users = ids.map((id) => new SecAggUser(id, parameters, ports));
    const roster = users.map((user) => user.advertise());
    const shares = users.map((user) => user.share(roster));
    return users.map((user, n) => {
      const inbox = shares.flatMap((made, peer) => {
        if (made.kind === 'refused' || peer === n) return [];
        return made.shares.filter((share) => share.peer === n).map(({ sealed }) => ({ peer, sealed }));
      });
      const made = user.mask(inbox);
      if (made.kind === 'refused') throw new Error(made.reason);
      const y = (inputs[n] as Uint32Array).slice();
      applyMasksInPlace(y, made.plan, tools.masks);
      return y;
    });
  }

  function lightSecAggUploads(): Uint32Array[] {
    const code = { users: 3, survivors: 2, privacy: 1 };
    const parameters = { ...code, session: tools.randomBytes(32), dimension: DIMENSION, fewest: 2 };
    const users = ids.map(
      (id) => new LightSecAggUser(id, parameters, new MaskCode(code, primeField(FIELD_PRIME)), tools),
    );
    for (const user of users) user.connect(users.map((peer) => peer.advertise()));
    return users.map((user, n) => {
      user.encodeMask(0);
      const y = (inputs[n] as Uint32Array).slice();
      user.maskInPlace(y, 0);
      return y;
    });
  }

  it.each([
    ['SecAgg', secAggUploads],
    ['LightSecAgg', lightSecAggUploads],
  ])('is uniform in %s, each upload and every two together', (_, uploads) => {
    expect(uniformityOf(uploads(), FIELD)[0]?.pValue).toBeGreaterThan(QUIET);
  });

  it('is not uniform without masks: the tests have teeth', () => {
    expect(uniformityOf(inputs, FIELD)[0]?.pValue).toBeLessThan(1e-12);
  });
});
