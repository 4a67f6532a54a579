/**
 * Bytes that are not a policy: each is a valid one with one field spoilt. Fields are found by their content, never by
 * an offset, so that a layout with another field needs no change here.
 */
import { ascii, concatBytes, ring } from '@basa/masking';
import type { PrivacyBudget, PrivacyPolicy } from '@basa/protocol/internal/wire/privacy.ts';
import type { MetricRange } from '@basa/protocol/internal/wire/training.ts';
import { TaskPolicy } from '@basa/protocol/policy';

import { malformedStatistics, STATISTICS } from './statistics.ts';

type Case = readonly [why: string, policy: Uint8Array];
type Changes = Partial<TaskPolicy>;

/** A double that occurs nowhere else in a policy. */
const MARK = 0.123456789;
const NO_NUMBERS = {
  'no number': Number.NaN,
  infinite: Number.POSITIVE_INFINITY,
  'a negative zero': -0,
  negative: -MARK,
};

export function malformedPolicies(good: TaskPolicy, privacy: PrivacyPolicy): readonly Case[] {
  const written = (changes: Changes = {}): Uint8Array => TaskPolicy.encode({ ...good, ...changes });

  /** The byte in which the two first differ, as each of these. */
  const byte = (what: string, one: Changes, other: Changes, values: readonly number[]): readonly Case[] => {
    const [bytes, others] = [written(one), written(other)];
    const place = bytes.findIndex((value, n) => value !== others[n]);
    return values.map((value) => [`${what} ${value}`, withByte(bytes, place, value)]);
  };
  /** The double that is the mark, as each of these. */
  const double = (what: string, marked: Changes, values: Readonly<Record<string, number>>): readonly Case[] =>
    Object.entries(values).map(([why, value]) => [
      `${what}: ${why}`,
      replaced(written(marked), doubleBytes(MARK), doubleBytes(value)),
    ]);
  /** Bytes behind their length, as other bytes behind theirs. */
  const short = (what: string, marked: Changes, from: Uint8Array, to: Uint8Array): Case => [
    what,
    replaced(written(marked), withLength(from), withLength(to)),
  ];

  const training = (changes: Partial<TaskPolicy['training']>): Changes => ({
    training: { ...good.training, ...changes },
  });
  const noisy = (changes: Partial<PrivacyPolicy>): Changes => ({ privacy: { ...privacy, ...changes } });
  const budget = (changes: Partial<PrivacyBudget>): Changes =>
    noisy({ budget: { ...(privacy.budget as PrivacyBudget), ...changes } });
  const told = (changes: Partial<MetricRange>): Changes => ({
    metrics: [{ name: 'loss', low: 0, high: 1, ...changes }],
  });
  const [first = new Uint8Array(32)] = good.authorities;
  const eight = Array.from({ length: 8 }, (_, n) => new Uint8Array(32).fill(n + 1));
  const beyond = { ...NO_NUMBERS, 'above a million': 1_000_001 };
  const notPositive = { ...NO_NUMBERS, zero: 0 };
  return [
    ['nothing', new Uint8Array()],
    ['a byte short', written().slice(0, -1)],
    ['a byte too long', concatBytes(written(), new Uint8Array(1))],
    ...[4, 5, 7].map((version): Case => [`layouts of version ${version}`, withByte(written(), 0, version)]),
    ['another suite', withByte(written(), 1, 2)],
    ['another kind of message', withByte(written(), 2, 3)],
    short('a name of 65 bytes', {}, good.name, ascii('a'.repeat(65))),
    [
      'nine authorities',
      replaced(
        written({ authorities: eight, threshold: 6 }),
        concatBytes(Uint8Array.of(8, 0), first),
        concatBytes(Uint8Array.of(9, 0), new Uint8Array(32).fill(9), first),
      ),
    ],
    ...byte('a group', { modulus: ring(16) }, { modulus: ring(17) }, [1, 33, 255]),
    ...double('clip', { clip: MARK }, notPositive),
    ...byte('versions', { versions: 'unsafeMixed' }, { versions: 'one' }, [2, 255]),
    ...byte('the flag of the one-shot mode', {}, { oneShot: undefined }, [2, 255]),
    ...byte('staleness', {}, { staleness: { kind: 'polynomial', exponent: 9 } }, [3, 255]),
    [
      'a staleness of three parameters',
      replaced(
        written({ staleness: { kind: 'hinge', slope: MARK, grace: 9 } }),
        concatBytes(Uint8Array.of(2), doubleBytes(MARK)),
        concatBytes(Uint8Array.of(3), doubleBytes(9), doubleBytes(MARK)),
      ),
    ],
    ...double('an exponent', { staleness: { kind: 'polynomial', exponent: MARK } }, beyond),
    ...double('a slope', { staleness: { kind: 'hinge', slope: MARK, grace: 9 } }, beyond),
    ...double('a grace', { staleness: { kind: 'hinge', slope: 0.01, grace: MARK } }, beyond),
    ...['', 'Loss', '1oss', '-oss', 'lo s', 'lo\n', 'loss\n', 'l_ss'].map((name) =>
      short(`a metric of the name ${JSON.stringify(name)}`, told({}), ascii('loss'), ascii(name)),
    ),
    short('a metric of another alphabet', told({}), ascii('loss'), Uint8Array.of(0x6c, 0xc3, 0xb6)),
    short('a metric of 33 letters', told({}), ascii('loss'), ascii('l'.repeat(33))),
    short(
      'two metrics of a name',
      { metrics: ['loss', 'other'].map((name) => ({ name, low: 0, high: 1 })) },
      ascii('other'),
      ascii('loss'),
    ),
    seventeenMetrics(written),
    ...double('a low', told({ low: MARK }), { ...bothSigns(NO_NUMBERS), 'as high': 1, 'above high': 2 }),
    ...double('a high', told({ high: MARK }), { ...bothSigns(NO_NUMBERS), 'as low': 0, 'below low': -1 }),
    ...double('a range', told({ low: -1e308, high: MARK }), { 'too wide for a number': 1e308 }),
    ...byte('the flag of statistics', {}, { statistics: STATISTICS }, [2, 255]),
    ...malformedStatistics((statistics) => written({ statistics }), replaced),
    ...byte('privacy', {}, noisy({}), [2, 255]),
    ...double('noise', noisy({ noiseMultiplier: MARK }), { ...notPositive, 'above a million': 1_000_001 }),
    ...byte('a budget', noisy({ budget: undefined }), noisy({}), [2, 255]),
    ...double('delta', budget({ delta: MARK }), { ...notPositive, one: 1, 'above one': 1.5 }),
    ...byte('participations', budget({ participations: 1 }), budget({ participations: 2 }), [0]),
    ...byte('epochs', training({ epochs: 1 }), training({ epochs: 2 }), [0]),
    ...byte('batch size', training({ batchSize: 1 }), training({ batchSize: 2 }), [0]),
    ...double('learning rate', training({ learningRate: MARK }), notPositive),
    ...byte('loss', training({ loss: 'own' }), training({ loss: 'softmaxCrossEntropy' }), [4, 255]),
  ];
}

