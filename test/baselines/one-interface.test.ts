/** BASA behind the interface of the baselines gives the same sums as they do. */
import {
  type AggregationProtocol,
  type AggregationTools,
  bufferedLightSecAgg,
  lightSecAgg,
  plainAggregation,
  publishedCode,
  SYNCHRONISATION_READINGS,
  secAgg,
  secAggPlus,
} from '@basa/baselines';
import { FIELD_PRIME } from '@basa/masking';
import { basaOneShot, unsafeBasaPaper } from '@basa/simulator';
import { nodeEnvironment, seededWords } from '@basa/simulator/node';
import { THREE_OF_FOUR } from '@basa/simulator/virtual-time';
import { seededTools } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';

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
    basaOneShot(nodeEnvironment),
    { ...basaOneShot(nodeEnvironment, THREE_OF_FOUR), name: 'BASA one-shot (3 of 4)' },
  ];
}

describe('one interface', () => {
  const tools = seededTools(5);
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