/** Without the negative number, which is valid for a field with both signs. */
function bothSigns({ negative: _, ...rest }: typeof NO_NUMBERS): Readonly<Record<string, number>> {
  return rest;
}

function seventeenMetrics(written: (changes: Changes) => Uint8Array): Case {
  const metrics = Array.from({ length: 16 }, (_, n) => ({ name: `m${n}`, low: 0, high: MARK }));
  const [zero, mark] = [doubleBytes(0), doubleBytes(MARK)];
  const entry = (name: string): Uint8Array => concatBytes(withLength(ascii(name)), zero, mark);
  const head = concatBytes(Uint8Array.of(16, 0), entry('m0'));
  const longer = concatBytes(Uint8Array.of(17, 0), entry('another'), entry('m0'));
  return ['seventeen metrics', replaced(written({ metrics }), head, longer)];
}

function doubleBytes(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, value, true);
  return bytes;
}

function withByte(bytes: Uint8Array, place: number, value: number): Uint8Array {
  return bytes.map((old, n) => (n === place ? value : old));
}

function withLength(bytes: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.of(bytes.length, 0), bytes);
}

/** Replaces these bytes, which occur once, with others. */
function replaced(bytes: Uint8Array, from: Uint8Array, to: Uint8Array): Uint8Array {
  const places = [...bytes.keys()].filter((place) => from.every((value, n) => bytes[place + n] === value));
  const [place = 0] = places;
  if (places.length !== 1) throw new Error(`the field to spoil stands there ${places.length} times`);
  return concatBytes(bytes.subarray(0, place), to, bytes.subarray(place + from.length));
}
